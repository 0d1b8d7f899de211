#include "profiler/chart.h"

#include "profiler/result_build.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CHART_PICTURES] = {[CHART_BATCH] = "batch",
                                                  [CHART_CONTEXT] = "context",
                                                  [CHART_THREADS] = "threads",
                                                  [CHART_OPERATORS] = "operators",
                                                  [CHART_LEVELS] = "levels"};

const char *chart_name(enum chart_picture picture)
{
    return names[picture];
}

enum chart_picture chart_find(const char *name)
{
    for (int i = 0; i < CHART_PICTURES; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum chart_picture)i;
        }
    }
    return CHART_PICTURES;
}

struct making {
    struct chart *chart;
    const char *prefix; // of labels: the run's, where there are several; else ""
    bool failed;        // short of memory
};

static struct chart_series *series_of(struct chart *chart, const char *label, bool bound)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        if (chart->series[i].bound == bound && strcmp(chart->series[i].label, label) == 0) {
            return &chart->series[i];
        }
    }
    if (chart->series_count == CHART_SERIES_MAX) {
        return NULL;
    }
    struct chart_series *series = &chart->series[chart->series_count++];
    (void)snprintf(series->label, sizeof series->label, "%s", label);
    series->bound = bound;
    return series;
}

static void add_point(struct making *making, const char *label, bool bound,
                      struct chart_point point)
{
    struct chart_series *series = series_of(making->chart, label, bound);
    if (series == NULL || !isfinite(point.x) || !(point.y > 0) || !isfinite(point.y)) {
        return;
    }
    for (size_t i = 0; i < series->count; i++) {
        if (fabs(series->points[i].x - point.x) <= 0) {
            return; // the first stands
        }
    }
    struct chart_point *to = result_append(&series->points, &series->count, sizeof *to);
    if (to == NULL) {
        making->failed = true;
        return;
    }
    *to = point;
}

static void add_reading(struct making *making, const char *label, double x,
                        const struct reading *reading)
{
    if (reading_is_present(reading)) {
        add_point(making, label, false,
                  (struct chart_point){x, reading->value, reading->ci95_low, reading->ci95_high});
    }
}

static size_t category_of(struct chart *chart, const char *text)
{
    for (size_t i = 0; i < chart->category_count; i++) {
        if (strcmp(chart->categories[i], text) == 0) {
            return i;
        }
    }
    if (chart->category_count < CHART_CATEGORIES_MAX) {
        (void)snprintf(chart->categories[chart->category_count], CHART_TEXT, "%s", text);
        chart->category_count++;
        return chart->category_count - 1;
    }
    return CHART_CATEGORIES_MAX;
}

// Seconds of a whole step by one of its operators: its share tells the sum. Interval likewise; NaN
// where not all operators were run.
static struct chart_point step_rate(const struct result_point *point, double x)
{
    double tokens = point->batch;
    double per_call = point->time_share_fraction / point->layers;
    const struct reading *seconds = &point->seconds;
    return (struct chart_point){x, tokens * per_call / seconds->value,
                                tokens * per_call / seconds->ci95_high,
                                tokens * per_call / seconds->ci95_low};
}

static bool is_decode(const char *phase)
{
    return strcmp(phase, "decode") == 0;
}

// One of several numbers of threads of a run: ", 2 threads"; else "".
static const char *threads_text(char out[24], const struct result_run *run, unsigned threads)
{
    out[0] = '\0';
    if (run->sweep_count > 0) {
        (void)snprintf(out, 24, ", %u threads", threads);
    }
    return out;
}

static void sweep_label(char label[CHART_TEXT], const struct making *making,
                        const struct result_step *step, const char *what, const char *threads)
{
    bool over_batch = making->chart->picture == CHART_BATCH;
    (void)snprintf(label, CHART_TEXT, "%.60s%.15s, %s %" PRIu64 ", %s%s", making->prefix,
                   step->dtype, over_batch ? "context" : "batch",
                   over_batch ? step->context : step->batch, what, threads);
}

static void sweep_points(struct making *making, const struct result_run *run)
{
    char label[CHART_TEXT];
    char threads[24];
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        bool over_batch = making->chart->picture == CHART_BATCH;
        double x = over_batch ? point->batch : (double)point->context;
        if (is_decode(point->phase) && reading_is_present(&point->seconds) &&
            point->time_share_fraction > 0 && point->layers > 0) {
            struct result_step of = {.batch = point->batch, .context = point->context};
            (void)snprintf(of.dtype, sizeof of.dtype, "%s", result_point_recipe(point));
            sweep_label(label, making, &of, "operators",
                        threads_text(threads, run, point->threads));
            add_point(making, label, false, step_rate(point, x));
        }
    }
}

static void sweep_run(struct making *making, const struct result_run *run)
{
    char threads[24];
    bool over_batch = making->chart->picture == CHART_BATCH;
    char label[CHART_TEXT];
    for (size_t i = 0; i < run->step_count; i++) {
        const struct result_step *step = &run->steps[i];
        double x = over_batch ? step->batch : (double)step->context;
        if (is_decode(step->phase)) {
            (void)threads_text(threads, run, step->threads);
            sweep_label(label, making, step, "step", threads);
            add_reading(making, label, x, &step->tokens_per_s);
            const struct reading *bound = &step->predicted_tokens_per_s;
            sweep_label(label, making, step, "bound", threads);
            if (reading_is_present(bound)) {
                add_point(making, label, true,
                          (struct chart_point){x, bound->value, (double)NAN, (double)NAN});
            }
        }
    }
    sweep_points(making, run);
}

// Tokens/s of steps at several numbers of threads.
static void tokens_run(struct making *making, const struct result_run *run)
{
    char label[CHART_TEXT];
    for (size_t i = 0; i < run->sweep_count; i++) {
        const struct result_sweep *sweep = &run->sweeps[i];
        bool decode = is_decode(sweep->phase);
        (void)snprintf(label, sizeof label, "%.60s%s b%u %s%" PRIu64 " %s", making->prefix,
                       sweep->phase, sweep->batch, decode ? "c" : "n",
                       decode ? sweep->context : sweep->prompt, sweep->dtype);
        for (size_t r = 0; r < sweep->row_count; r++) {
            add_reading(making, label, sweep->rows[r].threads, &sweep->rows[r].tokens_per_s);
        }
    }
}

static void threads_run(struct making *making, const struct result_run *run)
{
    char label[CHART_TEXT];
    for (size_t i = 0; i < run->machine.scaling_count; i++) {
        const struct result_scaling *row = &run->machine.scaling[i];
        (void)snprintf(label, sizeof label, "%.60s%s %s", making->prefix, row->level, row->kernel);
        add_reading(making, label, row->threads, &row->bytes_per_s);
    }
}

static void operators_run(struct making *making, const struct result_run *run)
{
    char text[CHART_TEXT];
    char threads[24];
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        bool decode = is_decode(point->phase);
        (void)snprintf(text, sizeof text, "%.40s%s b%u %s%" PRIu64 " %s%s", making->prefix,
                       point->phase, point->batch, decode ? "c" : "n",
                       decode ? point->context : point->prompt, result_point_recipe(point),
                       threads_text(threads, run, point->threads));
        size_t category = category_of(making->chart, text);
        if (category < CHART_CATEGORIES_MAX && reading_is_present(&point->seconds)) {
            double layers = point->layers;
            add_point(making, point->operator_, false,
                      (struct chart_point){(double)category, layers * point->seconds.value,
                                           layers * point->seconds.ci95_low,
                                           layers * point->seconds.ci95_high});
        }
    }
}

// The best load of each level.
static void levels_run(struct making *making, const struct result_run *run)
{
    static const char *const levels[] = {"L1", "L2", "L3", "DRAM"};
    char label[CHART_TEXT];
    (void)snprintf(label, sizeof label, "%.60sload", making->prefix);
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        const struct reading *best = NULL;
        for (size_t i = 0; i < run->machine.bandwidth_count; i++) {
            const struct result_bandwidth *row = &run->machine.bandwidth[i];
            if (strcmp(row->level, levels[l]) == 0 && strcmp(row->kernel, "load") == 0 &&
                reading_is_present(&row->bytes_per_s) &&
                (best == NULL || row->bytes_per_s.value > best->value)) {
                best = &row->bytes_per_s;
            }
        }
        if (best != NULL) {
            add_reading(making, label, (double)category_of(making->chart, levels[l]), best);
        }
    }
}

struct picture {
    void (*add)(struct making *making, const struct result_run *run);
    bool bars;
    bool stacked;
    bool log_x;
    size_t least; // points that some series must have
    const char *title;
    const char *x_title;
    const char *y_title;
    const char *needs; // for the error
};

static const struct picture pictures[CHART_PICTURES] = {
    [CHART_BATCH] = {sweep_run, false, false, true, 2, "Decode over the batch", "sequences at once",
                     "tokens/s, all sequences", "decode at two batches (run --batch 1,4,16)"},
    [CHART_CONTEXT] = {sweep_run, false, false, true, 2, "Decode over the context",
                       "tokens cached before the step", "tokens/s, all sequences",
                       "decode at two contexts (run --context 512,4096)"},
    [CHART_THREADS] = {threads_run, false, false, false, 2, "Bandwidth over threads", "threads",
                       "bytes/s",
                       "a curve over threads (probe without --quick, run --threads 1,2,4)"},
    [CHART_OPERATORS] = {operators_run, true, true, false, 1, "Time of a step by operator", "step",
                         "share of the operators' time", "a measured operator (run)"},
    [CHART_LEVELS] = {levels_run, true, false, false, 2, "Read bandwidth by level", "level",
                      "bytes/s", "loads from two levels (probe)"}};

// In place of the bandwidths where a run was made at several numbers of threads.
static const struct picture tokens_picture = {
    tokens_run, false,      false,
    false,      2,          "Tokens over threads",
    "threads",  "tokens/s", "several --threads (run --threads 1,2,4)"};

static const struct picture *picture_of(enum chart_picture picture, const struct result_run *runs,
                                        size_t run_count)
{
    for (size_t i = 0; i < run_count && picture == CHART_THREADS; i++) {
        if (runs[i].sweep_count > 0) {
            return &tokens_picture;
        }
    }
    return &pictures[picture];
}

// Steps differ by orders of magnitude: bars are shares of the step's time, and its category tells
// the time.
static void share_out(struct chart *chart)
{
    double totals[CHART_CATEGORIES_MAX] = {0};
    for (size_t i = 0; i < chart->series_count; i++) {
        for (size_t p = 0; p < chart->series[i].count; p++) {
            totals[(size_t)chart->series[i].points[p].x] += chart->series[i].points[p].y;
        }
    }
    for (size_t i = 0; i < chart->series_count; i++) {
        for (size_t p = 0; p < chart->series[i].count; p++) {
            struct chart_point *point = &chart->series[i].points[p];
            double total = totals[(size_t)point->x];
            point->y /= total;
            point->low /= total;
            point->high /= total;
        }
    }
    for (size_t c = 0; c < chart->category_count; c++) {
        char seconds[UNITS_TEXT];
        size_t used = strlen(chart->categories[c]);
        (void)snprintf(chart->categories[c] + used, CHART_TEXT - used, ", %s",
                       units_format_decimal(seconds, totals[c] > 0 ? totals[c] : (double)NAN, "s"));
    }
}

static int by_x(const void *a, const void *b)
{
    double x = ((const struct chart_point *)a)->x;
    double y = ((const struct chart_point *)b)->x;
    return (x > y) - (x < y);
}

// Sorts the points and drops series that are too short to be seen.
static void tidy(struct chart *chart, size_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        struct chart_series series = chart->series[i];
        if (series.count < least) {
            free(series.points);
            continue;
        }
        qsort(series.points, series.count, sizeof *series.points, by_x);
        chart->series[kept++] = series;
    }
    chart->series_count = kept;
}

static bool all_above_0(const struct chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        if (!(chart->series[i].points[0].x > 0)) { // sorted
            return false;
        }
    }
    return true;
}

struct status chart_make(struct chart *out, enum chart_picture picture,
                         const struct result_run *runs, size_t run_count, const char *const *labels)
{
    const struct picture *how = picture_of(picture, runs, run_count);
    struct making making = {.chart = out, .prefix = ""};
    memset(out, 0, sizeof *out);
    out->picture = picture;
    out->bars = how->bars;
    out->stacked = how->stacked;
    (void)snprintf(out->x_title, sizeof out->x_title, "%s", how->x_title);
    (void)snprintf(out->y_title, sizeof out->y_title, "%s", how->y_title);
    (void)snprintf(out->title, sizeof out->title, "%s%s%.60s", how->title,
                   run_count == 1 && runs[0].model_name[0] != '\0' ? ": " : "",
                   run_count == 1 ? runs[0].model_name : "");
    for (size_t i = 0; i < run_count; i++) {
        char prefix[72] = "";
        if (run_count > 1) {
            (void)snprintf(prefix, sizeof prefix, "%.60s: ", labels[i]);
        }
        making.prefix = prefix;
        how->add(&making, &runs[i]);
    }
    tidy(out, how->least);
    if (picture == CHART_OPERATORS) {
        share_out(out);
    }
    out->log_x = how->log_x && all_above_0(out);
    if (making.failed) {
        return status_error(STATUS_SYSTEM, "no memory for the picture");
    }
    return out->series_count > 0
               ? status_ok()
               : status_error(STATUS_INVALID, "picture '%s': found nothing to draw, accepted %s",
                              names[picture], how->needs);
}

void chart_free(struct chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        free(chart->series[i].points);
    }
    memset(chart, 0, sizeof *chart);
}
