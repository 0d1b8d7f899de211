#ifndef PROFILER_COUNTER_SOURCE_H
#define PROFILER_COUNTER_SOURCE_H

/** The small interface behind which counters are read: PAPI, the kernel directly, a recorded
 *  file, nothing. A source has no state of its own beyond what open_source() returns; groups
 *  belong to the thread that opened them. All functions return the fault of
 *  counter_fault_of_errno() kind; no function prints. */

#include "profiler/counter_fault.h"
#include "profiler/event_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTER_NAME = 160, COUNTER_EVENTS_MAX = 64, COUNTER_DETAIL = 128 };

/** An event made concrete for this machine: what a source opens. */
struct counter_event {
    const struct event_row *row;
    char name[COUNTER_NAME];  /**< libpfm4's, with PMU and, for a system event, :cpu=N; "" none */
    char label[COUNTER_NAME]; /**< for people: the name, or PMU/terms/ of sysfs */
    uint32_t type;            /**< of perf_event_open(2); EVENT_TYPE_NONE: only by name */
    uint64_t config;
    uint64_t config1;
    double weight;       /**< units of the row's metric per count, all scales applied */
    unsigned width_bits; /**< after which the count wraps; 0: the kernel extends it */
    int cpu;             /**< -1: the thread that opens it; else everything on this CPU's box */
    int task;            /**< > 0: instead, that thread and what it creates; perf source alone */
    bool on_exec;        /**< of a task: counting begins when it executes a program */
};

/** Counts of a group. Values grow from the opening of the group, or from the last start where the
 *  source says so. */
struct counter_values {
    uint64_t value[COUNTER_EVENTS_MAX];
    uint64_t enabled_ns[COUNTER_EVENTS_MAX]; /**< 0 with running_ns 0: the source cannot tell */
    uint64_t running_ns[COUNTER_EVENTS_MAX];
};

struct counter_source {
    const char *name;       /**< papi, perf, replay, null */
    bool counts_from_start; /**< values restart at 0 with every start() */
    /** Prepares the source for the process. configuration is the path of a replay; NULL else.
     *  detail (COUNTER_DETAIL bytes) says why it failed. */
    enum counter_fault (*open_source)(void **out, const char *configuration, char *detail);
    void (*close_source)(void *source);
    /** Opens count events as one set of the calling thread (cpu -1), or count system events, or
     *  count events of one task, each of its own; these two may be read while they count.
     *  *refused is the index of the event that failed. Nothing counts before start(). */
    enum counter_fault (*open)(void **out, void *source, const struct counter_event *events,
                               size_t count, size_t *refused, char *detail);
    enum counter_fault (*start)(void *group);
    enum counter_fault (*stop)(void *group);
    /** Reads what was counted; not while the group runs. */
    enum counter_fault (*read)(struct counter_values *out, void *group);
    void (*close)(void *group);
};

/** The sources. `papi` and `null` may be NULL only in a build without them (never here). */
extern const struct counter_source counter_source_papi;
extern const struct counter_source counter_source_perf;
extern const struct counter_source counter_source_replay;
extern const struct counter_source counter_source_null;

#endif
