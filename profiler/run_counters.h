#ifndef PROFILER_RUN_COUNTERS_H
#define PROFILER_RUN_COUNTERS_H

/** Counting a run's points: the counters of its threads, opened once, and what they say about each
 *  operator beside the model's figures. */

#include "profiler/counters.h"
#include "profiler/events_json.h"
#include "profiler/results.h"
#include "profiler/rotation.h"
#include "profiler/run_request.h"
#include "profiler/session.h"

struct run_counters {
    struct counter_session *session;
    struct event_file *events; /**< of --events; NULL */
};

/** Opens the counters of the session's team as the request says, and writes their certificate and
 *  what to know about them into run. Errors: INVALID for a bad event file; UNAVAILABLE for
 *  --counters require where nothing counts. The caller closes in either case. */
CHECKED struct status run_counters_open(struct run_counters *out, struct result_run *run,
                                        const struct session *session,
                                        const struct run_request *request);

/** A zeroed one is accepted. */
void run_counters_close(struct run_counters *counters);

/** Counts the rotation's work, samples times for each set of events, into out->counters and the
 *  fields of what was counted; once only if the limit is reached. class_ is the kernel's
 *  instruction class, "" for a library. */
void run_counters_measure(struct result_point *out, struct run_counters *counters,
                          struct rotation *rotation, const char *class_, unsigned samples,
                          const struct limit *limit);

/** Joules per token of a whole step, from samples runs of work where energy is counted; NaN where
 *  it is not, or where not all layers were run. */
void run_counters_step(struct result_step *out, struct run_counters *counters,
                       const struct counter_work *work, unsigned samples);

/** After the point's times and roofs are known: rates, intensity and roof fraction by counts. */
void run_counters_place(struct result_point *out, const struct run_counters *counters);

/** Counted over modelled bytes, and memory-stalled cycles over cycles, where the counts ran long
 *  enough to be evidence; NaN else. */
void run_counters_evidence(double *byte_ratio, double *stall_fraction,
                           const struct result_point *point);

/** Whether the traffic between caches was counted for some point. */
bool run_counters_levels(const struct result_run *run);

#endif
