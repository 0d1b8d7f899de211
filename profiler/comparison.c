#include "profiler/comparison.h"

#include "profiler/machine_rates.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *comparison_unit_name(enum comparison_unit unit)
{
    static const char *const names[] = {[COMPARISON_BYTES_PER_S] = "B/s",
                                        [COMPARISON_FLOP_PER_S] = "FLOP/s",
                                        [COMPARISON_SECONDS] = "s"};
    return names[unit];
}

const char *comparison_mark_name(enum comparison_mark mark)
{
    switch (mark) {
    case COMPARISON_CLASS:
        return "class";
    case COMPARISON_THREADS:
        return "threads_per_core";
    case COMPARISON_PAGES:
        return "pages";
    case COMPARISON_PLACEMENT:
        return "placement";
    case COMPARISON_ORIGIN:
        return "origin";
    case COMPARISON_UNSTEADY:
        return "unsteady";
    }
    return "";
}

static struct comparison_entry *entry_of(struct comparison *out, const char *name,
                                         enum comparison_unit unit, size_t machine)
{
    for (size_t i = 0; i < out->row_count; i++) {
        if (strcmp(out->rows[i].name, name) == 0) {
            return &out->rows[i].entries[machine];
        }
    }
    struct comparison_row *row = result_append(&out->rows, &out->row_count, sizeof *row);
    if (row == NULL) {
        return NULL;
    }
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    row->unit = unit;
    row->entries = calloc(out->machine_count, sizeof *row->entries);
    return row->entries == NULL ? NULL : &row->entries[machine];
}

// Keeps the better of what the entry has and a new reading.
static struct status offer(struct comparison *out, size_t machine, const char *name,
                           enum comparison_unit unit, struct comparison_entry offered)
{
    if (!reading_is_present(offered.reading) || !(offered.reading->value > 0)) {
        return status_ok();
    }
    struct comparison_entry *entry = entry_of(out, name, unit, machine);
    if (entry == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the ceilings");
    }
    bool better = entry->reading == NULL ||
                  (unit == COMPARISON_SECONDS ? offered.reading->value < entry->reading->value
                                              : offered.reading->value > entry->reading->value);
    if (better) {
        *entry = offered;
    }
    return status_ok();
}

static struct status offer_ceilings(struct comparison *out, size_t machine)
{
    const struct result_machine *roofs = &out->machines[machine].run.machine;
    char name[64];
    for (size_t i = 0; i < roofs->bandwidth_count; i++) {
        const struct result_bandwidth *roof = &roofs->bandwidth[i];
        (void)snprintf(name, sizeof name, "%s %s", roof->level, roof->kernel);
        TRY(offer(out, machine, name, COMPARISON_BYTES_PER_S,
                  (struct comparison_entry){.reading = &roof->bytes_per_s,
                                            .threads = roof->threads,
                                            .class_ = roof->variant}));
    }
    for (size_t i = 0; i < roofs->compute_count; i++) {
        const struct result_compute *roof = &roofs->compute[i];
        bool sheet = roof->flop_per_s.origin == ORIGIN_DATASHEET;
        (void)snprintf(name, sizeof name, "%s %s", roof->dtype, roof->kind);
        if (roof->verified || sheet) {
            TRY(offer(out, machine, name, COMPARISON_FLOP_PER_S,
                      (struct comparison_entry){.reading = &roof->flop_per_s,
                                                .threads = roof->threads,
                                                .class_ = roof->class_}));
        }
    }
    for (size_t i = 0; i < roofs->latency_count; i++) {
        (void)snprintf(name, sizeof name, "%s latency", roofs->latency[i].level);
        TRY(offer(out, machine, name, COMPARISON_SECONDS,
                  (struct comparison_entry){.reading = &roofs->latency[i].seconds}));
    }
    return status_ok();
}

static unsigned fact_number(const struct machine_source *source, const char *name)
{
    const char *text = machine_source_fact(source, name);
    return text == NULL ? 0 : (unsigned)strtoul(text, NULL, 10);
}

static bool warns_unsteady(const struct result_run *run)
{
    static const char *const codes[] = {"unsteady", "implausible", "level_order", "disturbed"};
    for (size_t i = 0; i < run->warning_count; i++) {
        for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
            if (strcmp(run->warnings[i].code, codes[c]) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void find_conditions(struct comparison_conditions *out, const struct machine_source *source)
{
    const struct result_bandwidth *read = machine_read_roof(&source->run.machine);
    unsigned cores = fact_number(source, "cores");
    out->threads = read == NULL ? fact_number(source, "threads") : read->threads;
    out->threads_per_core =
        cores == 0 || out->threads == 0 ? 0 : (out->threads + cores - 1) / cores;
    out->page_bytes = read == NULL ? 0 : read->page_bytes;
    out->placement = read == NULL ? NULL : read->placement;
    out->unsteady = warns_unsteady(&source->run);
    out->complete = source->run.complete;
}

static bool has_interval(const struct reading *reading)
{
    return isfinite(reading->ci95_low) && isfinite(reading->ci95_high);
}

static bool is_wide(const struct reading *reading)
{
    return has_interval(reading) &&
           reading->ci95_high - reading->ci95_low > READING_WIDE_FRACTION * reading->value;
}

static unsigned condition_marks(const struct comparison_conditions *a,
                                const struct comparison_conditions *b)
{
    unsigned marks = 0;
    if (a->threads_per_core != b->threads_per_core && a->threads_per_core > 0 &&
        b->threads_per_core > 0) {
        marks |= COMPARISON_THREADS;
    }
    if (a->page_bytes != b->page_bytes && a->page_bytes > 0 && b->page_bytes > 0) {
        marks |= COMPARISON_PAGES;
    }
    if (a->placement != NULL && b->placement != NULL && strcmp(a->placement, b->placement) != 0) {
        marks |= COMPARISON_PLACEMENT;
    }
    return marks | (a->unsteady || b->unsteady ? COMPARISON_UNSTEADY : 0);
}

// From the least that both intervals allow to the most: it excludes 1 where they lie apart.
static void judge_intervals(struct comparison_entry *entry, const struct reading *a,
                            const struct reading *b)
{
    entry->ratio_low = entry->ratio_high = (double)NAN;
    if (!has_interval(a) || !has_interval(b)) {
        entry->outcome = COMPARISON_NO_INTERVAL;
        return;
    }
    entry->ratio_low = a == b ? 1 : fmax(b->ci95_low, 0) / a->ci95_high;
    entry->ratio_high = a == b            ? 1
                        : a->ci95_low > 0 ? b->ci95_high / a->ci95_low
                                          : (double)INFINITY;
    if (entry->ratio_low > 1 || entry->ratio_high < 1) {
        entry->outcome = COMPARISON_DIFFERS;
    } else if (entry->ratio_low >= 1 / COMPARISON_MARGIN &&
               entry->ratio_high <= COMPARISON_MARGIN) {
        entry->outcome = COMPARISON_SAME;
    } else {
        entry->outcome = COMPARISON_CANNOT_TELL;
    }
}

static void compare_entry(struct comparison_entry *entry, const struct comparison_entry *first,
                          unsigned marks, enum comparison_unit unit)
{
    const struct reading *a = first->reading;
    const struct reading *b = entry->reading;
    entry->ratio = (double)NAN;
    if (b == NULL || a == NULL) {
        return;
    }
    bool simulated = (a->origin == ORIGIN_SIMULATED) != (b->origin == ORIGIN_SIMULATED);
    entry->refused = simulated;
    entry->ratio = simulated ? (double)NAN : b->value / a->value;
    judge_intervals(entry, a, b);
    entry->marks = marks;
    if (a->origin != b->origin) {
        entry->marks |= COMPARISON_ORIGIN;
    }
    if (is_wide(a) || is_wide(b)) {
        entry->marks |= COMPARISON_UNSTEADY;
    }
    if (unit == COMPARISON_FLOP_PER_S && strcmp(first->class_, entry->class_) != 0) {
        entry->marks |= COMPARISON_CLASS;
    }
}

static void add_unlike(struct comparison *out, const char *code, const char *text)
{
    for (size_t i = 0; i < out->unlike_count; i++) {
        if (strcmp(out->unlike[i].code, code) == 0) {
            return;
        }
    }
    if (out->unlike_count < COMPARISON_UNLIKE_MAX) {
        out->unlike[out->unlike_count++] = (struct comparison_unlike){code, text};
    }
}

static void find_unlike(struct comparison *out, size_t machine)
{
    const struct machine_source *first = &out->machines[0];
    const struct machine_source *other = &out->machines[machine];
    unsigned marks = condition_marks(&out->conditions[0], &out->conditions[machine]);
    if ((marks & COMPARISON_THREADS) != 0) {
        add_unlike(out, "threads_per_core",
                   "some were measured with one thread a core, others with more");
    }
    if ((marks & COMPARISON_PAGES) != 0) {
        add_unlike(out, "pages", "the memory had pages of different sizes");
    }
    if ((marks & COMPARISON_PLACEMENT) != 0) {
        add_unlike(out, "placement", "the memory was placed differently over the nodes");
    }
    if (out->conditions[machine].unsteady) {
        add_unlike(out, "unsteady", "a profile warns that its samples were not steady");
    }
    if (!out->conditions[machine].complete) {
        add_unlike(out, "incomplete", "a profile was ended before its time: ceilings are missing");
    }
    if (first->is_datasheet != other->is_datasheet) {
        add_unlike(out, "origin", "peaks of data sheets stand beside measured ceilings");
    }
    if (!first->is_datasheet && !other->is_datasheet &&
        strcmp(first->run.tool, other->run.tool) != 0) {
        add_unlike(out, "version", "the profiles are of different versions of the program");
    }
}

struct status comparison_compute(struct comparison *out, const struct machine_source *machines,
                                 size_t count)
{
    memset(out, 0, sizeof *out);
    out->machines = machines;
    out->machine_count = count;
    out->conditions = calloc(count + 1, sizeof *out->conditions);
    if (out->conditions == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu machines", count);
    }
    for (size_t i = 0; i < count; i++) {
        TRY(machine_source_check(&machines[i]));
        find_conditions(&out->conditions[i], &machines[i]);
        TRY(offer_ceilings(out, i));
    }
    for (size_t i = 0; i < count; i++) {
        unsigned marks = condition_marks(&out->conditions[0], &out->conditions[i]);
        find_unlike(out, i);
        for (size_t r = 0; r < out->row_count; r++) {
            struct comparison_row *row = &out->rows[r];
            compare_entry(&row->entries[i], &row->entries[0], i == 0 ? 0 : marks, row->unit);
        }
    }
    return status_ok();
}

void comparison_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->row_count; i++) {
        free(comparison->rows[i].entries);
    }
    free(comparison->rows);
    free(comparison->conditions);
    memset(comparison, 0, sizeof *comparison);
}
