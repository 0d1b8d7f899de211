#ifndef PROFILER_PROBE_CHECK_H
#define PROFILER_PROBE_CHECK_H

/** Two profiles of one machine against each other, ceiling by ceiling. Pure. */

#include "profiler/results.h"

/** One ceiling that both profiles have. */
struct probe_drift {
    char name[128]; /**< for example "DRAM load, 2 threads" */
    double old_per_s;
    double new_per_s;
    double ratio; /**< new / old */
    bool drifted; /**< 95 % intervals apart and more than DRIFT_FRACTION between the medians */
};

enum { PROBE_DRIFTS_MAX = 256 };
#define DRIFT_FRACTION 0.05

/** Compares what both have (same level, kernel and threads; same dtype, kind, class and threads;
 *  latency by level and pages, as dependent loads per second);
 *  returns the number written to out, at most max. *drifted counts those that did. */
size_t probe_compare(struct probe_drift *out, size_t max, size_t *drifted,
                     const struct result_machine *before, const struct result_machine *after);

#endif
