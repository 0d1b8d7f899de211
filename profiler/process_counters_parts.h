#ifndef PROFILER_PROCESS_COUNTERS_PARTS_H
#define PROFILER_PROCESS_COUNTERS_PARTS_H

/** The inside of process_counters.h, shared by process_counters.c and process_energy.c. Nobody
 *  else includes it. */

#include "profiler/energy.h"
#include "profiler/process_counters.h"

/** Events of one task, or of the system, and where they stood when they were last read. */
struct group {
    void *handle;
    const struct counter_event *events;
    size_t count;
    struct counter_values last;
};

struct metric_state {
    struct result_counter answer; // what can be said without a count: absence, events, source
    bool counted;
    bool by_powercap;
    enum counter_fault fault; // worst of opening and reading
    double total;
    double background_per_s; // NaN: not a system metric, or not measured
    double enabled_ns;
    double running_ns;
};

struct process_counters {
    struct counter_event task_events[COUNTER_EVENTS_MAX];
    size_t task_event_count;
    unsigned general; // counters that task_events need
    struct counter_event *system_events;
    size_t system_event_count;
    struct group *groups;
    size_t group_count;
    struct energy_meter *energy; // for metrics that perf does not offer; NULL: not asked for
    struct metric_state metrics[METRIC_COUNT];
};

/** Takes energy from the powercap files where perf does not offer it. */
CHECKED struct status process_energy_open(struct process_counters *counters,
                                          enum counter_policy policy);

/** Brings the totals of such metrics up to date. */
void process_energy_read(struct process_counters *counters);

/** True if there is one. */
bool process_energy_counts(const struct process_counters *counters);

#endif
