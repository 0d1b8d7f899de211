#include "profiler/certificate.h"

#include "profiler/certificate_channels.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_SHORT = 20000,
    ROUNDS_FULL = 2000000,
    BUFFER_SHORT_BYTES = 4 << 20,
    BUFFER_FULL_BYTES = 64 << 20
};

// Accepted ratios of counted to expected. Instructions and operations are exact but for starting
// and stopping; lines may be fetched twice or evicted early; a controller serves others as well.
static const double exact_low = 0.99;
static const double exact_high = 1.02;
static const double cycles_low = 0.95;
static const double cycles_high = 1.30;
static const double bytes_low = 0.80;
static const double core_bytes_high = 1.25;
static const double uncore_bytes_high = 1.50;
static const double start_stop_instructions = 3000;

static bool is_flop(enum metric metric)
{
    return metric == METRIC_FLOP_F64 || metric == METRIC_FLOP_F32 || metric == METRIC_FLOP_F16 ||
           metric == METRIC_FLOP_BF16;
}

static void around(double *low, double *high, double expected, double from, double to)
{
    *low = expected * from;
    *high = expected * to;
}

bool certificate_expected(double *expected, double *low, double *high,
                          const struct counter_event *event, enum known_work work,
                          struct known_amount amount)
{
    const struct event_row *row = event->row;
    bool counts = (row->work & KNOWN_BIT(work)) != 0;
    if (row->metric == METRIC_INSTRUCTIONS && amount.instructions > 0) {
        *expected = amount.instructions;
        around(low, high, *expected, exact_low, exact_high);
        *high += start_stop_instructions;
        return true;
    }
    if (row->metric == METRIC_CYCLES && amount.cycles > 0) {
        *expected = amount.cycles;
        around(low, high, *expected, cycles_low, cycles_high);
        return true;
    }
    if (is_flop(row->metric) && amount.flop > 0) {
        *expected = counts ? amount.flop : 0;
        around(low, high, *expected, exact_low, exact_high);
        *high += (exact_high - 1) * amount.flop; // what it must not count may not show either
        return true;
    }
    double bytes = work == KNOWN_READ ? amount.read_bytes : amount.write_bytes;
    if (counts && bytes > 0) {
        *expected = bytes;
        around(low, high, bytes, bytes_low, event->cpu < 0 ? core_bytes_high : uncore_bytes_high);
        return true;
    }
    return false;
}

static bool is_memory(enum known_work work)
{
    return work == KNOWN_READ || work == KNOWN_WRITE;
}

// Whether the kernel says something about one of the events worth its time.
static bool is_wanted(const struct counter_event *events, size_t count, enum known_work work,
                      bool fully)
{
    for (size_t i = 0; i < count; i++) {
        const struct event_row *row = events[i].row;
        if ((row->work & KNOWN_BIT(work)) != 0 ||
            (row->metric == METRIC_INSTRUCTIONS && work == KNOWN_LOOP) ||
            (row->metric == METRIC_CYCLES && work == KNOWN_CHAIN) ||
            (fully && is_flop(row->metric) && !is_memory(work))) {
            return true;
        }
    }
    return false;
}

// Runs one kernel under the group, the thread carrying its name.
static enum counter_fault count_kernel(struct counter_interval *out,
                                       const struct counter_source *source, void *group,
                                       const struct counter_event *events, size_t count,
                                       enum known_work work, uint64_t rounds,
                                       struct known_buffer *buffer)
{
    struct counter_values before = {.value = {0}};
    struct counter_values after = {.value = {0}};
    char name[16] = "";
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    known_work_prepare(work, buffer);
    enum counter_fault fault =
        source->counts_from_start ? FAULT_NONE : source->read(&before, group);
    if (fault != FAULT_NONE) {
        return fault;
    }
    (void)pthread_setname_np(pthread_self(), known_work_name(work));
    fault = source->start(group);
    if (fault == FAULT_NONE) {
        known_work_run(work, rounds, buffer);
        fault = source->stop(group);
    }
    if (fault == FAULT_NONE) {
        fault = source->read(&after, group);
    }
    (void)pthread_setname_np(pthread_self(), name);
    counter_interval_of(out, events, count, &before, &after);
    return fault;
}

static void append(struct certificate *out, const struct certificate_entry *entry)
{
    struct certificate_entry *grown =
        realloc(out->entries, (out->count + 1) * sizeof *out->entries);
    if (grown != NULL) { // without memory the proof is shorter, its verdicts stay
        grown[out->count++] = *entry;
        out->entries = grown;
    }
}

static bool same_sum(const struct counter_event *a, const struct counter_event *b,
                     enum known_work work)
{
    return a->row->metric == b->row->metric && (a->row->work & KNOWN_BIT(work)) != 0 &&
           (b->row->work & KNOWN_BIT(work)) != 0;
}

// Bytes are proved as a sum: every channel of a socket sees only its part. *others is the number
// of events besides the first in it; false if event i is not the first.
static bool sum_of(double *counted, enum counter_fault *fault, size_t *others, size_t i,
                   const struct counter_event *events, size_t count, enum known_work work,
                   const struct counter_interval *interval)
{
    *counted = interval->count[i] * events[i].weight;
    *fault = interval->fault[i];
    *others = 0;
    if (!is_memory(work)) {
        return true;
    }
    for (size_t k = 0; k < count; k++) {
        if (k != i && same_sum(&events[i], &events[k], work)) {
            if (k < i) {
                return false;
            }
            *counted += interval->count[k] * events[k].weight;
            *fault = counter_fault_worse(*fault, interval->fault[k]);
            (*others)++;
        }
    }
    return true;
}

// What was counted against what it had to be, when nothing else was wrong.
static enum counter_fault fault_of(const struct certificate_entry *entry)
{
    bool inside = entry->counted >= entry->low && entry->counted <= entry->high;
    return entry->fault == FAULT_NONE && !inside ? FAULT_LIES : entry->fault;
}

// The fault of event `i` and, where it was judged by its sum with others, theirs too.
static void mark_faults(enum counter_fault *faults, enum counter_fault fault, size_t i,
                        const struct counter_event *events, size_t count, enum known_work work)
{
    faults[i] = counter_fault_worse(faults[i], fault);
    for (size_t k = i + 1; is_memory(work) && k < count; k++) {
        if (same_sum(&events[i], &events[k], work)) {
            faults[k] = counter_fault_worse(faults[k], fault);
        }
    }
}

static void judge(struct certificate *out, enum counter_fault *faults,
                  const struct counter_source *source, const struct counter_event *events,
                  size_t count, enum known_work work, struct known_amount amount,
                  const struct counter_interval *interval)
{
    for (size_t i = 0; i < count; i++) {
        struct certificate_entry entry = {.metric = events[i].row->metric,
                                          .source = source->name,
                                          .kernel = known_work_name(work)};
        size_t others = 0;
        if (!certificate_expected(&entry.expected, &entry.low, &entry.high, &events[i], work,
                                  amount) ||
            !sum_of(&entry.counted, &entry.fault, &others, i, events, count, work, interval)) {
            continue;
        }
        entry.fault = fault_of(&entry);
        (void)snprintf(entry.event, sizeof entry.event,
                       others > 0 ? "%.120s and %zu more" : "%.120s", events[i].label, others);
        append(out, &entry);
        mark_faults(faults, entry.fault, i, events, count, work);
    }
}

// True if the work needs no buffer, or there is one by now.
static bool has_buffer(struct known_buffer *buffer, enum known_work work, bool fully)
{
    size_t bytes = fully ? BUFFER_FULL_BYTES : BUFFER_SHORT_BYTES;
    return !is_memory(work) || buffer->bytes != NULL ||
           status_is_ok(known_buffer_create(buffer, bytes));
}

void certificate_run(struct certificate *out, enum counter_fault *faults,
                     const struct counter_source *source, void *group,
                     const struct counter_event *events, size_t count,
                     const struct certificate_options *options)
{
    struct known_buffer buffer = {.bytes = NULL};
    uint64_t rounds = options->fully ? ROUNDS_FULL : ROUNDS_SHORT;
    for (unsigned k = 0; k < KNOWN_WORK_COUNT; k++) {
        enum known_work work = (enum known_work)k;
        if (!known_work_runs(work, options->isa) ||
            !is_wanted(events, count, work, options->fully) ||
            !has_buffer(&buffer, work, options->fully)) {
            continue;
        }
        struct counter_interval interval = {.count = {0}};
        enum counter_fault fault =
            count_kernel(&interval, source, group, events, count, work, rounds, &buffer);
        for (size_t i = 0; fault != FAULT_NONE && i < count; i++) {
            interval.fault[i] = fault;
        }
        struct known_amount amount = known_work_amount(work, options->isa, rounds, &buffer);
        judge(out, faults, source, events, count, work, amount, &interval);
        if (is_memory(work)) {
            certificate_compare_channels(
                out, events, count, work,
                work == KNOWN_READ ? amount.read_bytes : amount.write_bytes, &interval);
        }
    }
    known_buffer_free(&buffer);
}

void certificate_result(struct result_certificate *out, const struct certificate_entry *entry)
{
    *out = (struct result_certificate){
        .expected = entry->expected,
        .counted = entry->counted,
        .ratio = entry->expected > 0 ? entry->counted / entry->expected : (double)NAN,
        .low = entry->low,
        .high = entry->high,
        .passed = entry->fault == FAULT_NONE,
    };
    (void)snprintf(out->event, sizeof out->event, "%s", entry->event);
    (void)snprintf(out->metric, sizeof out->metric, "%s", metric_row(entry->metric)->name);
    (void)snprintf(out->source, sizeof out->source, "%s", entry->source);
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", entry->kernel);
}

void certificate_free(struct certificate *certificate)
{
    free(certificate->entries);
    free(certificate->suspicions);
    *certificate = (struct certificate){.entries = NULL};
}
