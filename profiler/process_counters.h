#ifndef PROFILER_PROCESS_COUNTERS_H
#define PROFILER_PROCESS_COUNTERS_H

/** Counts of a foreign process and of what it creates, read while it runs. Its work is not
 *  repeated, so only as many events are opened as the core has counters: the metrics in order of
 *  their worth for a roofline, the others absent (not_scheduled). Metrics of the whole system are
 *  counted beside them; what the system counted before the process began is their background. */

#include "profiler/counters.h"
#include "profiler/metric.h"
#include "profiler/results.h"

struct process_counters;

struct process_counter_options {
    const struct machine *machine;
    unsigned cpu;                    /**< where the events are tried and proved */
    enum counter_policy policy;      /**< AUTO, OFF or REQUIRE */
    const struct event_table *table; /**< from --events; NULL: the machine's */
    const int *tasks; /**< threads to count with all they create; one that is gone is skipped */
    size_t task_count;
    bool on_exec;   /**< counting begins when they execute a program */
    bool list_only; /**< the events of threads are listed for the program itself, not opened */
};

/** Tries and proves the events, then opens them on the tasks. A machine without counters is no
 *  error: every metric is absent and knows why. Errors: UNAVAILABLE for REQUIRE where nothing can
 *  be counted; SYSTEM. The caller closes it. */
CHECKED struct status process_counters_open(struct process_counters **out,
                                            const struct process_counter_options *options);

/** NULL is accepted. */
void process_counters_close(struct process_counters *counters);

/** Counts for seconds what the system does by itself: before the process begins. Nothing where
 *  no system metric is counted. */
void process_counters_idle(struct process_counters *counters, double seconds);

/** counts[metric] = what was counted since the opening, in the metric's unit, background
 *  included; NaN for a metric that is not counted. */
void process_counters_read(double counts[METRIC_COUNT], struct process_counters *counters);

/** The metric over `seconds` of which `counted` was counted: background taken off traffic, stated
 *  for energy. Absent metrics know why. */
void process_counters_report(struct result_counter *out, const struct process_counters *counters,
                             enum metric metric, double counted, double seconds);

/** The events of threads in use, or listed; borrowed. */
const struct counter_event *process_counters_list(size_t *count,
                                                  const struct process_counters *counters);

#endif
