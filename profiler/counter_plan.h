#ifndef PROFILER_COUNTER_PLAN_H
#define PROFILER_COUNTER_PLAN_H

/** Which events count which metric here, found by opening them, and how they are packed into sets
 *  that fit the counters. One set of a thread's events and one of system events are counted in
 *  one run of the work. */

#include "profiler/counter_source.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>

/** A source that could be opened, or why not. */
struct counter_opened {
    const struct counter_source *source;
    void *state;
    enum counter_fault fault;
    char detail[COUNTER_DETAIL];
};

enum { COUNTER_SOURCES_MAX = 2 };

/** Events that are counted at once, by one source. */
struct counter_set {
    const struct counter_opened *opened;
    bool guarded; /**< events[0] is the guard: instructions */
    size_t count;
    struct counter_event events[COUNTER_EVENTS_MAX];
};

struct metric_plan {
    enum counter_fault fault;  /**< FAULT_NONE: its events are in the sets */
    char what[COUNTER_DETAIL]; /**< of a fault: the event and what was said */
    unsigned rank;
    const struct counter_source *source;
    enum metric_scope scope;
};

struct counter_plan {
    struct counter_set *thread_sets;
    size_t thread_count;
    struct counter_set *system_sets;
    size_t system_count;
    struct metric_plan metrics[METRIC_COUNT];
};

struct counter_plan_options {
    const struct event_table *table;
    struct counter_opened *sources; /**< in order of preference */
    size_t source_count;
    const char *root;                 /**< for sysfs */
    uint32_t metrics;                 /**< asked for */
    uint32_t sve_bytes;               /**< length of a vector; 0: no SVE */
    const enum counter_fault *banned; /**< one for each row: what its certificate found */
};

/** Opens events in the calling thread to find out; closes them all again. Errors: SYSTEM if there
 *  is no memory. */
CHECKED struct status counter_plan_make(struct counter_plan *out,
                                        const struct counter_plan_options *options);

void counter_plan_free(struct counter_plan *plan);

#endif
