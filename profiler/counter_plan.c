#include "profiler/counter_plan.h"

#include "profiler/counter_interval.h"
#include "profiler/counter_resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Iterations of the loop that shows whether a set is scheduled: some 10 us.
enum { TRIAL_ROUNDS = 4000 };

struct planner {
    const struct counter_plan_options *options;
    struct counter_resolver resolver;
    struct counter_plan *plan;
    struct counter_event *resolved; /**< COUNTER_RESOLVED_MAX of them */
    bool has_guard[COUNTER_SOURCES_MAX];
    struct counter_event guards[COUNTER_SOURCES_MAX];
    bool out_of_memory;
};

static enum counter_fault scheduled(const struct counter_event *events, size_t count,
                                    const struct counter_values *values)
{
    struct counter_interval interval;
    counter_interval_of(&interval, events, count, NULL, values);
    for (size_t i = 0; i < count; i++) {
        // NaN: a source that cannot tell, and whose sets run or fail.
        if (interval.running_fraction[i] <= 0) {
            return FAULT_NEVER_RAN;
        }
    }
    return FAULT_NONE;
}

// Opens the events together, counts a moment and closes them: the only way to know.
static enum counter_fault try_events(char *detail, const struct counter_opened *opened,
                                     const struct counter_event *events, size_t count)
{
    const struct counter_source *source = opened->source;
    void *group = NULL;
    size_t refused = 0;
    enum counter_fault fault = source->open(&group, opened->state, events, count, &refused, detail);
    if (fault != FAULT_NONE) {
        return fault;
    }
    struct counter_values values = {.value = {0}};
    fault = source->start(group);
    if (fault == FAULT_NONE) {
        known_work_run(KNOWN_LOOP, TRIAL_ROUNDS, NULL);
        fault = source->stop(group);
    }
    if (fault == FAULT_NONE) {
        fault = source->read(&values, group);
    }
    source->close(group);
    return fault == FAULT_NONE ? scheduled(events, count, &values) : fault;
}

static struct counter_set *new_set(struct planner *planner, const struct counter_opened *opened,
                                   enum metric_scope scope)
{
    struct counter_plan *plan = planner->plan;
    struct counter_set **sets = scope == SCOPE_SYSTEM ? &plan->system_sets : &plan->thread_sets;
    size_t *count = scope == SCOPE_SYSTEM ? &plan->system_count : &plan->thread_count;
    struct counter_set *grown = realloc(*sets, (*count + 1) * sizeof **sets);
    if (grown == NULL) {
        planner->out_of_memory = true;
        return NULL;
    }
    *sets = grown;
    struct counter_set *set = &grown[(*count)++];
    *set = (struct counter_set){.opened = opened};
    size_t index = (size_t)(opened - planner->options->sources);
    if (scope == SCOPE_THREAD && planner->has_guard[index]) {
        set->guarded = true;
        set->events[set->count++] = planner->guards[index];
    }
    return set;
}

// True if the event fits the set beside what is there; then it is in.
static bool fits(struct counter_set *set, const struct counter_event *event)
{
    if (set->count == COUNTER_EVENTS_MAX) {
        return false;
    }
    char detail[COUNTER_DETAIL];
    set->events[set->count] = *event;
    if (try_events(detail, set->opened, set->events, set->count + 1) != FAULT_NONE) {
        return false;
    }
    set->count++;
    return true;
}

// Puts an event that opens alone into the first set with room, or into a new one; without a guard
// where even the two do not fit together.
static void place_event(struct planner *planner, const struct counter_opened *opened,
                        const struct counter_event *event)
{
    enum metric_scope scope = event_row_scope(event->row);
    struct counter_plan *plan = planner->plan;
    struct counter_set *sets = scope == SCOPE_SYSTEM ? plan->system_sets : plan->thread_sets;
    size_t count = scope == SCOPE_SYSTEM ? plan->system_count : plan->thread_count;
    for (size_t i = 0; i < count; i++) {
        if (sets[i].opened == opened && fits(&sets[i], event)) {
            return;
        }
    }
    struct counter_set *set = new_set(planner, opened, scope);
    if (set != NULL && !fits(set, event)) {
        set->guarded = false;
        set->count = 0;
        set->events[set->count++] = *event;
    }
}

// How much a fault tells the user: what could be had with more rights before what went wrong, and
// that before what is simply not there.
static int weight_of(enum counter_fault fault)
{
    if (fault == FAULT_PERMISSION) {
        return 4;
    }
    if (fault == FAULT_NONE || fault == FAULT_NO_EVENT) {
        return fault == FAULT_NONE ? 0 : 1;
    }
    return fault == FAULT_UNSUPPORTED ? 2 : 3;
}

// Keeps the reason that tells most; of equals the last one for the preferred rank.
static void note_fault(struct metric_plan *plan, enum counter_fault fault, const char *what,
                       unsigned rank)
{
    int more = weight_of(fault) - weight_of(plan->fault);
    if (more > 0 || (more == 0 && rank == 0)) {
        plan->fault = fault;
        (void)snprintf(plan->what, sizeof plan->what, "%s", what);
    }
}

static enum counter_fault try_rank(char *what, const struct planner *planner,
                                   const struct counter_opened *opened, size_t count)
{
    char detail[COUNTER_DETAIL] = "";
    if (opened->fault != FAULT_NONE) {
        (void)snprintf(what, COUNTER_DETAIL, "%s", opened->detail);
        return opened->fault;
    }
    for (size_t i = 0; i < count; i++) {
        enum counter_fault fault = try_events(detail, opened, &planner->resolved[i], 1);
        if (fault != FAULT_NONE) {
            (void)snprintf(what, COUNTER_DETAIL, "%.70s%s%.50s", planner->resolved[i].label,
                           detail[0] == '\0' ? "" : ": ", detail);
            return fault;
        }
    }
    return FAULT_NONE;
}

static void place_metric(struct planner *planner, const struct counter_opened *opened,
                         enum metric metric, size_t count)
{
    if (metric == METRIC_INSTRUCTIONS) {
        // The guard of the first set is the metric.
        (void)new_set(planner, opened, SCOPE_THREAD);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        place_event(planner, opened, &planner->resolved[i]);
    }
}

static void plan_metric(struct planner *planner, enum metric metric)
{
    struct metric_plan *plan = &planner->plan->metrics[metric];
    const char *absent = planner->options->table->absent[metric];
    note_fault(plan, FAULT_NO_EVENT, absent == NULL ? "" : absent, 0);
    for (unsigned rank = 0; rank < EVENT_RANKS_MAX; rank++) {
        enum counter_fault fault = FAULT_NONE;
        char what[COUNTER_DETAIL];
        size_t count =
            counter_resolve(planner->resolved, &fault, what, &planner->resolver, metric, rank);
        if (count == 0 && fault != FAULT_NO_EVENT) {
            note_fault(plan, fault, what, rank);
        }
        for (size_t s = 0; count > 0 && s < planner->options->source_count; s++) {
            const struct counter_opened *opened = &planner->options->sources[s];
            fault = try_rank(what, planner, opened, count);
            if (fault == FAULT_NONE) {
                *plan = (struct metric_plan){.rank = rank,
                                             .source = opened->source,
                                             .scope = event_row_scope(planner->resolved[0].row)};
                place_metric(planner, opened, metric, count);
                return;
            }
            note_fault(plan, fault, what, rank);
        }
    }
}

// Finds the guards under one name of the core's PMU. True if the first source has its guard, or
// at least knows the name.
static bool find_guards_as(struct planner *planner, const char *pmu)
{
    char what[COUNTER_DETAIL];
    enum counter_fault fault = FAULT_NONE;
    bool known = false;
    (void)snprintf(planner->resolver.papi_pmu, sizeof planner->resolver.papi_pmu, "%s", pmu);
    if (counter_resolve(planner->resolved, &fault, what, &planner->resolver, METRIC_INSTRUCTIONS,
                        0) == 0) {
        return false;
    }
    for (size_t s = 0; s < planner->options->source_count; s++) {
        fault = try_rank(what, planner, &planner->options->sources[s], 1);
        if (fault == FAULT_NONE && !planner->has_guard[s]) {
            planner->has_guard[s] = true;
            planner->guards[s] = planner->resolved[0];
        }
        known = known || (s == 0 && fault != FAULT_UNSUPPORTED);
    }
    return known;
}

// The name that PAPI has for this core's PMU, and the guard of each source.
static void find_guards(struct planner *planner)
{
    char pmus[128];
    char *save = NULL;
    (void)snprintf(pmus, sizeof pmus, "%s", planner->options->table->pmus);
    for (const char *pmu = strtok_r(pmus, " ", &save); pmu != NULL;
         pmu = strtok_r(NULL, " ", &save)) {
        if (find_guards_as(planner, pmu)) {
            return;
        }
    }
    (void)snprintf(pmus, sizeof pmus, "%s", planner->options->table->pmus);
    const char *first = strtok_r(pmus, " ", &save);
    (void)find_guards_as(planner, first == NULL ? "" : first);
}

struct status counter_plan_make(struct counter_plan *out,
                                const struct counter_plan_options *options)
{
    *out = (struct counter_plan){.thread_sets = NULL};
    struct planner planner = {
        .options = options,
        .plan = out,
        .resolver = {.table = options->table,
                     .root = options->root,
                     .sve_bytes = options->sve_bytes,
                     .banned = options->banned},
        .resolved = calloc(COUNTER_RESOLVED_MAX, sizeof *planner.resolved),
    };
    if (planner.resolved == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to plan the counters");
    }
    find_guards(&planner);
    plan_metric(&planner, METRIC_INSTRUCTIONS);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        if ((options->metrics >> m & 1) == 0) {
            out->metrics[m].fault = FAULT_NOT_ASKED;
        } else if (m != METRIC_INSTRUCTIONS) {
            plan_metric(&planner, (enum metric)m);
        }
    }
    free(planner.resolved);
    if (planner.out_of_memory) {
        counter_plan_free(out);
        return status_error(STATUS_SYSTEM, "no memory to plan the counters");
    }
    return status_ok();
}

void counter_plan_free(struct counter_plan *plan)
{
    free(plan->thread_sets);
    free(plan->system_sets);
    *plan = (struct counter_plan){.thread_sets = NULL};
}
