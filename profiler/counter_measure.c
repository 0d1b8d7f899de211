#include "profiler/clock.h"
#include "profiler/counter_energy.h"
#include "profiler/counter_interval.h"
#include "profiler/counter_session.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

// Energy counters move once in a millisecond.
enum { BACKGROUND_NS = 2000000, BACKGROUND_ENERGY_NS = 20000000 };

const struct counter_set *counter_session_set(const struct counter_session *session)
{
    return &session->plan.thread_sets[session->set];
}

static struct session_group *group_of(const struct counter_session *session, unsigned thread)
{
    return &session->groups[session->set * session->threads + thread];
}

// PAPI opens all events of a set again when its thread has used another set in between (papi 7.0
// PAPI_start, "dirty" context): that must not fall into the work. The thread says what it does.
static enum counter_fault warm(const struct counter_source *source, void *group)
{
    char name[16] = "";
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    (void)pthread_setname_np(pthread_self(), "arm");
    enum counter_fault fault = source->start(group);
    if (fault == FAULT_NONE) {
        fault = source->stop(group);
    }
    (void)pthread_setname_np(pthread_self(), name);
    return fault;
}

// Before the work, outside of every clock: remembers where the counters stand.
void counter_session_arm(void *context, unsigned thread, unsigned threads)
{
    (void)threads;
    struct counter_session *session = context;
    struct session_thread *mine = &session->scratch[thread];
    const struct session_group *group = group_of(session, thread);
    const struct counter_source *source = counter_session_set(session)->opened->source;
    mine->before = (struct counter_values){.value = {0}};
    mine->after = (struct counter_values){.value = {0}};
    mine->fault = group->fault;
    if (mine->fault == FAULT_NONE) {
        mine->fault = source->counts_from_start ? warm(source, group->group)
                                                : source->read(&mine->before, group->group);
    }
    mine->first_cpu = sched_getcpu();
}

void counter_session_collect(void *context, unsigned thread, unsigned threads)
{
    (void)threads;
    struct counter_session *session = context;
    struct session_thread *mine = &session->scratch[thread];
    mine->last_cpu = sched_getcpu();
    if (mine->fault == FAULT_NONE) {
        mine->fault = counter_session_set(session)->opened->source->read(
            &mine->after, group_of(session, thread)->group);
    }
}

void counter_session_start(void *context, unsigned thread)
{
    struct counter_session *session = context;
    struct session_thread *mine = &session->scratch[thread];
    if (session->counting && mine->fault == FAULT_NONE) {
        mine->fault =
            counter_session_set(session)->opened->source->start(group_of(session, thread)->group);
    }
}

void counter_session_stop(void *context, unsigned thread)
{
    struct counter_session *session = context;
    struct session_thread *mine = &session->scratch[thread];
    if (session->counting && mine->fault == FAULT_NONE) {
        mine->fault =
            counter_session_set(session)->opened->source->stop(group_of(session, thread)->group);
    }
}

static void start_body(void *context, unsigned thread, unsigned threads)
{
    (void)threads;
    counter_session_start(context, thread);
}

static void stop_body(void *context, unsigned thread, unsigned threads)
{
    (void)threads;
    counter_session_stop(context, thread);
}

static void add(struct counter_session *session, const struct counter_event *event, double count,
                double running_fraction, enum counter_fault fault)
{
    struct session_metric *metric = &session->metrics[event->row->metric];
    metric->total += count * event->weight / session->calls;
    metric->fault = counter_fault_worse(metric->fault, fault);
    if (!isnan(running_fraction) && !(metric->running_fraction <= running_fraction)) {
        metric->running_fraction = running_fraction;
    }
}

static int kind_of(const struct machine *machine, int cpu)
{
    for (size_t i = 0; i < machine->usable_count; i++) {
        if (machine->usable[i].os_index == (unsigned)cpu) {
            return (int)machine->usable[i].kind;
        }
    }
    return -1;
}

static bool changed_kind(const struct machine *machine, const struct session_thread *its)
{
    return machine->core_kind_count > 1 &&
           kind_of(machine, its->first_cpu) != kind_of(machine, its->last_cpu);
}

// The guard is the metric `instructions` in the first set, and only there.
static void add_thread(struct counter_session *session, unsigned thread)
{
    const struct counter_set *set = counter_session_set(session);
    const struct session_thread *its = &session->scratch[thread];
    struct counter_interval interval = {.count = {0}};
    counter_interval_of(&interval, set->events, set->count, &its->before, &its->after);
    enum counter_fault fault = counter_fault_worse(its->fault, session->set_faults[session->set]);
    if (fault == FAULT_NONE && set->guarded && interval.fault[0] == FAULT_NONE &&
        !(interval.count[0] > 0)) {
        fault = FAULT_GUARDS;
    }
    if (changed_kind(session->machine, its)) {
        fault = FAULT_MIGRATED;
    }
    for (size_t i = set->guarded && session->set > 0 ? 1 : 0; i < set->count; i++) {
        add(session, &set->events[i], interval.count[i], interval.running_fraction[i],
            counter_fault_worse(fault, interval.fault[i]));
    }
}

/** A counted stretch of a system set. */
struct stretch {
    enum counter_fault fault;
    double seconds;
    struct counter_interval interval;
};

static enum counter_fault begin_stretch(struct counter_values *before, double *began,
                                        const struct counter_set *set,
                                        const struct session_group *group)
{
    const struct counter_source *source = set->opened->source;
    *before = (struct counter_values){.value = {0}};
    enum counter_fault fault = group->fault;
    if (fault == FAULT_NONE && !source->counts_from_start) {
        fault = source->read(before, group->group);
    }
    if (fault == FAULT_NONE) {
        fault = source->start(group->group);
    }
    *began = clock_seconds();
    return fault;
}

static void end_stretch(struct stretch *out, const struct counter_set *set,
                        const struct session_group *group, enum counter_fault fault,
                        const struct counter_values *before, double began)
{
    struct counter_values after = {.value = {0}};
    out->seconds = clock_seconds() - began;
    if (fault == FAULT_NONE) {
        fault = set->opened->source->stop(group->group);
    }
    if (fault == FAULT_NONE) {
        fault = set->opened->source->read(&after, group->group);
    }
    out->fault = fault;
    out->interval = (struct counter_interval){.count = {0}};
    if (fault == FAULT_NONE) {
        counter_interval_of(&out->interval, set->events, set->count, before, &after);
    }
}

static bool is_energy(enum metric metric)
{
    return metric == METRIC_PACKAGE_JOULES || metric == METRIC_DRAM_JOULES;
}

static bool has_energy(const struct counter_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (is_energy(set->events[i].row->metric)) {
            return true;
        }
    }
    return false;
}

// What the box counts while this program does nothing.
static void count_idle(struct stretch *out, const struct counter_set *set,
                       const struct session_group *group)
{
    struct counter_values before;
    double began = 0;
    enum counter_fault fault = begin_stretch(&before, &began, set, group);
    const struct timespec pause = {.tv_nsec =
                                       has_energy(set) ? BACKGROUND_ENERGY_NS : BACKGROUND_NS};
    (void)nanosleep(&pause, NULL);
    end_stretch(out, set, group, fault, &before, began);
}

// Traffic of others is taken off; idle energy is part of the energy and only stated.
static void add_system(struct counter_session *session, const struct counter_set *set,
                       const struct stretch *work, const struct stretch *first,
                       const struct stretch *last)
{
    double idle_seconds = first->seconds + last->seconds;
    for (size_t i = 0; i < set->count; i++) {
        const struct counter_event *event = &set->events[i];
        double idle =
            (first->interval.count[i] + last->interval.count[i]) / idle_seconds * work->seconds;
        bool taken_off = !is_energy(event->row->metric) && first->fault == FAULT_NONE &&
                         last->fault == FAULT_NONE;
        double count = work->interval.count[i] - (taken_off ? nearbyint(idle) : 0);
        add(session, event, count, work->interval.running_fraction[i],
            counter_fault_worse(work->fault, work->interval.fault[i]));
        session->metrics[event->row->metric].background += idle * event->weight / session->calls;
    }
}

void counter_session_run(struct counter_session *session, const struct counter_work *work)
{
    if (work->call == NULL) {
        session->calls =
            work->run(work->context, (struct team_probe){.start = counter_session_start,
                                                         .stop = counter_session_stop,
                                                         .context = session});
        return;
    }
    team_run(session->team, (struct team_body){start_body, session});
    session->calls = work->call(work->context);
    team_run(session->team, (struct team_body){stop_body, session});
}

static void work_counted(struct counter_session *session, const struct counter_work *work)
{
    session->counting = session->set < session->plan.thread_count;
    if (session->counting) {
        team_run(session->team, (struct team_body){counter_session_arm, session});
    }
    counter_session_run(session, work);
    if (session->counting) {
        team_run(session->team, (struct team_body){counter_session_collect, session});
    }
    for (unsigned t = 0; session->counting && t < session->threads; t++) {
        add_thread(session, t);
    }
}

/** A system set while it counts: the work between two moments of idleness. */
struct watch {
    const struct counter_set *set;
    const struct session_group *group;
    struct stretch first, work, last;
    struct counter_values before;
    double began;
    enum counter_fault fault;
};

static void begin_watch(struct watch *watch)
{
    watch->fault = begin_stretch(&watch->before, &watch->began, watch->set, watch->group);
}

static void end_watch(struct watch *watch)
{
    end_stretch(&watch->work, watch->set, watch->group, watch->fault, &watch->before, watch->began);
}

// One set of each source may count at the same time: the n-th of every source in the n-th pass.
static size_t find_watches(struct watch *out, const struct counter_session *session)
{
    size_t count = 0;
    for (size_t s = 0; s < session->source_count; s++) {
        size_t seen = 0;
        for (size_t i = 0; i < session->plan.system_count; i++) {
            const struct counter_set *set = &session->plan.system_sets[i];
            if (set->opened == &session->sources[s] && seen++ == session->set) {
                out[count++] = (struct watch){.set = set, .group = &session->system_groups[i]};
            }
        }
    }
    return count;
}

static void measure_pass(struct counter_session *session, const struct counter_work *work)
{
    struct watch watches[COUNTER_SOURCES_MAX];
    size_t count = find_watches(watches, session);
    for (size_t i = 0; i < count; i++) {
        count_idle(&watches[i].first, watches[i].set, watches[i].group);
    }
    for (size_t i = 0; i < count; i++) {
        begin_watch(&watches[i]);
    }
    work_counted(session, work);
    for (size_t i = count; i > 0; i--) {
        end_watch(&watches[i - 1]);
    }
    for (size_t i = 0; i < count; i++) {
        count_idle(&watches[i].last, watches[i].set, watches[i].group);
        add_system(session, watches[i].set, &watches[i].work, &watches[i].first, &watches[i].last);
    }
}

static void keep_sample(struct session_metric *metric, bool energy)
{
    if (metric->n == READING_SAMPLES_MAX) {
        return;
    }
    // Less than the background is nothing that this program moved.
    double total = metric->total > 0 ? metric->total : 0;
    double seen = energy ? total : total + metric->background;
    metric->samples[metric->n++] = total;
    metric->background_fraction = seen > 0 ? metric->background / seen : 0;
}

static void begin_sample(struct counter_session *session)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        session->metrics[m].total = 0;
        session->metrics[m].background = 0;
    }
}

static void keep_samples(struct counter_session *session, bool energy_alone)
{
    session->set = 0;
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        bool energy = is_energy((enum metric)m);
        if (session->plan.metrics[m].fault == FAULT_NONE && (energy || !energy_alone)) {
            keep_sample(&session->metrics[m], energy);
        }
    }
}

void counter_session_measure(struct counter_session *session, const struct counter_work *work)
{
    begin_sample(session);
    size_t passes = counter_session_passes(session);
    for (session->set = 0; session->set < passes; session->set++) {
        measure_pass(session, work);
    }
    counter_energy_measure(session, work);
    keep_samples(session, false);
}

void counter_session_measure_energy(struct counter_session *session,
                                    const struct counter_work *work)
{
    size_t passes = counter_session_passes(session);
    begin_sample(session);
    for (session->set = 0; session->set < passes; session->set++) {
        struct watch watches[COUNTER_SOURCES_MAX];
        size_t count = find_watches(watches, session);
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            any = any || has_energy(watches[i].set);
        }
        if (any) {
            measure_pass(session, work);
        }
    }
    counter_energy_measure(session, work);
    keep_samples(session, true);
}
