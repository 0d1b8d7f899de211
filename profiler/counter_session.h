#ifndef PROFILER_COUNTER_SESSION_H
#define PROFILER_COUNTER_SESSION_H

/** The inside of a session, shared by counters.c (opening, answering), counter_measure.c
 *  (counting) and counter_guard.c. Nobody else includes it. */

#include "profiler/counter_advice.h"
#include "profiler/counter_plan.h"
#include "profiler/counters.h"
#include "profiler/energy.h"

/** A set as one thread holds it. */
struct session_group {
    void *group;              /**< NULL if fault */
    enum counter_fault fault; /**< of opening */
};

/** What a thread writes while it works; one each, apart in memory. */
struct session_thread {
    _Alignas(128) enum counter_fault fault;
    int first_cpu; /**< where the work began; -1 unknown */
    int last_cpu;
    struct counter_values before;
    struct counter_values after;
};

/** A metric while it is measured, and its samples. */
struct session_metric {
    double total;             /**< of the measurement in progress, per call, metric's unit */
    double background;        /**< subtracted from it, or (energy) contained in it */
    enum counter_fault fault; /**< worst so far since the last reset */
    double running_fraction;  /**< least; NaN if no source told */
    size_t n;
    double samples[READING_SAMPLES_MAX];
    double background_fraction; /**< of the last sample */
};

/** A domain of powercap. */
struct session_energy {
    bool by_powercap;      /**< no source offers it */
    struct reading opened; /**< what powercap answered at first */
    double idle_joules;    /**< in idle_seconds */
};

struct counter_session {
    const struct machine *machine;
    struct team *team;
    unsigned threads;
    struct counter_options options;
    const struct event_table *table;
    struct counter_surroundings surroundings;
    struct counter_opened sources[COUNTER_SOURCES_MAX];
    size_t source_count;
    struct counter_plan plan;
    enum counter_fault *banned; /**< one for each row of the table */
    struct certificate certificate;
    struct session_group *groups;        /**< [set][thread] */
    struct session_group *system_groups; /**< [set] */
    enum counter_fault *set_faults;      /**< [set]: guards that differ */
    struct session_thread *scratch;      /**< [thread] */
    size_t set;                          /**< in work */
    bool counting;                       /**< the threads' set of this pass exists */
    double calls;                        /**< that the pass's work made */
    struct session_metric metrics[METRIC_COUNT];
    struct energy_meter *meter; /**< powercap's; NULL: not asked */
    struct session_energy energy[ENERGY_DOMAINS];
    double idle_seconds; /**< of the last idle moment; 0: none since the last reset */
};

/** The threads' set in work. Borrowed. */
const struct counter_set *counter_session_set(const struct counter_session *session);

/** Of a thread, context being the session, outside of every clock: before the work, where its
 *  counters stand; after it, what they show. A fault is kept in the thread's scratch. */
void counter_session_arm(void *context, unsigned thread, unsigned threads);
void counter_session_collect(void *context, unsigned thread, unsigned threads);

/** Of a thread that is armed: counting begins, ends. */
void counter_session_start(void *context, unsigned thread);
void counter_session_stop(void *context, unsigned thread);

/** Runs the work once with the current set, or uncounted: the session's calls are set. */
void counter_session_run(struct counter_session *session, const struct counter_work *work);

/** Runs a loop of known length under every set in every thread and compares the guards. */
void counter_session_check_guards(struct counter_session *session);

#endif
