// What a session answers when it is asked for its counts.
#include "profiler/counter_energy.h"
#include "profiler/counter_session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EVENT_NAME = 160 };

void counter_session_reset(struct counter_session *session)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        session->metrics[m] =
            (struct session_metric){.fault = FAULT_NONE, .running_fraction = (double)NAN};
    }
    session->idle_seconds = 0;
}

bool counter_session_counts(const struct counter_session *session)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        if (session->plan.metrics[m].fault == FAULT_NONE) {
            return true;
        }
    }
    return false;
}

bool counter_session_has_energy(const struct counter_session *session)
{
    return session->plan.metrics[METRIC_PACKAGE_JOULES].fault == FAULT_NONE;
}

size_t counter_session_passes(const struct counter_session *session)
{
    size_t passes = session->plan.thread_count;
    for (size_t s = 0; s < session->source_count; s++) {
        size_t sets = 0;
        for (size_t i = 0; i < session->plan.system_count; i++) {
            sets += session->plan.system_sets[i].opened == &session->sources[s] ? 1 : 0;
        }
        passes = sets > passes ? sets : passes;
    }
    return passes;
}

const struct event_table *counter_session_table(const struct counter_session *session)
{
    return session->table;
}

const struct certificate_entry *counter_session_certificate(size_t *count,
                                                            const struct counter_session *session)
{
    *count = session->certificate.count;
    return session->certificate.entries;
}

const struct certificate_suspicion *
counter_session_suspicions(size_t *count, const struct counter_session *session)
{
    *count = session->certificate.suspicion_count;
    return session->certificate.suspicions;
}

const struct counter_surroundings *
counter_session_surroundings(const struct counter_session *session)
{
    return &session->surroundings;
}

const char *counter_session_note(const struct counter_session *session, enum metric metric)
{
    const struct metric_plan *plan = &session->plan.metrics[metric];
    bool by_row = plan->fault == FAULT_NONE && !counter_energy_is_powercap(session, metric);
    for (size_t i = 0; by_row && i < session->table->row_count; i++) {
        const struct event_row *row = &session->table->rows[i];
        if (row->metric == metric && row->rank == plan->rank && row->note != NULL) {
            return row->note;
        }
    }
    return "";
}

static size_t events_of(struct counter_event *out, size_t max, const struct counter_set *set,
                        bool skip_guard, enum metric metric)
{
    size_t count = 0;
    for (size_t i = set->guarded && skip_guard ? 1 : 0; i < set->count && count < max; i++) {
        if (set->events[i].row->metric == metric) {
            out[count++] = set->events[i];
        }
    }
    return count;
}

size_t counter_session_events(struct counter_event *out, size_t max,
                              const struct counter_session *session, enum metric metric)
{
    const struct counter_plan *plan = &session->plan;
    size_t count = 0;
    if (plan->metrics[metric].fault != FAULT_NONE) {
        return 0;
    }
    for (size_t i = 0; i < plan->thread_count; i++) {
        count += events_of(out + count, max - count, &plan->thread_sets[i], i > 0, metric);
    }
    for (size_t i = 0; i < plan->system_count; i++) {
        count += events_of(out + count, max - count, &plan->system_sets[i], false, metric);
    }
    return count;
}

// An event as its table's row names it: PMU/name/ or the name alone.
static void name_event(char *out, size_t size, const struct event_row *row)
{
    char code[24];
    (void)snprintf(code, sizeof code, "0x%llx", (unsigned long long)row->config);
    const char *name = row->event != NULL ? row->event : code;
    name = row->terms != NULL ? row->terms : name;
    const char *slash = row->pmu != NULL ? "/" : "";
    (void)snprintf(out, size, "%s%s%s%s", row->pmu != NULL ? row->pmu : "", slash, name, slash);
}

// Names of a metric's rows at the rank in use, joined by " + "; cut off with "...".
static void list_events(char *out, size_t size, const struct event_table *table, enum metric metric,
                        unsigned rank)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < table->row_count; i++) {
        const struct event_row *row = &table->rows[i];
        if (row->metric != metric || row->rank != rank) {
            continue;
        }
        char name[EVENT_NAME];
        name_event(name, sizeof name, row);
        int length = snprintf(out + used, size - used, "%s%s", used > 0 ? " + " : "", name);
        if (length < 0 || (size_t)length >= size - used) {
            (void)snprintf(out + (size > 4 ? size - 4 : 0), 4, "...");
            return;
        }
        used += (size_t)length;
    }
}

static struct reading absent_metric(const struct counter_session *session, enum metric metric,
                                    enum counter_fault fault)
{
    const struct metric_plan *plan = &session->plan.metrics[metric];
    const struct reading *powercap = counter_energy_absent(session, metric);
    if (powercap != NULL) {
        return *powercap;
    }
    char advice[COUNTER_ADVICE];
    (void)counter_advice(advice, fault,
                         plan->fault == FAULT_NONE ? plan->scope : metric_row(metric)->scope,
                         &session->surroundings);
    struct absence absence =
        counter_fault_absence(fault, plan->fault == FAULT_NONE ? "" : plan->what, advice);
    return reading_absent(absence.state, absence.text, absence.try_);
}

void counter_session_read(struct result_counter *out, const struct counter_session *session,
                          enum metric metric)
{
    const struct metric_plan *plan = &session->plan.metrics[metric];
    const struct session_metric *measured = &session->metrics[metric];
    enum counter_fault fault = plan->fault != FAULT_NONE ? plan->fault : measured->fault;
    *out = (struct result_counter){.running_fraction = (double)NAN};
    (void)snprintf(out->metric, sizeof out->metric, "%s", metric_row(metric)->name);
    (void)snprintf(
        out->scope, sizeof out->scope, "%s",
        metric_scope_name(plan->fault == FAULT_NONE ? plan->scope : metric_row(metric)->scope));
    if (plan->fault == FAULT_NONE) {
        (void)snprintf(out->source, sizeof out->source, "%s", plan->source->name);
        if (counter_energy_is_powercap(session, metric)) {
            (void)snprintf(out->events, sizeof out->events, "%s",
                           counter_energy_names(session, metric));
        } else {
            list_events(out->events, sizeof out->events, session->table, metric, plan->rank);
        }
        out->running_fraction = measured->running_fraction;
    }
    if (fault != FAULT_NONE) {
        out->value = absent_metric(session, metric, fault);
    } else if (measured->n == 0) {
        out->value = reading_absent(ABSENT_NOT_ASKED, "nothing was measured yet", NULL);
    } else {
        out->value = reading_of_samples(measured->samples, measured->n, metric_row(metric)->better,
                                        ORIGIN_COUNTED);
        out->background_fraction =
            plan->scope == SCOPE_SYSTEM ? measured->background_fraction : (double)NAN;
    }
}

static void add_reading(struct reading *sum, const struct reading *part)
{
    for (size_t i = 0; i < sum->n && i < part->n; i++) {
        sum->samples[i] += part->samples[i];
    }
    sum->n = part->n < sum->n ? part->n : sum->n;
}

// Sum over metrics, sample by sample; absent if a metric that the family counts is absent.
static void sum_metrics(struct reading *out, const struct counter_session *session,
                        const enum metric *metrics, size_t count, enum better better)
{
    struct result_counter counter;
    bool any = false;
    *out = reading_absent(ABSENT_UNSUPPORTED, "this CPU family counts none of them", NULL);
    for (size_t i = 0; i < count; i++) {
        if (session->table->absent[metrics[i]] != NULL) {
            continue;
        }
        counter_session_read(&counter, session, metrics[i]);
        if (!reading_is_present(&counter.value)) {
            *out = counter.value;
            return;
        }
        if (any) {
            add_reading(out, &counter.value);
        } else {
            *out = counter.value;
            any = true;
        }
    }
    if (any) {
        *out = reading_of_samples(out->samples, out->n, better, ORIGIN_COUNTED);
    }
}

void counter_session_flop(struct reading *out, const struct counter_session *session)
{
    static const enum metric metrics[] = {METRIC_FLOP_F64, METRIC_FLOP_F32, METRIC_FLOP_F16,
                                          METRIC_FLOP_BF16};
    sum_metrics(out, session, metrics, sizeof metrics / sizeof *metrics, BETTER_HIGHER);
}

void counter_session_dram_bytes(struct reading *out, const char **place,
                                const struct counter_session *session)
{
    static const enum metric both[] = {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES};
    const struct metric_plan *reads = &session->plan.metrics[METRIC_DRAM_READ_BYTES];
    const struct metric_plan *writes = &session->plan.metrics[METRIC_DRAM_WRITE_BYTES];
    *place = "none";
    sum_metrics(out, session, both, 2, BETTER_LOWER);
    if (!reading_is_present(out) && writes->fault != FAULT_NONE &&
        session->table->absent[METRIC_DRAM_WRITE_BYTES] == NULL) {
        // Reads alone are still the greater part of inference, and say so by their place.
        sum_metrics(out, session, both, 1, BETTER_LOWER);
    }
    if (reading_is_present(out)) {
        *place = reads->scope == SCOPE_SYSTEM ? "uncore" : "core";
    }
}

void counter_session_joules(struct reading *out, const struct counter_session *session)
{
    struct result_counter memory;
    struct result_counter package;
    counter_session_read(&package, session, METRIC_PACKAGE_JOULES);
    counter_session_read(&memory, session, METRIC_DRAM_JOULES);
    *out = package.value;
    if (reading_is_present(out) && reading_is_present(&memory.value)) {
        add_reading(out, &memory.value);
        *out = reading_of_samples(out->samples, out->n, BETTER_LOWER, ORIGIN_COUNTED);
    }
}
