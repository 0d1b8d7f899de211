#include "profiler/clock.h"
#include "profiler/counter_interval.h"
#include "profiler/process_counters_parts.h"
#include "profiler/team.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GENERAL_COUNTERS_UNKNOWN = 4, SYSTEM_EVENTS_MAX = 1024 };

// What a roofline needs first.
static const enum metric by_worth[] = {
    METRIC_INSTRUCTIONS,        METRIC_CYCLES,      METRIC_FLOP_F32,       METRIC_DRAM_READ_BYTES,
    METRIC_DRAM_WRITE_BYTES,    METRIC_FLOP_BF16,   METRIC_FLOP_F16,       METRIC_FLOP_F64,
    METRIC_MEMORY_STALL_CYCLES, METRIC_L2_L3_BYTES, METRIC_L1_L2_BYTES,    METRIC_TLB_MISS,
    METRIC_PAGE_WALK_CYCLES,    METRIC_REF_CYCLES,  METRIC_PACKAGE_JOULES, METRIC_DRAM_JOULES,
};

static bool has_own_counter(enum metric metric)
{
    return metric == METRIC_INSTRUCTIONS || metric == METRIC_CYCLES || metric == METRIC_REF_CYCLES;
}

static bool fits(const struct process_counters *counters, enum metric metric, size_t count,
                 unsigned general)
{
    return counters->task_event_count + count <= COUNTER_EVENTS_MAX &&
           (has_own_counter(metric) || counters->general + count <= general);
}

static void take_metric(struct process_counters *counters, const struct counter_session *session,
                        enum metric metric, unsigned general)
{
    struct metric_state *state = &counters->metrics[metric];
    struct counter_event events[COUNTER_EVENTS_MAX];
    counter_session_read(&state->answer, session, metric);
    state->background_per_s = (double)NAN;
    size_t room = SYSTEM_EVENTS_MAX - counters->system_event_count;
    room = room < COUNTER_EVENTS_MAX ? room : COUNTER_EVENTS_MAX;
    size_t count = counter_session_events(events, room, session, metric);
    if (count == 0) {
        return; // its answer says why
    }
    if (events[0].cpu >= 0) {
        memcpy(&counters->system_events[counters->system_event_count], events,
               count * sizeof *events);
        counters->system_event_count += count;
    } else if (fits(counters, metric, count, general)) {
        memcpy(&counters->task_events[counters->task_event_count], events, count * sizeof *events);
        counters->task_event_count += count;
        counters->general += has_own_counter(metric) ? 0 : (unsigned)count;
    } else {
        char text[96];
        (void)snprintf(text, sizeof text,
                       "the core's %u counters hold other events, and a foreign process is not "
                       "repeated",
                       general);
        state->answer.value =
            reading_absent(ABSENT_NOT_SCHEDULED, text, "--events FILE with fewer metrics");
        return;
    }
    state->counted = true;
}

static void choose_events(struct process_counters *counters, const struct counter_session *session)
{
    unsigned general = counter_session_table(session)->counters;
    general = general == 0 ? GENERAL_COUNTERS_UNKNOWN : general;
    if (counter_session_surroundings(session)->watchdog && general > 1) {
        general--;
    }
    for (size_t i = 0; i < sizeof by_worth / sizeof *by_worth; i++) {
        take_metric(counters, session, by_worth[i], general);
    }
}

// Tries and proves the events in one bound thread of ours.
static struct status learn(struct process_counters *counters,
                           const struct process_counter_options *options)
{
    static const enum counter_policy policies[] = {[COUNTERS_AUTO] = COUNTERS_PERF,
                                                   [COUNTERS_OFF] = COUNTERS_OFF,
                                                   [COUNTERS_REQUIRE] = COUNTERS_PERF};
    const struct counter_options wanted = {.policy = policies[options->policy],
                                           .table = options->table};
    struct team *team = NULL;
    struct counter_session *session = NULL;
    TRY(team_create(&team, &options->cpu, 1));
    struct status status = counter_session_open(&session, options->machine, team, &wanted);
    if (status_is_ok(status)) {
        choose_events(counters, session);
        if (options->policy == COUNTERS_REQUIRE && !counter_session_counts(session)) {
            const struct absence *why = &counters->metrics[METRIC_CYCLES].answer.value.absence;
            status = status_error(STATUS_UNAVAILABLE,
                                  "--counters require: nothing can be counted: %s", why->text);
        }
    }
    counter_session_close(session);
    team_destroy(team);
    return status;
}

// A metric that cannot be counted on these tasks is absent with what the kernel said.
static void fail(struct process_counters *counters, const struct counter_event *events,
                 size_t count, enum counter_fault fault, const char *detail)
{
    for (size_t i = 0; i < count; i++) {
        struct metric_state *state = &counters->metrics[events[i].row->metric];
        struct absence absence = counter_fault_absence(fault, detail, NULL);
        state->fault = counter_fault_worse(state->fault, fault);
        state->answer.value = reading_absent(absence.state, absence.text, absence.try_);
        state->counted = false;
    }
}

static void open_group(struct process_counters *counters, const struct counter_event *events,
                       size_t count)
{
    char detail[COUNTER_DETAIL];
    size_t refused = 0;
    struct group *group = &counters->groups[counters->group_count];
    *group = (struct group){.events = events, .count = count};
    enum counter_fault fault =
        counter_source_perf.open(&group->handle, NULL, events, count, &refused, detail);
    if (fault == FAULT_NONE && !events[0].on_exec) {
        fault = counter_source_perf.start(group->handle);
    }
    if (fault == FAULT_NONE) {
        counters->group_count++;
        return;
    }
    if (group->handle != NULL) {
        counter_source_perf.close(group->handle);
    }
    bool gone = events[0].task > 0 && strstr(detail, strerror(ESRCH)) != NULL;
    if (!gone) { // a thread that has ended meanwhile is no loss
        fail(counters, events, count, fault, detail);
    }
}

static void leave_to_program(struct process_counters *counters)
{
    for (size_t i = 0; i < counters->task_event_count; i++) {
        struct metric_state *state = &counters->metrics[counters->task_events[i].row->metric];
        state->counted = false;
        state->answer.value = reading_absent(
            ABSENT_NOT_ASKED, "counted in the marked regions, not in the whole program",
            "the same without --markers");
    }
}

static struct status open_all(struct process_counters *counters,
                              const struct process_counter_options *options)
{
    size_t sets = (counters->system_event_count + COUNTER_EVENTS_MAX - 1) / COUNTER_EVENTS_MAX;
    counters->groups = calloc(options->task_count + sets + 1, sizeof *counters->groups);
    if (counters->groups == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the counters of %zu threads",
                            options->task_count);
    }
    for (size_t at = 0; at < counters->system_event_count; at += COUNTER_EVENTS_MAX) {
        size_t left = counters->system_event_count - at;
        open_group(counters, &counters->system_events[at],
                   left < COUNTER_EVENTS_MAX ? left : COUNTER_EVENTS_MAX);
    }
    if (options->list_only) {
        leave_to_program(counters);
        return status_ok();
    }
    for (size_t t = 0; t < options->task_count && counters->task_event_count > 0; t++) {
        for (size_t i = 0; i < counters->task_event_count; i++) {
            counters->task_events[i].task = options->tasks[t];
            counters->task_events[i].on_exec = options->on_exec;
        }
        open_group(counters, counters->task_events, counters->task_event_count);
    }
    return status_ok();
}

struct status process_counters_open(struct process_counters **out,
                                    const struct process_counter_options *options)
{
    *out = NULL;
    struct process_counters *counters = calloc(1, sizeof *counters);
    if (counters != NULL) {
        counters->system_events = calloc(SYSTEM_EVENTS_MAX, sizeof *counters->system_events);
    }
    if (counters == NULL || counters->system_events == NULL) {
        process_counters_close(counters);
        return status_error(STATUS_SYSTEM, "no memory for the counters of a process");
    }
    struct status status = learn(counters, options);
    if (status_is_ok(status)) {
        status = open_all(counters, options);
    }
    if (status_is_ok(status)) {
        status = process_energy_open(counters, options->policy);
    }
    if (!status_is_ok(status)) {
        process_counters_close(counters);
        return status;
    }
    *out = counters;
    return status_ok();
}

void process_counters_close(struct process_counters *counters)
{
    if (counters == NULL) {
        return;
    }
    for (size_t i = 0; i < counters->group_count; i++) {
        counter_source_perf.close(counters->groups[i].handle);
    }
    energy_close(counters->energy);
    free(counters->groups);
    free(counters->system_events);
    free(counters);
}

// Time that an event waited for a counter is not counted: the count is scaled up by it. Time in
// which its task did not run is no such time.
static void add_group(struct process_counters *counters, struct group *group)
{
    struct counter_values now = {.value = {0}};
    struct counter_interval interval = {.count = {0}};
    enum counter_fault fault = counter_source_perf.read(&now, group->handle);
    if (fault == FAULT_NONE) {
        counter_interval_of(&interval, group->events, group->count, &group->last, &now);
    }
    for (size_t i = 0; i < group->count; i++) {
        struct metric_state *state = &counters->metrics[group->events[i].row->metric];
        uint64_t enabled = now.enabled_ns[i] - group->last.enabled_ns[i];
        if (fault != FAULT_NONE) {
            state->fault = counter_fault_worse(state->fault, fault);
        } else if (enabled > 0) {
            bool counted = interval.fault[i] == FAULT_NONE || interval.fault[i] == FAULT_RAN_LITTLE;
            state->total += counted ? interval.count[i] * group->events[i].weight : 0;
            state->enabled_ns += (double)enabled;
            state->running_ns += (double)(now.running_ns[i] - group->last.running_ns[i]);
            if (interval.fault[i] == FAULT_NEGATIVE) {
                state->fault = FAULT_NEGATIVE;
            }
        }
    }
    if (fault == FAULT_NONE) {
        group->last = now;
    }
}

void process_counters_read(double counts[METRIC_COUNT], struct process_counters *counters)
{
    for (size_t i = 0; i < counters->group_count; i++) {
        add_group(counters, &counters->groups[i]);
    }
    process_energy_read(counters);
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_state *state = &counters->metrics[m];
        counts[m] = state->counted && state->fault == FAULT_NONE ? state->total : (double)NAN;
    }
}

void process_counters_idle(struct process_counters *counters, double seconds)
{
    double counts[METRIC_COUNT];
    if (counters->system_event_count == 0 && !process_energy_counts(counters)) {
        return;
    }
    process_counters_read(counts, counters);
    double began = clock_seconds();
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    (void)nanosleep(&pause, NULL);
    double after[METRIC_COUNT];
    process_counters_read(after, counters);
    double elapsed = clock_seconds() - began;
    for (size_t i = 0; i < counters->system_event_count; i++) {
        enum metric metric = counters->system_events[i].row->metric;
        counters->metrics[metric].background_per_s = (after[metric] - counts[metric]) / elapsed;
    }
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (counters->metrics[m].by_powercap) {
            counters->metrics[m].background_per_s = (after[m] - counts[m]) / elapsed;
        }
    }
}

static double running_fraction(const struct metric_state *state)
{
    return state->enabled_ns > 0 ? state->running_ns / state->enabled_ns : (double)NAN;
}

static bool is_energy(enum metric metric)
{
    return metric == METRIC_PACKAGE_JOULES || metric == METRIC_DRAM_JOULES;
}

void process_counters_report(struct result_counter *out, const struct process_counters *counters,
                             enum metric metric, double counted, double seconds)
{
    const struct metric_state *state = &counters->metrics[metric];
    double fraction = running_fraction(state);
    enum counter_fault fault = state->fault;
    *out = state->answer;
    out->running_fraction = fraction;
    out->background_fraction = (double)NAN;
    if (!state->counted) {
        return;
    }
    if (fault == FAULT_NONE && !isnan(fraction)) {
        fault = counter_fault_of_running(fraction);
    }
    if (fault != FAULT_NONE) {
        struct absence absence = counter_fault_absence(fault, "", NULL);
        out->value = reading_absent(absence.state, absence.text, absence.try_);
        return;
    }
    double background = state->background_per_s * seconds;
    if (!isnan(background)) {
        out->background_fraction = counted > 0 ? fmin(background / counted, 1) : 0;
        counted = is_energy(metric) ? counted : fmax(counted - background, 0);
    }
    out->value = reading_plain(counted, ORIGIN_COUNTED);
}

const struct counter_event *process_counters_list(size_t *count,
                                                  const struct process_counters *counters)
{
    *count = counters->task_event_count;
    return counters->task_events;
}
