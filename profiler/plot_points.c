#include "profiler/plot_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The palette and the terminal's letters, by operator: the same in every picture.
static const struct {
    const char *name;
    char letter;
} operators[] = {{"qkv", 'q'},   {"attention", 'a'}, {"attn_out", 'o'}, {"gate_up", 'g'},
                 {"down", 'd'},  {"head", 'h'},      {"router", 'r'},   {"experts", 'e'},
                 {"norms", 'n'}, {"act_quant", 'c'}, {"rope", 'p'}};
enum { OPERATORS = sizeof operators / sizeof *operators };

static struct status short_of_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory to lay out the plot");
}

static double drawable_or_nan(double value)
{
    return plot_drawable(value) ? value : (double)NAN;
}

static unsigned add_key(struct plot_key *keys, size_t *count, const char *label, unsigned colour,
                        char letter)
{
    for (unsigned i = 0; i < *count; i++) {
        if (strcmp(keys[i].label, label) == 0) {
            return i;
        }
    }
    if (*count == PLOT_KEYS_MAX) {
        return PLOT_KEYS_MAX - 1;
    }
    struct plot_key *key = &keys[*count];
    (void)snprintf(key->label, sizeof key->label, "%s", label);
    key->colour = colour;
    key->letter = letter;
    key->mark = (enum plot_mark)(*count % PLOT_MARKS);
    return (unsigned)(*count)++;
}

static unsigned operator_key(struct plot *plot, const char *name)
{
    unsigned colour = 0;
    while (colour < OPERATORS && strcmp(operators[colour].name, name) != 0) {
        colour++;
    }
    char letter = colour < OPERATORS ? operators[colour].letter : 'x';
    return add_key(plot->colour_keys, &plot->colour_key_count, name, colour, letter);
}

static void add_run_keys(struct plot *plot, size_t run_count, const char *const *labels)
{
    for (unsigned i = 0; i < run_count; i++) {
        char label[PLOT_TEXT];
        // Numbered, so that two runs of one name stay two.
        (void)snprintf(label, sizeof label, "%u: %s", i + 1, labels[i]);
        (void)add_key(plot->colour_keys, &plot->colour_key_count, label, i,
                      (char)(i < 9 ? '1' + (int)i : '+'));
    }
}

// ---- points

static bool is_hollow(const struct result_point *point)
{
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct result_counter *counter = &point->counters[i];
        if (reading_is_present(&counter->value) && counter->running_fraction < 0.95) {
            return true;
        }
    }
    return false;
}

unsigned plot_add_mark(struct plot *plot, const struct result_point *point)
{
    char kind[PLOT_TEXT];
    (void)snprintf(kind, sizeof kind, "%s %s", point->phase, point->dtype);
    return add_key(plot->mark_keys, &plot->mark_key_count, kind, 0, 'o');
}

static void add_point(struct plot *plot, const struct result_run *runs, unsigned run, size_t index,
                      bool by_operator)
{
    const struct result_point *from = &runs[run].points[index];
    if (!plot_drawable(from->flop_per_byte_predicted) || !plot_present(&from->flop_per_s)) {
        plot->skipped++;
        return;
    }
    struct plot_point *point = &plot->points[plot->point_count++];
    const struct reading *rate = &from->flop_per_s;
    *point = (struct plot_point){.x = from->flop_per_byte_predicted,
                                 .y = rate->value,
                                 .y_low = drawable_or_nan(rate->ci95_low),
                                 .y_high = drawable_or_nan(rate->ci95_high),
                                 .attainable = drawable_or_nan(from->attainable_flop_per_s),
                                 .mark = plot_add_mark(plot, from),
                                 .hollow = is_hollow(from),
                                 .run = run,
                                 .index = index};
    unsigned last = PLOT_KEYS_MAX - 1;
    point->colour = by_operator ? operator_key(plot, from->operator_) : run < last ? run : last;
}

struct status plot_add_points(struct plot *plot, const struct result_run *runs, size_t run_count,
                              const char *const *labels)
{
    size_t most = 0;
    for (size_t i = 0; i < run_count; i++) {
        most += runs[i].point_count;
    }
    plot->points = calloc(most + 1, sizeof *plot->points);
    if (plot->points == NULL) {
        return short_of_memory();
    }
    if (run_count > 1) {
        add_run_keys(plot, run_count, labels);
    }
    for (unsigned run = 0; run < run_count; run++) {
        for (size_t i = 0; i < runs[run].point_count; i++) {
            add_point(plot, runs, run, i, run_count == 1);
        }
    }
    return status_ok();
}

// Points of one batch that share their intensity: they stand in a column.
struct column {
    char text[32];
    double x_low, x_high, y_low;
};

// Attention is told by what it reads, where the run has several contexts.
static void note_text(char out[32], const struct result_point *point)
{
    if (strcmp(point->phase, "prefill") == 0) {
        (void)snprintf(out, 32, "%llu tokens",
                       (unsigned long long)(point->prompt * (uint64_t)point->batch));
    } else if (strcmp(point->operator_, "attention") == 0) {
        (void)snprintf(out, 32, "%llu cached", (unsigned long long)point->context);
    } else {
        (void)snprintf(out, 32, "batch %u", point->batch);
    }
}

static void add_to_column(struct column *columns, size_t *count, const struct plot_point *point,
                          const char *text)
{
    for (size_t i = 0; i < *count; i++) {
        struct column *column = &columns[i];
        if (strcmp(column->text, text) == 0 && point->x < column->x_low * 1.25 &&
            point->x > column->x_high / 1.25) {
            column->x_low = fmin(column->x_low, point->x);
            column->x_high = fmax(column->x_high, point->x);
            column->y_low = fmin(column->y_low, point->y);
            return;
        }
    }
    if (*count < PLOT_KEYS_MAX) {
        struct column *column = &columns[(*count)++];
        (void)snprintf(column->text, sizeof column->text, "%s", text);
        column->x_low = column->x_high = point->x;
        column->y_low = point->y;
    }
}

// Nearer than a text is wide and high, as parts of the axes, to another note; than half of it to a
// point.
static bool hides_another(const struct plot *plot, const struct plot_note *note)
{
    double wide = 0.085 * log(plot->x.high / plot->x.low);
    double high = 0.035 * log(plot->y.high / plot->y.low);
    bool hides = false;
    for (size_t i = 0; i < plot->note_count; i++) {
        const struct plot_note *other = &plot->notes[i];
        hides =
            hides || (fabs(log(other->x / note->x)) < wide && fabs(log(other->y / note->y)) < high);
    }
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *point = &plot->points[i];
        hides = hides || (fabs(log(point->x / note->x)) < wide / 2 &&
                          fabs(log(point->y / note->y)) < high * 0.75);
    }
    return hides;
}

void plot_add_note(struct plot *plot, struct plot_note note)
{
    for (int tries = 0; tries < 6 && note.y > plot->y.low * 1.1; tries++, note.y /= 1.22) {
        if (!hides_another(plot, &note)) {
            plot->notes[plot->note_count++] = note;
            return;
        }
    }
}

static bool several_contexts(const struct result_run *run)
{
    const struct result_point *first = NULL;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        if (strcmp(point->phase, "decode") == 0) {
            first = first == NULL ? point : first;
            if (point->context != first->context) {
                return true;
            }
        }
    }
    return false;
}

struct status plot_add_notes(struct plot *plot, const struct result_run *run)
{
    enum { CROWDED = 600 };
    struct column columns[PLOT_KEYS_MAX];
    size_t count = 0;
    plot->notes = calloc(PLOT_KEYS_MAX, sizeof *plot->notes);
    if (plot->notes == NULL) {
        return short_of_memory();
    }
    for (size_t i = 0; i < plot->point_count && plot->point_count < CROWDED; i++) {
        const struct result_point *point = &run->points[plot->points[i].index];
        char text[32];
        // Attention has an intensity of its own, and so has prefill's head, of one row a sequence.
        bool prefill = strcmp(point->phase, "prefill") == 0;
        bool alone =
            (strcmp(point->operator_, "attention") == 0 && (prefill || !several_contexts(run))) ||
            (prefill && strcmp(point->operator_, "head") == 0);
        if (!alone) {
            note_text(text, point);
            add_to_column(columns, &count, &plot->points[i], text);
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct plot_note note = {.x = sqrt(columns[i].x_low * columns[i].x_high),
                                 .y = columns[i].y_low / 1.35};
        memcpy(note.text, columns[i].text, sizeof note.text);
        plot_add_note(plot, note);
    }
    return status_ok();
}
