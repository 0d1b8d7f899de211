#include "profiler/run_step_estimate.h"

#include "roofline/estimate.h"

#include <math.h>
#include <string.h>

struct step_request run_step_request(const struct result_step *step, enum dtype_id kv_dtype)
{
    bool prefill = strcmp(step->phase, "prefill") == 0;
    struct step_request wanted = step_defaults(prefill ? STEP_PREFILL : STEP_DECODE);
    wanted.batch = step->batch;
    wanted.context = prefill ? 0 : step->context;
    wanted.prompt = step->prompt;
    wanted.dtype = dtype_find_recipe(step->dtype);
    wanted.kv_dtype = kv_dtype;
    wanted.skips_masked = true;
    return wanted;
}

// The best of our kernels of a weight format; 0 if none was measured.
static double kernel_rate(const struct result_machine *machine, const char *format)
{
    double best = 0;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *roof = &machine->compute[i];
        if (strcmp(roof->kind, "kernel") == 0 && strcmp(roof->dtype, format) == 0 &&
            reading_is_present(&roof->flop_per_s)) {
            best = fmax(best, roof->flop_per_s.value);
        }
    }
    return best;
}

static double fma_rate(const struct result_machine *machine)
{
    double best = 0;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *roof = &machine->compute[i];
        if (strcmp(roof->kind, "fma") == 0 && strcmp(roof->dtype, "f32") == 0) {
            best = roof->flop_per_s.value;
        }
    }
    return best;
}

static bool of_step(const struct result_point *point, const struct result_step *step)
{
    return strcmp(point->phase, step->phase) == 0 &&
           strcmp(result_point_recipe(point), step->dtype) == 0 && point->batch == step->batch &&
           point->context == step->context && point->prompt == step->prompt;
}

// Of the level that serves the step's linears: those of a model that fits in cache are not read
// from memory.
static double read_rate(const struct result_run *run, const struct result_step *step)
{
    const char *level = "DRAM";
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        if (of_step(point, step) && strcmp(point->operator_, "attention") != 0 &&
            strcmp(point->operator_, "act_quant") != 0 && point->resident_level[0] != '\0') {
            level = point->resident_level;
        }
    }
    for (size_t i = 0; i < run->machine.bandwidth_count; i++) {
        if (strcmp(run->machine.bandwidth[i].level, level) == 0) {
            return run->machine.bandwidth[i].bytes_per_s.value;
        }
    }
    return 0;
}

static double attention_rate(const struct result_run *run, const struct result_step *step)
{
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        if (of_step(point, step) && strcmp(point->operator_, "attention") == 0 &&
            reading_is_present(&point->compute_only_seconds)) {
            return point->flop / point->compute_only_seconds.value;
        }
    }
    return 0;
}

static void barrier_body(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)thread;
    (void)threads;
#pragma omp barrier
}

static double barrier_seconds(struct team *team)
{
    struct team_sample timing;
    unsigned long repeats = 0;
    team_time_repeated(&timing, &repeats, team, (struct team_body){barrier_body, NULL}, 1e-3);
    return timing.seconds;
}

// FLOP/s of an operator's products at the rates of their formats' kernels; 0 if one is not known.
static double operator_rate(const struct result_run *run, const struct result_step *step,
                            enum model_operator op)
{
    double flop = 0;
    double seconds = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        if (of_step(point, step) && model_operator_find(point->operator_) == op) {
            flop += point->layers * point->flop;
            seconds += point->layers * point->flop / kernel_rate(&run->machine, point->dtype);
        }
    }
    return flop > 0 && isfinite(seconds) ? flop / seconds : 0;
}

static void fill_rates(struct estimate_rates *out, const struct result_run *run,
                       const struct result_step *step, const struct run_steps *steps)
{
    bool one_type = dtype_find_recipe(step->dtype) != DTYPE_STORED;
    double linears = one_type ? kernel_rate(&run->machine, step->dtype) : 0;
    memset(out, 0, sizeof *out);
    out->flop_per_s = fma_rate(&run->machine);
    out->bytes_per_s = read_rate(run, step);
    out->barrier_seconds = barrier_seconds(steps->measure->session->team);
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        out->operator_flop_per_s[op] = op == MODEL_OP_ATTENTION ? attention_rate(run, step)
                                       : one_type
                                           ? linears
                                           : operator_rate(run, step, (enum model_operator)op);
    }
}

struct status run_step_estimate(struct result_step *out, struct result_run *run,
                                const struct run_steps *steps)
{
    struct estimate_rates rates;
    struct estimate_time time;
    struct step step;
    const struct step_request wanted = run_step_request(out, steps->request->kv_dtype);
    TRY(step_compute(&step, steps->model, &wanted));
    fill_rates(&rates, run, out, steps);
    if (!(rates.operator_flop_per_s[MODEL_OP_HEAD] > 0) ||
        !(rates.operator_flop_per_s[MODEL_OP_ATTENTION] > 0)) {
        out->estimated_seconds = reading_absent(
            ABSENT_NOT_ASKED, "without compute-only twins no rate of the kernels is known",
            "without --no-twins");
        return status_ok(); // at the FMA peak it would be no estimate of anything
    }
    estimate_time(&time, &step, &rates);
    out->estimated_seconds = isfinite(time.estimate_seconds) && time.estimate_seconds > 0
                                 ? reading_plain(time.estimate_seconds, ORIGIN_MODELLED)
                                 : reading_absent(ABSENT_FAILED, "no roof was measured", NULL);
    for (size_t i = 0; i < out->operator_count; i++) {
        struct result_step_operator *to = &out->operators[i];
        double seconds = time.operator_seconds[model_operator_find(to->name)];
        to->estimated_seconds = seconds > 0 ? seconds : (double)NAN;
    }
    return status_ok();
}
