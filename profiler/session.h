#ifndef PROFILER_SESSION_H
#define PROFILER_SESSION_H

/** What every measuring command sets up once: the machine as this process may use it, bound
 *  threads, memory, and the roofs of the same threads and the same minutes. */

#include "machines/machine.h"
#include "profiler/ceiling.h"
#include "profiler/team.h"
#include "workloads/arena.h"
#include "workloads/blas.h"

/** Where the measured data lies. */
enum session_numa {
    SESSION_LOCAL,      /**< each thread's share on its node, by first touch */
    SESSION_INTERLEAVE, /**< page by page over the nodes of the usable cpus */
    SESSION_REPLICATE   /**< all of it on each node that has threads, which read their node's */
};

struct session_options {
    unsigned threads; /**< 0: one per usable core, within the quota */
    bool smt;         /**< the default uses SMT siblings too */
    bool huge_pages;
    enum session_numa numa;
    struct limit limit; /**< session_start() and the ceilings give up */
    /** Of clock_seconds(): later session_start() leaves out what only evidence needs, read_growth
     *  and other_mix; 0: never. */
    double evidence_until_seconds;
};

struct session {
    struct session_options options;
    struct machine machine;
    struct isa_set isa;
    struct ceiling_kernels kernels;
    struct blas *blas;     /**< NULL if there is no library */
    char blas_absent[192]; /**< why; "" if there is one */
    unsigned *cpus;        /**< OS indices, thread by thread */
    unsigned threads;
    unsigned *copy_of; /**< by thread: index into the nodes of session_nodes() */
    struct team *team;
    struct arena arena;
    struct ceilings *ceilings;
    struct ceiling read_dram; /**< chosen at start: best read of the printed set */
    double read_growth;       /**< reads of all threads over half of them; NaN unknown */
    double other_mix;         /**< best non-temporal store or copy over the read; NaN unknown */
    char other_mix_name[16];
    bool hurried; /**< these two were left out for want of time */
};

/** Detects the machine, checks the thread count, loads kernels and BLAS; allocates nothing large.
 *  Errors: INVALID if threads is above the usable cpus; those of detection. The caller closes. */
CHECKED struct status session_open(struct session *out, const struct session_options *options);

/** Starts the team, maps and touches arena_bytes (at least what the DRAM ceiling needs) and
 *  measures whether these threads saturate the memory. Errors: UNAVAILABLE if the memory is not
 *  there, with the numbers, or the time is up; INTERRUPTED. */
CHECKED struct status session_start(struct session *session, uint64_t arena_bytes);

/** Bytes that make a rotation come from memory: 4 x the last-level caches in reach. */
uint64_t session_dram_bytes(const struct session *session);

/** True if some core runs two of the threads. */
bool session_shares_cores(const struct session *session);

/** Releases everything; a zeroed session is accepted. */
void session_close(struct session *session);

#endif
