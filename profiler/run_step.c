#include "profiler/run_step.h"

#include "profiler/clock.h"
#include "profiler/result_build.h"
#include "profiler/rotation.h"
#include "profiler/run_candidate.h"
#include "profiler/run_step_estimate.h"
#include "profiler/run_step_experts.h"
#include "profiler/run_step_parts.h"
#include "profiler/run_step_plan.h"
#include "workloads/forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MIN = 3, ROUNDS_MAX = READING_SAMPLES_MAX, ENERGY_SAMPLES = 3 };

/** One step being measured. */
struct measured_step {
    const struct run_steps *steps;
    struct result_step *out;
    struct forward *forward;
    unsigned char *memory[MACHINE_CPUS_MAX];
    unsigned repeats; // steps a sample
    double since;     // clock, thread 0
    double spent[FORWARD_OUTSIDE + 1][MODEL_OPERATORS];

    unsigned n;
    double seconds[ROUNDS_MAX];
    double operators[MODEL_OPERATORS][ROUNDS_MAX];
    double remainder[ROUNDS_MAX];
    bool disturbed[ROUNDS_MAX];
    struct run_step_parts *parts;                      // NULL: no estimate is made of parts
    double estimated[ROUNDS_MAX + 1][MODEL_OPERATORS]; // just before each sample
};

static bool same_step(const struct run_job *job, const struct result_step *step)
{
    return job->prefill == (strcmp(step->phase, "prefill") == 0) && job->batch == step->batch &&
           job->context == step->context && job->prompt == step->prompt &&
           strcmp(dtype_name(job->recipe), step->dtype) == 0;
}

static struct status choose_ways(struct forward_params *params, const struct measured_step *m)
{
    for (size_t i = 0; i < m->steps->jobs->count; i++) {
        const struct run_job *job = &m->steps->jobs->list[i];
        if (same_step(job, m->out) && job->variant == 0) {
            TRY(run_candidate_way(&params->ways[job->op], m->steps->measure, job));
        }
    }
    return status_ok();
}

static const struct run_job *head_of(const struct measured_step *m)
{
    for (size_t i = 0; i < m->steps->jobs->count; i++) {
        const struct run_job *job = &m->steps->jobs->list[i];
        if (same_step(job, m->out) && job->op == MODEL_OP_HEAD) {
            return job;
        }
    }
    return NULL;
}

static unsigned model_layers(const struct model *model)
{
    unsigned layers = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        layers += model->blocks[b].layers;
    }
    return layers;
}

static struct status create_forward(struct measured_step *m)
{
    const struct session *session = m->steps->measure->session;
    const struct run_job *head = head_of(m);
    if (head == NULL) {
        return status_error(STATUS_UNAVAILABLE, "the step has no head");
    }
    size_t share = rotation_share_bytes(&session->arena, session->threads);
    struct forward_params params =
        run_step_params(m->steps->model, head, m->steps->request->kv_dtype, session);
    double arena = 0;
    TRY(run_step_layers(&params.layers, &arena, &params, (double)share * session->threads,
                        HUGE_VAL));
    TRY(choose_ways(&params, m));
    TRY(forward_create(&m->forward, &params));
    for (unsigned t = 0; t < session->threads; t++) {
        m->memory[t] = arena_share(&session->arena, t, share);
    }
    m->out->layers = model_layers(m->steps->model);
    return status_ok();
}

static void fill_share(void *context, unsigned thread, unsigned threads)
{
    const struct measured_step *m = context;
    const struct arena *arena = &m->steps->measure->session->arena;
    size_t share = rotation_share_bytes(arena, threads);
    for (unsigned copy = 0; copy < arena->copies; copy++) {
        forward_fill(m->forward, thread, arena_share_in(arena, copy, thread, share));
    }
}

static void take_time(void *context, const struct forward_mark *mark)
{
    struct measured_step *m = context;
    double now = clock_seconds();
    m->spent[mark->block][mark->op] += now - m->since;
    m->since = now;
}

static void run_timed(void *context, unsigned thread, unsigned threads)
{
    struct measured_step *m = context;
    const struct forward_probe probe = {take_time, m, false};
    (void)threads;
    if (thread == 0) {
        m->since = clock_seconds();
    }
    for (unsigned i = 0; i < m->repeats; i++) {
        forward_run(m->forward, thread, m->memory, &probe);
    }
}

struct checked_step {
    struct measured_step *m;
    struct forward_check check;
};

static void run_checked(void *context, unsigned thread, unsigned threads)
{
    struct checked_step *c = context;
    const struct forward_probe probe = {forward_check_mark, &c->check, true};
    (void)threads;
    forward_run(c->m->forward, thread, c->m->memory, &probe);
}

static struct status heed_limit(const struct measured_step *m)
{
    return limit_heed(&m->steps->measure->limit);
}

static struct status check_step(struct measured_step *m)
{
    struct checked_step c = {.m = m, .check = {.forward = m->forward, .memory = m->memory}};
    team_run(m->steps->measure->session->team, (struct team_body){run_checked, &c});
    TRY(heed_limit(m)); // a step that ended early has no results
    m->out->max_relative_error =
        isfinite(c.check.max_relative_error) ? c.check.max_relative_error : (double)NAN;
    m->out->tolerance = c.check.tolerance;
    m->out->verified = c.check.max_relative_error <= c.check.tolerance;
    if (m->out->verified) {
        return status_ok();
    }
    return status_error(
        STATUS_MISMATCH, "step %s/%s/b%u: relative error %.3g of a product, tolerance %.3g",
        m->out->phase, m->out->dtype, m->out->batch, c.check.max_relative_error, c.check.tolerance);
}

// Layers of a block that were left out count as much as its others.
static double scale_of(const struct measured_step *m, unsigned block)
{
    const struct model *model = m->steps->model;
    return block == FORWARD_OUTSIDE
               ? 1
               : (double)model->blocks[block].layers / forward_block_layers(m->forward, block);
}

static void one_sample(struct measured_step *m)
{
    struct team_sample timing;
    unsigned i = m->n;
    memset(m->spent, 0, sizeof m->spent);
    team_time(&timing, m->steps->measure->session->team, (struct team_body){run_timed, m});
    double sum = 0;
    double whole = 0;
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        m->operators[op][i] = 0;
        for (unsigned b = 0; b <= FORWARD_OUTSIDE; b++) {
            double seconds = m->spent[b][op] / m->repeats;
            sum += seconds;
            m->operators[op][i] += seconds > 0 ? seconds * scale_of(m, b) : 0;
        }
        whole += m->operators[op][i];
    }
    m->remainder[i] = timing.seconds / m->repeats - sum;
    m->seconds[i] = whole + m->remainder[i];
    m->disturbed[i] = timing.disturbed;
    m->n++;
}

// Steps that together last a thousand times the clock's resolution and a millisecond.
static void calibrate(struct measured_step *m)
{
    m->repeats = 1;
    m->n = 0;
    one_sample(m); // warms up too
    double wanted = fmax(1e-3, 1000 * clock_resolution_seconds());
    m->repeats = (unsigned)fmin(ceil(wanted / m->seconds[0]), 1e5);
    m->n = 0;
    forward_forget_counts(m->forward);
}

static unsigned quiet_samples(const struct measured_step *m)
{
    unsigned quiet = 0;
    for (unsigned i = 0; i < m->n; i++) {
        quiet += m->disturbed[i] ? 0 : 1;
    }
    return quiet;
}

static void drop_disturbed(struct measured_step *m)
{
    unsigned kept = 0;
    if (quiet_samples(m) < ROUNDS_MIN) {
        return;
    }
    for (unsigned i = 0; i < m->n; i++) {
        if (!m->disturbed[i]) {
            for (int op = 0; op < MODEL_OPERATORS; op++) {
                m->operators[op][kept] = m->operators[op][i];
                m->estimated[kept][op] = m->estimated[i][op];
            }
            m->seconds[kept] = m->seconds[i];
            m->remainder[kept++] = m->remainder[i];
        }
    }
    m->n = kept;
}

// What is estimated before a sample and before the next one stands for the time between.
static void average_estimates(struct measured_step *m)
{
    bool known = m->parts != NULL && run_step_parts_estimate(m->estimated[m->n], m->parts);
    for (unsigned i = 0; i < m->n && m->parts != NULL; i++) {
        for (int op = 0; op < MODEL_OPERATORS && (known || i + 1 < m->n); op++) {
            m->estimated[i][op] = (m->estimated[i][op] + m->estimated[i + 1][op]) / 2;
        }
    }
}

static struct status run_samples(struct measured_step *m, double seconds)
{
    const struct run_measure *measure = m->steps->measure;
    unsigned most = measure->rounds + measure->rounds / 2;
    most = most < ROUNDS_MAX ? most : ROUNDS_MAX;
    double begin = clock_seconds();
    calibrate(m);
    while (m->n < most && quiet_samples(m) < measure->rounds && !limit_reached(&measure->limit)) {
        if (seconds > 0 && m->n >= ROUNDS_MIN && clock_seconds() - begin > seconds) {
            break;
        }
        if (m->parts != NULL && !run_step_parts_estimate(m->estimated[m->n], m->parts)) {
            break;
        }
        one_sample(m);
    }
    average_estimates(m);
    struct status ended = heed_limit(m);
    if (ended.code == STATUS_INTERRUPTED || m->n < ROUNDS_MIN) {
        return ended;
    }
    drop_disturbed(m);
    return status_ok();
}

static void add_operator(struct measured_step *m, enum model_operator op)
{
    struct result_step_operator *to = &m->out->operators[m->out->operator_count++];
    (void)snprintf(to->name, sizeof to->name, "%s", model_operator_name(op));
    to->seconds = reading_of_samples(m->operators[op], m->n, BETTER_LOWER, ORIGIN_TIMED);
    double shares[ROUNDS_MAX];
    for (unsigned i = 0; i < m->n; i++) {
        shares[i] = m->operators[op][i] / m->seconds[i];
    }
    to->time_share_fraction = reading_of_samples(shares, m->n, BETTER_LOWER, ORIGIN_TIMED).value;
    to->estimated_seconds = (double)NAN;
}

static void fill_step(struct measured_step *m)
{
    struct result_step *out = m->out;
    bool prefill = strcmp(out->phase, "prefill") == 0;
    const struct reading seconds = reading_of_samples(m->seconds, m->n, BETTER_LOWER, ORIGIN_TIMED);
    const struct reading other = reading_absent(
        ABSENT_UNSUPPORTED, prefill ? "a prefill has none" : "a decode step has none", NULL);
    out->layers_measured = forward_layers(m->forward);
    out->tokens_per_s =
        reading_rate((double)out->batch * (double)(prefill ? out->prompt : 1), &seconds);
    out->tpot_seconds = prefill ? other : seconds;
    out->ttft_seconds = prefill ? seconds : other;
    out->remainder_seconds = reading_of_samples(m->remainder, m->n, BETTER_LOWER, ORIGIN_TIMED);
    out->operator_count = 0;
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        if (m->operators[op][0] > 0) {
            add_operator(m, (enum model_operator)op);
        }
    }
}

static double run_probed(void *context, struct team_probe probe)
{
    struct measured_step *m = context;
    struct team_sample timing;
    struct team *team = m->steps->measure->session->team;
    team_time_probed(&timing, team, (struct team_body){run_timed, m}, probe);
    return m->repeats;
}

static struct status measure_step(struct measured_step *m, const struct result_run *run,
                                  double seconds)
{
    TRY(create_forward(m));
    team_run(m->steps->measure->session->team, (struct team_body){fill_share, m});
    TRY(heed_limit(m));
    TRY(check_step(m));
    TRY(run_step_parts_open(&m->parts, m->out, run, m->steps, seconds));
    TRY(run_samples(m, seconds));
    fill_step(m);
    run_step_experts(m->out, m->forward, m->steps);
    const struct counter_work work = {.run = run_probed, .context = m};
    run_counters_step(m->out, &m->steps->measure->counters, &work, ENERGY_SAMPLES);
    return status_ok();
}

static void note_extrapolation(struct result_run *run, const struct result_step *step)
{
    if (step->layers_measured > 0 && step->layers_measured < step->layers) {
        result_warn(run, "extrapolated", "a smaller model, type, batch or context",
                    "the memory holds %u of %u layers: the step's times are extrapolated from "
                    "them",
                    step->layers_measured, step->layers);
    }
}

void run_step_absent(struct result_step *out, enum absent_state state, const char *text,
                     const char *try_)
{
    out->tokens_per_s = reading_absent(state, text, try_);
    out->tpot_seconds = out->tokens_per_s;
    out->ttft_seconds = out->tokens_per_s;
    out->remainder_seconds = out->tokens_per_s;
}

struct status run_step_measure(struct result_step *out, struct result_run *run,
                               const struct run_steps *steps, double seconds)
{
    struct measured_step *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to measure a step");
    }
    m->steps = steps;
    m->out = out;
    struct status status = measure_step(m, run, seconds);
    if (status.code == STATUS_OK) {
        note_extrapolation(run, out);
        run_step_note_experts(run, out);
        status = m->parts != NULL
                     ? run_step_parts_fill(out, (const double(*)[MODEL_OPERATORS])m->estimated,
                                           m->seconds, m->n)
                     : run_step_estimate(out, run, steps);
    } else if (status.code != STATUS_INTERRUPTED) {
        bool late = limit_is_why(&steps->measure->limit, status);
        run_step_absent(out, late ? ABSENT_NOT_SCHEDULED : ABSENT_FAILED,
                        late ? steps->late_text : status.detail,
                        late ? steps->request->budget_try : NULL);
    }
    run_step_parts_close(m->parts);
    forward_destroy(m->forward);
    free(m);
    return status;
}
