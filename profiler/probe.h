#ifndef PROFILER_PROBE_H
#define PROFILER_PROBE_H

/** Measures what a machine can do: the whole of `lmroof probe` less its command line and output.
 *  Fills a result_run's machine and warnings. */

#include "machines/machine.h"
#include "profiler/results.h"
#include "profiler/working_set.h"
#include "roofline/status.h"
#include "workloads/blas.h"
#include "workloads/isa.h"

#include <signal.h>

enum { PROBE_LIST_MAX = 32 };

struct probe_options {
    bool quick;                       /**< <= 10 s: fewer kernels, all threads only */
    bool sweep;                       /**< measure sizes from 4 KiB up and find the levels */
    unsigned threads[PROBE_LIST_MAX]; /**< thread counts; none: all, and unless quick also one */
    size_t thread_count;
    bool levels[LEVEL_COUNT];
    char dtypes[PROBE_LIST_MAX][16]; /**< of compute; none: all that this CPU has */
    size_t dtype_count;
    double
        budget_seconds; /**< what is not done by then is left out, with a warning that says what */
    double begin_seconds;    /**< of clock_seconds(), that the budget counts from; 0: the call */
    const char *budget_name; /**< for that warning; NULL: the seconds */
    const char *budget_try;  /**< what helps; NULL: nothing */
};

/** One size of a sweep. */
struct probe_size {
    uint64_t bytes; /**< in total over the threads */
    double bytes_per_s;
};

enum { PROBE_SIZES_MAX = 128, PROBE_VARIANTS_MAX = 48, PROBE_PLATEAUS_MAX = 8 };

/** A candidate of the DRAM load ceiling. */
struct probe_variant {
    const char *name; /**< static */
    double bytes_per_s;
};

/** What a machine document has beside the shared results. */
struct probe_extras {
    struct probe_size sizes[PROBE_SIZES_MAX];
    size_t size_count;
    struct probe_size plateaus[PROBE_PLATEAUS_MAX]; /**< of the sweep: where each ends, its rate */
    size_t plateau_count;
    struct probe_variant variants[PROBE_VARIANTS_MAX]; /**< the printed set of `load` */
    size_t variant_count;
    uint64_t arena_bytes; /**< memory that was mapped and touched */
};

struct probe_host {
    const struct machine *machine;
    struct isa_set isa;
    struct blas *blas; /**< NULL: no GEMM roof */
    const volatile sig_atomic_t *signal;
    void (*progress)(void *context, const char *what); /**< may be NULL */
    void *progress_context;
};

/** Measures. What this machine cannot give, or not in time, is a warning; *out is whole and valid
 * whatever is returned, and the caller frees it with result_run_free(). Errors: INVALID for a
 * thread count above the usable cpus; UNAVAILABLE if nothing could be measured; INTERRUPTED;
 * SYSTEM; MISMATCH if a kernel computes wrongly. */
CHECKED struct status probe_measure(struct result_run *out, struct probe_extras *extras,
                                    const struct probe_options *options,
                                    const struct probe_host *host);

/** Bytes of memory that a probe with these options maps, and the check that they are available:
 *  at most 80 % of what the machine says is left. *dram is false, with a warning in run, if only
 *  the inner levels fit. Pure. Errors: UNAVAILABLE if not even they fit. */
CHECKED struct status probe_plan_memory(uint64_t *bytes, bool *dram, struct result_run *run,
                                        const struct machine *machine,
                                        const struct probe_options *options);

/** Plateaus of a bandwidth curve over ascending sizes: runs of at least three points within 15 %
 *  of their median, each at least 20 % below the one before. Writes where each ends and its
 *  median rate; returns how many, at most max. Pure. */
size_t probe_plateaus(struct probe_size *out, size_t max, const struct probe_size *sizes,
                      size_t count);

/** Puts the levels that a sweep found in the place of the caches that machine tells: all plateaus
 *  but the last, which is memory; at most three. The outermost is one cache for all, those inside
 *  belong to one thread each. False, and machine as it was, if there are fewer than two plateaus.
 *  Pure. */
bool probe_adopt_levels(struct machine *machine, const struct probe_size *plateaus, size_t count,
                        unsigned threads);

/** Thread count where the curve stops growing: the smallest with at least 95 % of the most, NaN
 *  if that is the last point (no knee was reached) or there are fewer than two. threads ascend.
 *  Pure. */
double probe_knee(const unsigned *threads, const double *bytes_per_s, size_t count);

#endif
