#ifndef PROFILER_WATCH_H
#define PROFILER_WATCH_H

/** Looking at a process tree at even intervals until its first process ends: the time series that
 *  everything about a foreign program is computed from. */

#include "profiler/command.h"
#include "profiler/launch.h"
#include "profiler/process_counters.h"
#include "profiler/process_tree.h"

#include <stdbool.h>
#include <stddef.h>

enum { WATCH_SAMPLES_MAX = 4096 };

/** Where everything stood at one moment; times and counts grow from the beginning. */
struct watch_sample {
    double seconds; /**< since the watch began */
    struct tree_totals totals;
    double counts[METRIC_COUNT]; /**< NaN: not counted */
};

struct watch_options {
    struct process_tree *tree;
    struct process_counters *counters;
    double interval_seconds;
    double seconds_max;    /**< 0: until it ends */
    struct launch *launch; /**< a command to release and to wait for; NULL: a process of others */
    int pid;               /**< of the first process */
};

/** What was seen. samples[0] is the beginning; owned. */
struct watch {
    struct watch_sample *samples;
    size_t count;
    double interval_seconds; /**< as asked for, doubled whenever the list was full */
    uint64_t rss_peak_bytes; /**< of the tree, at a sample */
    size_t processes_seen;
    unsigned left_running;  /**< of the tree after its first process has ended */
    int exec_error;         /**< errno: the command could not be executed; 0 */
    bool ended;             /**< the first process has ended */
    int wait_status;        /**< of a command, as waitpid(2) gives it */
    int signal;             /**< that ended the watch of a foreign process; 0 */
    double own_cpu_seconds; /**< that watching took */
};

/** Watches. Signals for a command (hang-up, interrupt, quit, terminate, user) that were sent to
 *  this process alone are passed on; from the terminal the command has them already. A foreign
 *  process is watched until it ends, time is up, or such a signal comes. Errors: SYSTEM; what was
 *  seen until then stays in out. The caller frees it with watch_free(). */
CHECKED struct status watch_run(struct watch *out, const struct watch_options *options);

void watch_free(struct watch *watch);

#endif
