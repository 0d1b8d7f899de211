#include "profiler/run_sweep.h"

#include "profiler/probe.h"
#include "profiler/result_build.h"
#include "profiler/run_document_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Elements without owners inside are copied as they are.
static bool append_all(void *list_pointer, size_t *count, const void *from, size_t from_count,
                       size_t element_bytes)
{
    for (size_t i = 0; i < from_count; i++) {
        void *to = result_append(list_pointer, count, element_bytes);
        if (to == NULL) {
            return false;
        }
        memcpy(to, (const unsigned char *)from + i * element_bytes, element_bytes);
    }
    return true;
}

#define APPEND(to, from, list, count) \
    append_all(&(to)->list, &(to)->count, (from)->list, (from)->count, sizeof *(from)->list)

// An earlier pass's points have it already.
static void name_threads(struct result_point *point)
{
    char suffix[16];
    char id[sizeof point->id];
    (void)snprintf(suffix, sizeof suffix, "/t%u", point->threads);
    size_t length = strlen(point->id);
    size_t tail = strlen(suffix);
    if (length < tail || strcmp(point->id + length - tail, suffix) != 0) {
        (void)snprintf(id, sizeof id, "%.50s%s", point->id, suffix);
        memcpy(point->id, id, sizeof id);
    }
}

static bool append_points(struct result_run *all, const struct result_run *run)
{
    size_t first = all->point_count;
    if (!APPEND(all, run, points, point_count)) {
        return false;
    }
    for (size_t i = first; i < all->point_count; i++) {
        name_threads(&all->points[i]);
    }
    return true;
}

static struct result_fact *fact_of(const struct result_run *run, const char *name)
{
    for (size_t i = 0; i < run->condition_count; i++) {
        if (strcmp(run->conditions[i].name, name) == 0) {
            return &run->conditions[i];
        }
    }
    return NULL;
}

// The conditions are those of the first run, but for its numbers of threads and their cpus.
static void join_fact(struct result_run *all, const struct result_run *run, const char *name)
{
    struct result_fact *to = fact_of(all, name);
    const struct result_fact *from = fact_of(run, name);
    if (to != NULL && from != NULL) {
        size_t used = strlen(to->text);
        (void)snprintf(to->text + used, sizeof to->text - used, "; %s", from->text);
    }
}

static bool append_first(struct result_run *all, const struct result_run *run)
{
    if (all->host_count > 0) {
        join_fact(all, run, "threads");
        join_fact(all, run, "cpus");
        return true;
    }
    memcpy(all->model_name, run->model_name, sizeof all->model_name);
    return APPEND(all, run, host, host_count) && APPEND(all, run, conditions, condition_count);
}

struct status run_sweep_add(struct result_run *all, const struct result_run *run)
{
    bool added = append_first(all, run) && append_points(all, run) &&
                 APPEND(all, run, steps, step_count) &&
                 APPEND(all, run, certificate, certificate_count) &&
                 APPEND(&all->machine, &run->machine, bandwidth, bandwidth_count) &&
                 APPEND(&all->machine, &run->machine, compute, compute_count);
    free(all->crossovers);
    all->crossovers = NULL;
    all->crossover_count = 0;
    added = added && APPEND(all, run, crossovers, crossover_count);
    for (size_t i = 0; i < run->warning_count && added; i++) {
        result_warn(all, run->warnings[i].code, run->warnings[i].try_, "%s", run->warnings[i].text);
    }
    all->read_growth = run->read_growth;
    all->other_mix = run->other_mix;
    return added ? status_ok() : status_error(STATUS_SYSTEM, "no memory for the results");
}

static bool of_sweep(const struct result_step *step, const struct result_sweep *sweep)
{
    return strcmp(step->phase, sweep->phase) == 0 && strcmp(step->dtype, sweep->dtype) == 0 &&
           step->batch == sweep->batch && step->context == sweep->context &&
           step->prompt == sweep->prompt;
}

static struct result_sweep *sweep_of(struct result_run *all, const struct result_step *step)
{
    for (size_t i = 0; i < all->sweep_count; i++) {
        if (of_sweep(step, &all->sweeps[i])) {
            return &all->sweeps[i];
        }
    }
    struct result_sweep *sweep = result_append(&all->sweeps, &all->sweep_count, sizeof *sweep);
    if (sweep != NULL) {
        memcpy(sweep->phase, step->phase, sizeof sweep->phase);
        memcpy(sweep->dtype, step->dtype, sizeof sweep->dtype);
        sweep->batch = step->batch;
        sweep->context = step->context;
        sweep->prompt = step->prompt;
        (void)snprintf(sweep->source, sizeof sweep->source, "%s",
                       step->layers_measured > 0 ? "step" : "operators");
    }
    return sweep;
}

static bool of_step(const struct result_point *point, const struct result_step *step)
{
    return strcmp(point->phase, step->phase) == 0 && point->threads == step->threads &&
           strcmp(result_point_recipe(point), step->dtype) == 0 && point->batch == step->batch &&
           point->context == step->context && point->prompt == step->prompt;
}

// Of a step's operators added up, the ends of their intervals likewise; absent if one is.
static struct reading operators_rate(const struct result_run *all, const struct result_step *step)
{
    double seconds = 0;
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < all->point_count; i++) {
        const struct result_point *point = &all->points[i];
        if (of_step(point, step) && !reading_is_present(&point->seconds)) {
            return point->seconds;
        }
        if (of_step(point, step)) {
            seconds += point->layers * point->seconds.value;
            low += point->layers * point->seconds.ci95_low;
            high += point->layers * point->seconds.ci95_high;
        }
    }
    double tokens = (double)step->batch * (double)(step->prompt > 0 ? step->prompt : 1);
    struct reading rate = reading_plain(tokens / seconds, ORIGIN_TIMED);
    rate.ci95_low = tokens / high;
    rate.ci95_high = tokens / low;
    return rate;
}

static void add_row(struct result_sweep *sweep, const struct result_run *all,
                    const struct result_step *step)
{
    for (size_t i = 0; i < sweep->row_count; i++) {
        if (sweep->rows[i].threads == step->threads) {
            return;
        }
    }
    if (sweep->row_count < RESULT_SWEEP_MAX) {
        bool whole = strcmp(sweep->source, "step") == 0;
        sweep->rows[sweep->row_count++] = (struct result_sweep_row){
            step->threads, whole ? step->tokens_per_s : operators_rate(all, step)};
    }
}

static int by_threads(const void *left, const void *right)
{
    unsigned a = ((const struct result_sweep_row *)left)->threads;
    unsigned b = ((const struct result_sweep_row *)right)->threads;
    return (a > b) - (a < b);
}

static void find_knee(struct result_sweep *sweep)
{
    unsigned threads[RESULT_SWEEP_MAX];
    double rates[RESULT_SWEEP_MAX];
    qsort(sweep->rows, sweep->row_count, sizeof *sweep->rows, by_threads);
    for (size_t i = 0; i < sweep->row_count; i++) {
        threads[i] = sweep->rows[i].threads;
        rates[i] = sweep->rows[i].tokens_per_s.value;
        if (!reading_is_present(&sweep->rows[i].tokens_per_s)) {
            sweep->knee_threads = reading_absent(
                ABSENT_FAILED, "the step was not measured at every number of threads", NULL);
            return;
        }
    }
    double knee = probe_knee(threads, rates, sweep->row_count);
    sweep->knee_threads =
        isnan(knee) ? reading_absent(ABSENT_UNSUPPORTED,
                                     "no knee was reached: the most threads still brought more "
                                     "than 5 %",
                                     "more threads, if the machine has more cores")
                    : reading_plain(knee, ORIGIN_TIMED);
}

void run_sweep_summary(struct result_run *all)
{
    free(all->sweeps);
    all->sweeps = NULL;
    all->sweep_count = 0;
    for (size_t i = 0; i < all->step_count; i++) {
        struct result_sweep *sweep = sweep_of(all, &all->steps[i]);
        if (sweep != NULL) {
            add_row(sweep, all, &all->steps[i]);
        }
    }
    for (size_t i = 0; i < all->sweep_count; i++) {
        find_knee(&all->sweeps[i]);
    }
}

struct status run_sweep_save(const struct result_run *before, const struct result_run *run,
                             const struct command_context *context, const char *path)
{
    if (before == NULL) {
        return run_document_save(run, context, path);
    }
    struct result_run all = {.complete = false};
    run_document_started(&all, context);
    struct status status = run_sweep_add(&all, before);
    if (status.code == STATUS_OK) {
        status = run_sweep_add(&all, run);
    }
    if (status.code == STATUS_OK) {
        status = run_document_save(&all, context, path);
    }
    result_run_free(&all);
    return status;
}
