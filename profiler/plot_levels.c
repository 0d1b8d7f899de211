#include "profiler/metric.h"
#include "profiler/plot_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The levels whose traffic counters tell, from the cores outwards: bytes that cross from the level
// into the next inner one are served at most at its read bandwidth. What the cores load from L1 is
// not counted.
static const struct {
    const char *level;
    const char *label;
    enum metric metrics[2]; // summed; the second METRIC_COUNT: none
    unsigned colour;
    char letter;
} levels[] = {
    {"L2", "bytes L2 to L1", {METRIC_L1_L2_BYTES, METRIC_COUNT}, 2, '2'},
    {"L3", "bytes L3 to L2", {METRIC_L2_L3_BYTES, METRIC_COUNT}, 1, '3'},
    {"DRAM", "bytes of DRAM", {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES}, 0, 'D'},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static const struct result_counter *counter_of(const struct result_point *point, enum metric metric)
{
    for (size_t i = 0; metric < METRIC_COUNT && i < point->counter_count; i++) {
        if (strcmp(point->counters[i].metric, metric_row(metric)->name) == 0 &&
            reading_is_present(&point->counters[i].value)) {
            return &point->counters[i];
        }
    }
    return NULL;
}

// Bytes of one call that a level served; NaN where its first metric was not counted.
static double level_bytes(bool *hollow, const struct result_point *point, size_t level)
{
    double bytes = (double)NAN;
    *hollow = false;
    for (size_t m = 0; m < 2; m++) {
        const struct result_counter *counter = counter_of(point, levels[level].metrics[m]);
        if (counter != NULL) {
            bytes = m == 0 ? counter->value.value : bytes + counter->value.value;
            *hollow = *hollow || counter->running_fraction < 0.95;
        }
    }
    return bytes;
}

// The read roof of a level: the run's own, else the best of the other files (a profile laid over).
static double level_rate(const struct plot *plot, unsigned run, const char *level)
{
    double own = (double)NAN;
    double best = (double)NAN;
    size_t length = strlen(level);
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        bool same = roof->role == PLOT_MEMORY && strncmp(roof->label, level, length) == 0 &&
                    strchr("0123456789", roof->label[length + 1]) != NULL;
        own = same && roof->run == run ? fmax(own, roof->rate) : own;
        best = same ? fmax(best, roof->rate) : best;
    }
    return isnan(own) ? best : own;
}

static void add_key_of_level(struct plot *plot, size_t level)
{
    struct plot_key *key = &plot->colour_keys[plot->colour_key_count++];
    (void)snprintf(key->label, sizeof key->label, "%s", levels[level].label);
    key->colour = levels[level].colour;
    key->letter = levels[level].letter;
}

static bool add_level(struct plot *plot, const struct result_run *runs, unsigned run, size_t index,
                      size_t level)
{
    const struct result_point *from = &runs[run].points[index];
    bool hollow = false;
    double bytes = level_bytes(&hollow, from, level);
    if (!plot_drawable(bytes) || !plot_drawable(from->flop) || !plot_present(&from->flop_per_s)) {
        return false;
    }
    struct plot_point *point = &plot->points[plot->point_count++];
    double intensity = from->flop / bytes;
    double compute =
        plot_present(&from->roof_flop_per_s) ? from->roof_flop_per_s.value : (double)INFINITY;
    *point = (struct plot_point){
        .x = intensity,
        .y = from->flop_per_s.value,
        .y_low = plot_drawable(from->flop_per_s.ci95_low) ? from->flop_per_s.ci95_low : (double)NAN,
        .y_high =
            plot_drawable(from->flop_per_s.ci95_high) ? from->flop_per_s.ci95_high : (double)NAN,
        .attainable = intensity * level_rate(plot, run, levels[level].level),
        .colour = (unsigned)level,
        .mark = plot_add_mark(plot, from),
        .hollow = hollow,
        .run = run,
        .index = index};
    point->attainable =
        isnan(point->attainable) ? point->attainable : fmin(point->attainable, compute);
    return true;
}

struct status plot_add_levels(struct plot *plot, const struct result_run *runs, size_t run_count,
                              const char *const *labels)
{
    size_t most = 0;
    (void)labels; // colours are levels, whatever the run
    for (size_t i = 0; i < run_count; i++) {
        most += LEVELS * runs[i].point_count;
    }
    plot->points = calloc(most + 1, sizeof *plot->points);
    if (plot->points == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to lay out the plot");
    }
    for (size_t level = 0; level < LEVELS; level++) {
        add_key_of_level(plot, level);
    }
    for (unsigned run = 0; run < run_count; run++) {
        for (size_t i = 0; i < runs[run].point_count; i++) {
            bool any = false;
            for (size_t level = 0; level < LEVELS; level++) {
                any = add_level(plot, runs, run, i, level) || any;
            }
            plot->skipped += any ? 0 : 1;
        }
    }
    return plot->point_count > 0
               ? status_ok()
               : status_error(
                     STATUS_INVALID,
                     "picture 'hierarchy': found no point whose counters tell the bytes "
                     "of a level, accepted a run with them (lmroof run --counters require; "
                     "'lmroof counters' says what can be counted)");
}

// The operator right of the outermost of its marks: all of them are at its height.
struct status plot_add_level_notes(struct plot *plot, const struct result_run *run)
{
    enum { CROWDED = 120 };
    plot->notes = calloc(PLOT_KEYS_MAX, sizeof *plot->notes);
    if (plot->notes == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to lay out the plot");
    }
    for (size_t i = 0; i < plot->point_count && plot->point_count < CROWDED; i++) {
        const struct plot_point *at = &plot->points[i];
        bool last = i + 1 == plot->point_count || plot->points[i + 1].index != at->index;
        const struct result_point *point = &run->points[at->index];
        struct plot_note note = {.x = at->x * 1.6, .y = at->y};
        (void)snprintf(note.text, sizeof note.text, "%.12s b%u", point->operator_, point->batch);
        if (last && plot->note_count < PLOT_KEYS_MAX) {
            plot_add_note(plot, note);
        }
    }
    return status_ok();
}
