#ifndef PROFILER_LATENCY_H
#define PROFILER_LATENCY_H

/** Latency of one dependent load, alone and while other threads load the memory. The first thread
 *  of the team follows the pointers; the arena is overwritten where the path lies (the first
 *  thread's share). */

#include "profiler/limit.h"
#include "profiler/team.h"
#include "roofline/reading.h"
#include "workloads/arena.h"
#include "workloads/ceiling_kernel.h"

struct latency_place {
    struct team *team;
    const struct arena *arena;           /**< written before; shared out evenly over the threads */
    const struct stream_kernel *sweeper; /**< a load kernel: evicts the path, loads the memory */
    uint64_t working_set_bytes;          /**< that the path is scattered over: at most the arena or,
                                              loaded, the first thread's share */
    bool memory; /**< DRAM: the path is evicted by a sweep over the arena before each sample */
    struct limit
        limit; /**< fewer samples once it is reached; without any the readings are absent */
};

/** Seconds of one dependent load: n samples (at most READING_SAMPLES_MAX), each the shortest of
 *  four windows of half a millisecond or more, undisturbed ones where there are enough. *disturbed
 * (may be NULL) counts those in *out that were not. */
void latency_read(struct reading *out, unsigned *disturbed, const struct latency_place *place,
                  unsigned n);

/** A path laid once through memory of its own and followed again and again, so that its windows can
 *  take turns with others. */
struct latency_chase;

/** Lays a path through the bytes at base (64-byte aligned, written by nobody else while the chase
 *  lives). Keeps the team. Errors: SYSTEM. The caller destroys it. */
CHECKED struct status latency_chase_create(struct latency_chase **out, struct team *team,
                                           unsigned char *base, size_t bytes);

/** One window of half a millisecond or more, after a turn that brings the path back into its
 *  cache: seconds of one dependent load. */
double latency_chase_sample(struct team_sample *timing, struct latency_chase *chase);

/** NULL is accepted. */
void latency_chase_destroy(struct latency_chase *chase);

/** As latency_read() while `loaders` other threads (1 .. threads - 1) read their shares, resting
 * between blocks for pause turns of an empty loop (0: at full speed). bytes_per_s is what they
 * read; samples in which they did not get to run are left out. */
void latency_read_loaded(struct reading *seconds, struct reading *bytes_per_s,
                         const struct latency_place *place, unsigned loaders, unsigned pause,
                         unsigned n);

#endif
