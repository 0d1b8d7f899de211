#ifndef PROFILER_COUNTERS_H
#define PROFILER_COUNTERS_H

/** Counts of the metrics for measured work. A session tries what can be opened here, packs it into
 *  sets that fit the counters, proves the events on known work, and then repeats a deterministic
 *  body once per set: nothing is multiplexed. Every absent metric knows why. */

#include "machines/machine.h"
#include "profiler/certificate.h"
#include "profiler/counter_advice.h"
#include "profiler/counter_source.h"
#include "profiler/event_table.h"
#include "profiler/results.h"
#include "profiler/team.h"

#include <stddef.h>
#include <stdint.h>

/** --counters */
enum counter_policy {
    COUNTERS_AUTO,    /**< PAPI where it knows the event, else the kernel, per metric */
    COUNTERS_OFF,     /**< every metric is not_asked */
    COUNTERS_REQUIRE, /**< as AUTO; UNAVAILABLE if no metric can be counted */
    COUNTERS_PAPI,
    COUNTERS_PERF,
    COUNTERS_REPLAY, /**< from a file */
    COUNTERS_NULL    /**< opens everything, counts nothing: the cost of counting */
};

struct counter_options {
    enum counter_policy policy;
    const struct event_table *table; /**< from --events; NULL: the machine's */
    const char *replay_path;         /**< for COUNTERS_REPLAY */
    uint32_t metrics;                /**< set of enum metric asked for; 0: all */
    bool certify_fully;              /**< longer kernels, as `counters --certify` */
    const char *root;                /**< "" or the directory of a saved system, for sysfs */
};

struct counter_session;

/** The policy of a word (auto, off, require, papi, perf), or INVALID naming the option. */
CHECKED struct status counter_policy_of_name(enum counter_policy *out, const char *word);

/** Opens the counters of every thread of the team, which must outlive the session. A machine
 *  without counters is no error: its metrics are absent. Errors: UNAVAILABLE for
 *  COUNTERS_REQUIRE if nothing can be counted; INVALID for a malformed replay file; SYSTEM. */
CHECKED struct status counter_session_open(struct counter_session **out,
                                           const struct machine *machine, struct team *team,
                                           const struct counter_options *options);

/** Closes the counters; NULL is accepted. */
void counter_session_close(struct counter_session *session);

/** True if some metric can be counted: measuring is then worth its time. */
bool counter_session_counts(const struct counter_session *session);

/** Work to count: deterministic, and repeated once for every set of events. */
struct counter_work {
    /** Runs it once in the session's team, with probe called in every thread right around the
     *  work (team_time_probed()); returns the number of operator calls made, > 0. */
    double (*run)(void *context, struct team_probe probe);
    /** Instead of run, for work that brings its own threads from OpenMP's pool (a BLAS call): the
     *  sets are started and stopped in those threads around it. Exactly one of the two is set. */
    double (*call)(void *context);
    void *context;
};

/** Appends one sample to each metric: counts per operator call, summed over the threads. At most
 *  READING_SAMPLES_MAX samples are kept. */
void counter_session_measure(struct counter_session *session, const struct counter_work *work);

/** True if the energy of the packages can be counted. */
bool counter_session_has_energy(const struct counter_session *session);

/** counter_session_measure() for the energy metrics alone: fewer runs of the body. */
void counter_session_measure_energy(struct counter_session *session,
                                    const struct counter_work *work);

/** Forgets the samples (the sets stay open): before the next point. */
void counter_session_reset(struct counter_session *session);

/** What was counted for a metric since the last reset, or why not. */
void counter_session_read(struct result_counter *out, const struct counter_session *session,
                          enum metric metric);

/** Operations counted over all precisions (paired per sample), ABSENT unless every flop_* that
 *  this CPU can do and this family counts is there. */
void counter_session_flop(struct reading *out, const struct counter_session *session);

/** Bytes between memory and caches: reads plus writes where both are counted. place becomes
 *  "uncore", "core" or "none". */
void counter_session_dram_bytes(struct reading *out, const char **place,
                                const struct counter_session *session);

/** Joules per call of packages, with their memory where it has a counter of its own; idle share
 *  included. ABSENT where the packages are not counted. */
void counter_session_joules(struct reading *out, const struct counter_session *session);

/** The events' proof on known work; count entries, owned by the session. */
const struct certificate_entry *counter_session_certificate(size_t *count,
                                                            const struct counter_session *session);

/** What the memory channels' counts, held against each other, make doubtful; count texts, owned by
 *  the session. */
const struct certificate_suspicion *
counter_session_suspicions(size_t *count, const struct counter_session *session);

/** What the events in use for a metric leave out or add, as their table says; "" for nothing. */
const char *counter_session_note(const struct counter_session *session, enum metric metric);

/** The events in use for a metric, at most max of them; 0 if it cannot be counted. */
size_t counter_session_events(struct counter_event *out, size_t max,
                              const struct counter_session *session, enum metric metric);

/** Where the program stands: rights, sandbox, PMUs. */
const struct counter_surroundings *
counter_session_surroundings(const struct counter_session *session);

/** The table in use. */
const struct event_table *counter_session_table(const struct counter_session *session);

/** Number of sets, that is, of runs of the body for one sample. */
size_t counter_session_passes(const struct counter_session *session);

#endif
