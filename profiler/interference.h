#ifndef PROFILER_INTERFERENCE_H
#define PROFILER_INTERFERENCE_H

/** Named external signs that something else disturbed an interval: CPU time stolen by the
 *  hypervisor, CFS throttling, involuntary context switches, foreign load. Cheap enough to call
 *  around samples of a few milliseconds (files stay open; see interference_cost_seconds()).
 *
 *      interference_mark(&before, meter);  ... sample ...  interference_mark(&after, meter);
 *      interference_between(&signs, meter, &before, &after);
 *      signs.involuntary_switches = <sum over the threads of the two thread counts' difference>;
 *      if (interference_disturbed(&signs)) { interference_describe(text, sizeof text, &signs); }
 *
 *  An unknown sign is NaN, never 0. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interference; /**< opaque: open files and a buffer; used by one thread at a time */

/** State of the cumulative counts at one instant. */
struct interference_mark {
    double clock_seconds; /**< CLOCK_MONOTONIC */
    bool steal_known;
    uint64_t steal_ticks; /**< summed over the cpus */
    bool throttled_known;
    uint64_t throttled_count; /**< cgroup nr_throttled summed over the groups with a quota */
    double load_average;      /**< one minute; NaN unknown */
    double runnable; /**< runnable threads in the system now, the caller too; NaN unknown */
};

/** What happened between two marks. */
struct interference_signs {
    double elapsed_seconds;
    /** Summed over the cpus, in the kernel's steps of one tick (10 ms): a step may stand for
     *  time just before the interval. NaN if not readable or outside
     *  [0, cpus x (elapsed + one tick)]. */
    double steal_seconds;
    double throttled_count;      /**< periods in which a quota stopped us; NaN: no quota seen */
    double involuntary_switches; /**< NaN until the caller stores what its threads saw */
    /** Of the interval, that the threads had a CPU (the least of them): tells a switch to a kernel
     *  thread of microseconds from one that cost time. 0 until the caller stores it. */
    double on_cpu_fraction;
    double load_average; /**< at the end */
    double runnable;     /**< at the end */
};

/** Opens the files for these os cpu indices (copied). root is "" on the running system (tests
 *  replay saved roots). What cannot be opened makes its signs unknown and is no error.
 *  Errors: INVALID without cpus, SYSTEM without memory. interference_close() releases. */
CHECKED struct status interference_open(struct interference **out, const char *root,
                                        const unsigned *cpus, size_t cpu_count);

/** Closes; accepts NULL. */
void interference_close(struct interference *meter);

/** Reads all counts now. Uses the meter's buffer: one thread at a time. */
void interference_mark(struct interference_mark *out, struct interference *meter);

/** The signs between two marks of the same meter. */
void interference_between(struct interference_signs *out, const struct interference *meter,
                          const struct interference_mark *before,
                          const struct interference_mark *after);

/** Adds the signs of a later interval: an unknown part leaves the sum of the known ones; load and
 *  runnable are the later ones. */
void interference_add(struct interference_signs *sum, const struct interference_signs *part);

/** Involuntary context switches of the calling thread since it began (getrusage RUSAGE_THREAD):
 *  each worker reads it before and after and stores the difference. */
uint64_t interference_thread_switches(void);

/** Seconds that the calling thread ran (CLOCK_THREAD_CPUTIME_ID); NaN if unknown. */
double interference_thread_cpu_seconds(void);

/** The same of all threads of this process, summed. */
double interference_process_cpu_seconds(void);

/** The same of all threads of this process, for work that brings its own threads. */
uint64_t interference_process_switches(void);

/** True if a known sign says that the interval was disturbed: any steal, any throttling, or an
 *  involuntary switch unless it cost less than a hundredth of the interval. The load average
 * includes ourselves and is no sign by itself. */
bool interference_disturbed(const struct interference_signs *signs);

/** The known signs in words, e.g. "steal 10.0 ms, 3 involuntary switches"; "" if none. Cut to
 *  size. Returns out. */
char *interference_describe(char *out, size_t size, const struct interference_signs *signs);

/** Median seconds that one interference_mark() takes, of nine calls now. */
double interference_cost_seconds(struct interference *meter);

#endif
