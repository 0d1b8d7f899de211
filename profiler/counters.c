#include "profiler/counters.h"

#include "profiler/counter_energy.h"
#include "profiler/counter_session.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PLANS_MAX = 4 /* each removes at least one lying event that has a substitute */ };

static const struct {
    const char *name;
    enum counter_policy policy;
} policies[] = {{"auto", COUNTERS_AUTO},
                {"off", COUNTERS_OFF},
                {"require", COUNTERS_REQUIRE},
                {"papi", COUNTERS_PAPI},
                {"perf", COUNTERS_PERF}};

struct status counter_policy_of_name(enum counter_policy *out, const char *word)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(policies[i].name, word) == 0) {
            *out = policies[i].policy;
            return status_ok();
        }
    }
    return status_error(STATUS_INVALID,
                        "--counters: '%s' is unknown; accepted auto, off, require, papi, perf",
                        word);
}

static void open_source(struct counter_session *session, const struct counter_source *source)
{
    struct counter_opened *opened = &session->sources[session->source_count++];
    *opened = (struct counter_opened){.source = source};
    opened->fault =
        source->open_source(&opened->state, session->options.replay_path, opened->detail);
}

static struct status open_sources(struct counter_session *session)
{
    switch (session->options.policy) {
    case COUNTERS_AUTO:
    case COUNTERS_REQUIRE:
        open_source(session, &counter_source_papi);
        open_source(session, &counter_source_perf);
        break;
    case COUNTERS_PAPI:
        open_source(session, &counter_source_papi);
        break;
    case COUNTERS_PERF:
        open_source(session, &counter_source_perf);
        break;
    case COUNTERS_NULL:
        open_source(session, &counter_source_null);
        break;
    case COUNTERS_REPLAY:
        open_source(session, &counter_source_replay);
        if (session->sources[0].fault != FAULT_NONE) {
            return status_error(STATUS_INVALID, "%s: %s",
                                session->options.replay_path == NULL ? "replay"
                                                                     : session->options.replay_path,
                                session->sources[0].detail);
        }
        break;
    case COUNTERS_OFF:
        break;
    }
    return status_ok();
}

// A set of each thread needs a descriptor an event: take what the administrator allows.
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static struct status make_plan(struct counter_session *session)
{
    const struct counter_plan_options options = {
        .table = session->table,
        .sources = session->sources,
        .source_count = session->source_count,
        .root = session->options.root,
        .metrics = session->source_count == 0 ? 0 : session->options.metrics,
        .sve_bytes = isa_detect().sve_bytes,
        .banned = session->banned,
    };
    counter_plan_free(&session->plan);
    return counter_plan_make(&session->plan, &options);
}

// Runs the proof under one set in this thread; true if a row was banned for it.
static bool certify_set(struct counter_session *session, const struct counter_set *set)
{
    const struct certificate_options options = {.isa = isa_detect(),
                                                .fully = session->options.certify_fully};
    enum counter_fault faults[COUNTER_EVENTS_MAX] = {FAULT_NONE};
    char detail[COUNTER_DETAIL];
    void *group = NULL;
    size_t refused = 0;
    bool banned = false;
    if (set->opened->source->open(&group, set->opened->state, set->events, set->count, &refused,
                                  detail) != FAULT_NONE) {
        return false; // it opened a moment ago: the threads will say what happened
    }
    certificate_run(&session->certificate, faults, set->opened->source, group, set->events,
                    set->count, &options);
    set->opened->source->close(group);
    for (size_t i = 0; i < set->count; i++) {
        if (faults[i] != FAULT_NONE) {
            session->banned[set->events[i].row - session->table->rows] = faults[i];
            banned = true;
        }
    }
    return banned;
}

// Passed entries belong to a plan that is made anew; failures stay on record.
static void keep_failures(struct certificate *certificate)
{
    size_t kept = 0;
    for (size_t i = 0; i < certificate->count; i++) {
        if (certificate->entries[i].fault != FAULT_NONE) {
            certificate->entries[kept++] = certificate->entries[i];
        }
    }
    certificate->count = kept;
    certificate->suspicion_count = 0;
}

static bool certify(struct counter_session *session)
{
    bool banned = false;
    keep_failures(&session->certificate);
    for (size_t i = 0; i < session->plan.thread_count; i++) {
        banned = certify_set(session, &session->plan.thread_sets[i]) || banned;
    }
    for (size_t i = 0; i < session->plan.system_count; i++) {
        banned = certify_set(session, &session->plan.system_sets[i]) || banned;
    }
    return banned;
}

// Plans, proves, and plans again without what lied, until what is left is proved.
static struct status make_proved_plan(struct counter_session *session)
{
    bool proves =
        session->options.policy != COUNTERS_REPLAY && session->options.policy != COUNTERS_NULL;
    for (int i = 0; i < PLANS_MAX; i++) {
        TRY(make_plan(session));
        if (!proves || !certify(session)) {
            break;
        }
    }
    return status_ok();
}

// Where not even cycles and instructions answer, the reason is the same for all of a thread's
// metrics.
static void name_missing_pmu(struct counter_session *session)
{
    struct metric_plan *metrics = session->plan.metrics;
    if (metrics[METRIC_INSTRUCTIONS].fault != FAULT_UNSUPPORTED ||
        metrics[METRIC_CYCLES].fault != FAULT_UNSUPPORTED) {
        return;
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        if (metrics[m].fault == FAULT_UNSUPPORTED &&
            metric_row((enum metric)m)->scope == SCOPE_THREAD) {
            metrics[m].fault = FAULT_NO_PMU;
        }
    }
}

/** What opening in the threads works on. */
struct opening {
    struct counter_session *session;
    pthread_mutex_t *lock;
};

// One thread at a time: libpfm4's tables are not written for more.
static void open_in_thread(void *context, unsigned thread, unsigned threads)
{
    const struct opening *opening = context;
    struct counter_session *session = opening->session;
    char detail[COUNTER_DETAIL];
    (void)pthread_mutex_lock(opening->lock);
    for (size_t s = 0; s < session->plan.thread_count; s++) {
        const struct counter_set *set = &session->plan.thread_sets[s];
        struct session_group *group = &session->groups[s * threads + thread];
        size_t refused = 0;
        group->fault = set->opened->source->open(&group->group, set->opened->state, set->events,
                                                 set->count, &refused, detail);
    }
    (void)pthread_mutex_unlock(opening->lock);
}

static void close_in_thread(void *context, unsigned thread, unsigned threads)
{
    const struct opening *opening = context;
    struct counter_session *session = opening->session;
    (void)pthread_mutex_lock(opening->lock);
    for (size_t s = 0; s < session->plan.thread_count; s++) {
        struct session_group *group = &session->groups[s * threads + thread];
        if (group->group != NULL) {
            session->plan.thread_sets[s].opened->source->close(group->group);
        }
    }
    (void)pthread_mutex_unlock(opening->lock);
}

static void in_every_thread(struct counter_session *session,
                            void (*run)(void *, unsigned, unsigned))
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct opening opening = {.session = session, .lock = &lock};
    team_run(session->team, (struct team_body){run, &opening});
}

static struct status open_groups(struct counter_session *session)
{
    size_t sets = session->plan.thread_count;
    size_t threads = session->threads;
    session->groups = calloc(sets * threads + 1, sizeof *session->groups);
    session->system_groups = calloc(session->plan.system_count + 1, sizeof *session->system_groups);
    session->set_faults = calloc(sets + 1, sizeof *session->set_faults);
    session->scratch =
        aligned_alloc(_Alignof(struct session_thread), threads * sizeof *session->scratch);
    if (session->groups == NULL || session->system_groups == NULL || session->set_faults == NULL ||
        session->scratch == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the counters of %u threads",
                            session->threads);
    }
    memset(session->scratch, 0, threads * sizeof *session->scratch);
    in_every_thread(session, open_in_thread);
    for (size_t s = 0; s < session->plan.system_count; s++) {
        const struct counter_set *set = &session->plan.system_sets[s];
        char detail[COUNTER_DETAIL];
        size_t refused = 0;
        struct session_group *group = &session->system_groups[s];
        group->fault = set->opened->source->open(&group->group, set->opened->state, set->events,
                                                 set->count, &refused, detail);
    }
    counter_session_check_guards(session);
    return status_ok();
}

static struct status prepare(struct counter_session *session)
{
    TRY(open_sources(session));
    raise_file_limit();
    session->banned = calloc(session->table->row_count + 1, sizeof *session->banned);
    if (session->banned == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the counters");
    }
    counter_surroundings_read(&session->surroundings, session->machine, session->options.root,
                              !event_table_is_generic(session->table));
    TRY(make_proved_plan(session));
    name_missing_pmu(session);
    TRY(counter_energy_open(session));
    TRY(open_groups(session));
    counter_session_reset(session);
    if (session->options.policy == COUNTERS_REQUIRE && !counter_session_counts(session)) {
        struct result_counter cycles;
        counter_session_read(&cycles, session, METRIC_CYCLES);
        return status_error(
            STATUS_UNAVAILABLE, "--counters require: nothing can be counted: %s%s%s",
            cycles.value.absence.text,
            cycles.value.absence.try_[0] == '\0' ? "" : "; try: ", cycles.value.absence.try_);
    }
    return status_ok();
}

struct status counter_session_open(struct counter_session **out, const struct machine *machine,
                                   struct team *team, const struct counter_options *options)
{
    struct counter_session *session = calloc(1, sizeof *session);
    *out = NULL;
    if (session == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the counters");
    }
    session->machine = machine;
    session->team = team;
    session->threads = team_threads(team);
    session->options = *options;
    session->options.root = options->root == NULL ? "" : options->root;
    session->options.metrics = options->metrics == 0 ? METRICS_ALL : options->metrics;
    session->table = options->table != NULL ? options->table : event_table_find(machine);
    struct status status = prepare(session);
    if (!status_is_ok(status)) {
        counter_session_close(session);
        return status;
    }
    *out = session;
    return status_ok();
}

void counter_session_close(struct counter_session *session)
{
    if (session == NULL) {
        return;
    }
    if (session->groups != NULL) {
        in_every_thread(session, close_in_thread);
    }
    for (size_t s = 0; session->system_groups != NULL && s < session->plan.system_count; s++) {
        if (session->system_groups[s].group != NULL) {
            session->plan.system_sets[s].opened->source->close(session->system_groups[s].group);
        }
    }
    for (size_t i = 0; i < session->source_count; i++) {
        session->sources[i].source->close_source(session->sources[i].state);
    }
    counter_plan_free(&session->plan);
    certificate_free(&session->certificate);
    energy_close(session->meter);
    free(session->banned);
    free(session->groups);
    free(session->system_groups);
    free(session->set_faults);
    free(session->scratch);
    free(session);
}
