#include "profiler/fleet/shard_step.h"

#include "profiler/clock.h"
#include "profiler/run_candidate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED_OUTPUTS = 64, TWIN_SAMPLES = 5, THREADS_MAX = 4096 };

static struct status check_and_time(struct shard_op *op, struct run_measure *measure,
                                    uint64_t rotation_bytes)
{
    enum { STRETCH = 16 << 20 };
    double samples[TWIN_SAMPLES];
    TRY(rotation_create(&op->rotation, measure->session->team, &measure->session->arena, op->work,
                        rotation_bytes));
    double error = rotation_check(&op->rotation, CHECKED_OUTPUTS);
    if (!(error <= work_tolerance(op->work))) {
        return status_error(STATUS_MISMATCH,
                            "%s: the kernel's result differs from its reference "
                            "by %.3g, accepted %.3g",
                            model_operator_name(op->job->op), error, work_tolerance(op->work));
    }
    rotation_calibrate(&op->rotation, STRETCH, 2e-3);
    for (int i = 0; i < TWIN_SAMPLES; i++) {
        struct team_sample timing;
        samples[i] = rotation_sample(&timing, &op->rotation, LINEAR_COMPUTE_ONLY);
    }
    const struct reading twin =
        reading_of_samples(samples, TWIN_SAMPLES, BETTER_LOWER, ORIGIN_TIMED);
    op->compute_only_seconds = twin.value;
    return limit_heed(&measure->limit);
}

static struct status open_op(struct shard_op *op, struct run_measure *measure,
                             const struct run_job *job)
{
    struct run_choice choice;
    op->job = job;
    TRY(run_candidate_choose(&choice, measure, job, (uint64_t)job->step_bytes));
    TRY(run_candidate_create(&op->work, measure, job, choice.candidate));
    work_set_prefetch(op->work, choice.prefetch_bytes);
    return check_and_time(op, measure, (uint64_t)job->step_bytes);
}

static struct status open_ops(struct shard_step *step, struct run_measure *measure)
{
    for (size_t i = 0; i < step->jobs.count; i++) {
        if (step->op_count == SHARD_OPS_MAX) {
            return status_error(STATUS_UNAVAILABLE, "more than %d different operators",
                                (int)SHARD_OPS_MAX);
        }
        watchdog_feed(step->watchdog, "choosing kernels");
        TRY(open_op(&step->ops[step->op_count++], measure, &step->jobs.list[i]));
    }
    return status_ok();
}

struct status shard_step_open(struct shard_step *out, const struct model *shard,
                              const struct run_request *request)
{
    struct model_counts counts;
    struct run_measure *measure = calloc(1, sizeof *measure);
    model_count(&counts, shard);
    out->layers = counts.layers;
    out->segments = 2 * out->layers + 1;
    out->hidden_count = shard->d * request->batch.values[0];
    out->choice_count = 2 * request->batch.values[0];
    out->times = calloc(2 * out->segments, sizeof *out->times);
    out->hidden = calloc(out->hidden_count + out->choice_count, sizeof *out->hidden);
    if (measure == NULL || out->times == NULL || out->hidden == NULL) {
        free(measure);
        return status_error(STATUS_SYSTEM, "no memory for a step");
    }
    measure->session = out->session;
    measure->limit = out->session->options.limit;
    struct status status = run_jobs_plan(&out->jobs, shard, request);
    if (status.code == STATUS_OK) {
        status = open_ops(out, measure);
    }
    free(measure);
    return status;
}

void shard_step_close(struct shard_step *step)
{
    for (size_t i = 0; i < step->op_count; i++) {
        work_destroy(step->ops[i].work);
    }
    free(step->jobs.list);
    free(step->hidden);
    free(step->times);
    memset(step, 0, sizeof *step);
}

// The operator of a layer: variants of one operator take the layers in their order.
static const struct shard_op *op_of_layer(const struct shard_step *step, enum model_operator op,
                                          uint64_t layer)
{
    for (size_t i = 0; i < step->op_count; i++) {
        if (step->ops[i].job->op == op) {
            if (layer < step->ops[i].job->layers) {
                return &step->ops[i];
            }
            layer -= step->ops[i].job->layers;
        }
    }
    return NULL;
}

// A layer's operators between all-reduces; MODEL_OPERATORS ends a list.
static const enum model_operator halves[2][3] = {
    {MODEL_OP_QKV, MODEL_OP_ATTENTION, MODEL_OP_ATTN_OUT},
    {MODEL_OP_GATE_UP, MODEL_OP_DOWN, MODEL_OPERATORS}};

// What one thread knows while it walks through the step; the cursors of all are equal.
struct walk {
    struct shard_step *step;
    unsigned thread;
    unsigned threads;
    size_t share_bytes;
    size_t cursor;  // next free bytes in each thread's share: every layer has its own weights
    size_t segment; // thread 0: next all-reduce
    double mark;    // thread 0: end of the last one
};

static void run_op(struct walk *w, enum model_operator kind, uint64_t layer)
{
    const struct shard_op *op = op_of_layer(w->step, kind, layer);
    unsigned char *memory[THREADS_MAX];
    if (op == NULL) {
        return; // such as a model without a gate
    }
    size_t bytes = work_thread_bytes(op->work);
    w->cursor = w->cursor + bytes > w->share_bytes ? 0 : w->cursor;
    for (unsigned t = 0; t < w->threads; t++) {
        memory[t] = w->step->session->arena.base + t * w->share_bytes + w->cursor;
    }
    w->cursor += bytes;
    work_run(op->work, w->thread, memory, LINEAR_FULL);
#pragma omp barrier
}

static void reduce(struct walk *w, float *buffer, size_t count)
{
    if (w->thread == 0) {
        struct shard_step *step = w->step;
        double begin = clock_seconds();
        step->times[w->segment] = begin - w->mark;
        world_sum(step->world, buffer, count);
        w->mark = clock_seconds();
        step->times[step->segments + w->segment] = w->mark - begin;
        w->segment++;
    }
#pragma omp barrier
}

static void step_body(void *context, unsigned thread, unsigned threads)
{
    struct shard_step *step = context;
    struct walk walk = {.step = step,
                        .thread = thread,
                        .threads = threads,
                        .share_bytes = rotation_share_bytes(&step->session->arena, threads),
                        .mark = clock_seconds()};
    for (uint64_t layer = 0; layer < step->layers; layer++) {
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 3 && halves[half][i] != MODEL_OPERATORS; i++) {
                run_op(&walk, halves[half][i], layer);
            }
            reduce(&walk, step->hidden, step->hidden_count);
        }
    }
    run_op(&walk, MODEL_OP_HEAD, 0);
    reduce(&walk, step->hidden + step->hidden_count, step->choice_count);
}

void shard_step_run(struct shard_step *step)
{
    struct team_sample timing;
    memset(step->hidden, 0, (step->hidden_count + step->choice_count) * sizeof *step->hidden);
    world_barrier(step->world);
    team_time(&timing, step->session->team, (struct team_body){step_body, step});
    watchdog_feed(step->watchdog, "a decode step");
}

void shard_step_time_parts(double *out, struct shard_step *step)
{
    for (size_t i = 0; i < step->op_count; i++) {
        struct rotation *rotation = &step->ops[i].rotation;
        rotation->per_sample = 1;
        for (size_t j = 0; j < SHARD_SAMPLES; j++) {
            struct team_sample timing;
            world_barrier(step->world);
            out[i * SHARD_SAMPLES + j] = rotation_sample(&timing, rotation, LINEAR_FULL);
        }
    }
    watchdog_feed(step->watchdog, "timing operators");
}

// Seconds of one sample of an operator in one rank; 0 if the layer has none.
static double part_of(const struct shard_step *step, const double *parts, enum model_operator kind,
                      uint64_t layer)
{
    const struct shard_op *op = op_of_layer(step, kind, layer);
    return op == NULL ? 0 : parts[(size_t)(op - step->ops) * SHARD_SAMPLES + layer % SHARD_SAMPLES];
}

double shard_step_join_parts(const struct shard_step *step, const double *parts, size_t ranks)
{
    double seconds = 0;
    for (uint64_t layer = 0; layer < step->layers; layer++) {
        for (int half = 0; half < 2; half++) {
            double slowest = 0;
            for (size_t r = 0; r < ranks; r++) {
                double sum = 0;
                for (int i = 0; i < 3 && halves[half][i] != MODEL_OPERATORS; i++) {
                    sum += part_of(step, parts + r * step->op_count * SHARD_SAMPLES,
                                   halves[half][i], layer);
                }
                slowest = fmax(slowest, sum);
            }
            seconds += slowest;
        }
    }
    double head = 0;
    for (size_t r = 0; r < ranks; r++) {
        head =
            fmax(head, part_of(step, parts + r * step->op_count * SHARD_SAMPLES, MODEL_OP_HEAD, 0));
    }
    return seconds + head;
}

double shard_step_roof_seconds(double *memory, double *compute, const struct shard_step *step,
                               double bytes_per_s)
{
    double seconds = 0;
    *memory = 0;
    *compute = 0;
    for (size_t i = 0; i < step->op_count; i++) {
        const struct shard_op *op = &step->ops[i];
        double fetch = (double)work_stored_bytes(op->work) / bytes_per_s;
        *memory += op->job->layers * fetch;
        *compute += op->job->layers * op->compute_only_seconds;
        seconds += op->job->layers * fmax(fetch, op->compute_only_seconds);
    }
    return seconds;
}

double shard_step_bytes(const struct shard_step *step)
{
    double bytes = 0;
    for (size_t i = 0; i < step->op_count; i++) {
        bytes += (double)step->ops[i].job->layers * (double)work_stored_bytes(step->ops[i].work);
    }
    return bytes;
}
