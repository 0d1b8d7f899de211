#include "profiler/run_summary.h"

#include "profiler/result_build.h"
#include "roofline/estimate.h"
#include "roofline/step.h"

#include <math.h>
#include <string.h>

static bool same_step(const struct result_point *a, const struct result_point *b)
{
    return strcmp(a->phase, b->phase) == 0 &&
           strcmp(result_point_recipe(a), result_point_recipe(b)) == 0 && a->batch == b->batch &&
           a->context == b->context && a->prompt == b->prompt;
}

// Seconds of all operators of a point's step; NaN if one of them was not measured.
static double step_seconds(const struct result_run *run, const struct result_point *of)
{
    double sum = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        if (same_step(&run->points[i], of)) {
            sum += run->points[i].seconds.value * run->points[i].layers;
        }
    }
    return sum;
}

static void fill_shares(struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        struct result_point *point = &run->points[i];
        double sum = step_seconds(run, point);
        point->time_share_fraction = point->seconds.value * point->layers / sum;
    }
}

// A step of many types is of integers if some of its products are.
static bool is_of_integers(const struct result_run *run, const char *dtype)
{
    enum dtype_id id = dtype_find(dtype);
    bool integers = id < DTYPE_COUNT && dtype_get(id)->kind == DTYPE_INT;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        integers = integers ||
                   (point->integer_operations && strcmp(result_point_recipe(point), dtype) == 0);
    }
    return integers;
}

// Operands of 16 bits may be widened and meet in f32; a kernel or GEMM that was faster than the
// chain of its type shows what the type can do.
static bool does_arithmetic_of(const struct result_compute *row, const char *dtype, bool integers)
{
    if (integers) {
        return strcmp(row->dtype, "int8") == 0;
    }
    return strcmp(row->dtype, "f32") == 0 ||
           (strcmp(dtype, "bf16") == 0 && strcmp(row->dtype, "bf16") == 0);
}

static const struct result_compute *compute_roof(const struct result_run *run, const char *dtype)
{
    const struct result_compute *best = NULL;
    bool integers = is_of_integers(run, dtype);
    for (size_t i = 0; i < run->machine.compute_count; i++) {
        const struct result_compute *row = &run->machine.compute[i];
        if (does_arithmetic_of(row, dtype, integers) && reading_is_present(&row->flop_per_s) &&
            (best == NULL || row->flop_per_s.value > best->flop_per_s.value)) {
            best = row;
        }
    }
    return best;
}

static const struct result_bandwidth *dram_roof(const struct result_run *run)
{
    for (size_t i = 0; i < run->machine.bandwidth_count; i++) {
        if (strcmp(run->machine.bandwidth[i].level, "DRAM") == 0) {
            return &run->machine.bandwidth[i];
        }
    }
    return NULL;
}

static struct step_request request_of(const struct result_point *point,
                                      const struct run_request *request)
{
    bool prefill = strcmp(point->phase, "prefill") == 0;
    struct step_request wanted = step_defaults(prefill ? STEP_PREFILL : STEP_DECODE);
    wanted.batch = point->batch;
    wanted.context = prefill ? 0 : point->context;
    wanted.prompt = point->prompt;
    wanted.dtype = dtype_find_recipe(result_point_recipe(point));
    wanted.kv_dtype = request->kv_dtype;
    return wanted;
}

static void predict(struct result_step *out, const struct result_run *run,
                    const struct model *model, const struct result_point *point,
                    const struct run_request *request)
{
    const struct result_compute *compute = compute_roof(run, result_point_recipe(point));
    const struct result_bandwidth *read = dram_roof(run);
    const struct step_request wanted = request_of(point, request);
    struct step step;
    struct estimate_time time;
    struct status status = step_compute(&step, model, &wanted);
    if (compute == NULL || read == NULL || status.code != STATUS_OK) {
        out->predicted_seconds = reading_absent(ABSENT_FAILED, "no roof was measured", NULL);
        out->predicted_tokens_per_s = out->predicted_seconds;
        return;
    }
    const struct estimate_rates rates = {.flop_per_s = compute->flop_per_s.value,
                                         .bytes_per_s = read->bytes_per_s.value};
    estimate_time(&time, &step, &rates);
    double tokens = (double)point->batch * (double)(point->prompt > 0 ? point->prompt : 1);
    out->predicted_seconds = reading_plain(time.bound_seconds, ORIGIN_MODELLED);
    out->predicted_tokens_per_s = reading_plain(tokens / time.bound_seconds, ORIGIN_MODELLED);
}

static void add_step(struct result_run *run, const struct model *model,
                     const struct result_point *point, const struct run_request *request)
{
    struct result_step *step = result_append(&run->steps, &run->step_count, sizeof *step);
    if (step == NULL) {
        return;
    }
    memcpy(step->phase, point->phase, sizeof step->phase);
    (void)snprintf(step->dtype, sizeof step->dtype, "%s", result_point_recipe(point));
    step->batch = point->batch;
    step->context = point->context;
    step->prompt = point->prompt;
    step->threads = point->threads;
    const struct reading unmeasured =
        request->step
            ? reading_absent(ABSENT_NOT_SCHEDULED, "the run ended before it ran the step", NULL)
            : reading_absent(ABSENT_NOT_ASKED,
                             "operators were measured one by one, not the step as a whole",
                             "--step");
    step->tokens_per_s = unmeasured;
    step->tpot_seconds = unmeasured;
    step->ttft_seconds = unmeasured;
    step->remainder_seconds = unmeasured;
    step->joules_per_token = (double)NAN;
    step->estimated_seconds = unmeasured;
    step->max_relative_error = (double)NAN;
    step->tolerance = (double)NAN;
    for (uint32_t b = 0; b < model->block_count; b++) {
        step->layers += model->blocks[b].layers;
    }
    predict(step, run, model, point, request);
}

static void fill_steps(struct result_run *run, const struct model *model,
                       const struct run_request *request)
{
    for (size_t i = 0; i < run->point_count; i++) {
        size_t first = 0;
        while (!same_step(&run->points[first], &run->points[i])) {
            first++;
        }
        if (first == i) {
            add_step(run, model, &run->points[i], request);
        }
    }
}

static bool is_linear(const struct result_point *point)
{
    return strcmp(point->operator_, "attention") != 0 && strcmp(point->operator_, "act_quant") != 0;
}

// Seconds of the linears of a decode step at a batch, the ends of their intervals added up; the
// value is NaN if some were not measured.
static struct verdict_ratio linears_seconds(const struct result_run *run, const char *dtype,
                                            unsigned batch, uint64_t context)
{
    struct verdict_ratio sum = {0, 0, 0};
    bool any = false;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        if (strcmp(p->phase, "decode") == 0 && strcmp(result_point_recipe(p), dtype) == 0 &&
            p->batch == batch && p->context == context && is_linear(p)) {
            any = true;
            sum.value += p->seconds.value * p->layers;
            sum.low += p->seconds.ci95_low * p->layers;
            sum.high += p->seconds.ci95_high * p->layers;
        }
    }
    sum.value = any ? sum.value : (double)NAN;
    return sum;
}

static bool linears_bound_by(const struct result_run *run, const char *dtype, unsigned batch,
                             uint64_t context, bool compute)
{
    double all = 0;
    double of_it = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        if (strcmp(p->phase, "decode") == 0 && strcmp(result_point_recipe(p), dtype) == 0 &&
            p->batch == batch && p->context == context && is_linear(p)) {
            double seconds = p->seconds.value * p->layers;
            bool is = compute ? p->bound == BOUND_COMPUTE : verdict_is_memory(p->bound);
            all += seconds;
            of_it += is ? seconds : 0;
        }
    }
    return of_it > 0.5 * all;
}

// The flat part of time(B) is its value at the smallest batch, the proportional part a line
// through 0 at the largest: they meet at t(small) x B(large) / t(large).
static struct reading measured_crossover(const struct result_run *run, const char *dtype,
                                         const struct run_request *request)
{
    uint64_t context = request->context.values[0];
    uint64_t low = request->batch.values[0];
    uint64_t high = low;
    for (size_t i = 0; i < request->batch.count; i++) {
        low = request->batch.values[i] < low ? request->batch.values[i] : low;
        high = request->batch.values[i] > high ? request->batch.values[i] : high;
    }
    struct verdict_ratio flat = linears_seconds(run, dtype, (unsigned)low, context);
    struct verdict_ratio steep = linears_seconds(run, dtype, (unsigned)high, context);
    bool brackets = low < high && linears_bound_by(run, dtype, (unsigned)low, context, false) &&
                    linears_bound_by(run, dtype, (unsigned)high, context, true);
    if (!brackets || isnan(flat.value) || isnan(steep.value)) {
        return reading_absent(ABSENT_UNSUPPORTED,
                              "the batches do not go from memory-bound to compute-bound",
                              "more values of --batch, for example 1,4,16,64");
    }
    struct reading out = reading_plain(flat.value * (double)high / steep.value, ORIGIN_TIMED);
    out.ci95_low = flat.low * (double)high / steep.high;
    out.ci95_high = flat.high * (double)high / steep.low;
    if (out.ci95_high > VERDICT_WIDEST * out.ci95_low) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "between %.3g and %.3g: the times of batch %u and %u scatter too much",
                       out.ci95_low, out.ci95_high, (unsigned)low, (unsigned)high);
        return reading_absent(ABSENT_UNSUPPORTED, text, "a quiet machine, or a larger --repeat");
    }
    return out;
}

static struct reading batch_reading(bool never, double batch, double limit)
{
    if (!never) {
        return reading_plain(batch, ORIGIN_MODELLED);
    }
    char text[96];
    (void)snprintf(text, sizeof text, "never: intensity stays below %.3g FLOP/byte", limit);
    return reading_absent(ABSENT_UNSUPPORTED, text, NULL);
}

static void fill_crossovers(struct result_run *run, const struct model *model,
                            const struct run_request *request)
{
    const struct result_bandwidth *read = dram_roof(run);
    for (size_t d = 0; d < request->dtype_count && request->decode && read != NULL; d++) {
        const char *dtype = dtype_name(request->dtypes[d]);
        const struct result_compute *compute = compute_roof(run, dtype);
        struct step_request wanted = step_defaults(STEP_DECODE);
        struct estimate_crossover crossover;
        wanted.context = request->context.values[0];
        wanted.dtype = request->dtypes[d];
        wanted.kv_dtype = request->kv_dtype;
        if (compute == NULL ||
            !status_is_ok(estimate_crossover(
                &crossover, model, &wanted, compute->flop_per_s.value / read->bytes_per_s.value))) {
            continue;
        }
        struct result_crossover *to =
            result_append(&run->crossovers, &run->crossover_count, sizeof *to);
        if (to == NULL) {
            return;
        }
        (void)snprintf(to->dtype, sizeof to->dtype, "%s", dtype);
        to->predicted_linears = batch_reading(crossover.linears_never, crossover.linears_batch,
                                              crossover.linears_limit_flop_per_byte);
        to->predicted_step = batch_reading(crossover.step_never, crossover.step_batch,
                                           crossover.step_limit_flop_per_byte);
        to->measured = measured_crossover(run, dtype, request);
    }
}

void run_summary(struct result_run *run, const struct model *model, const struct session *session,
                 const struct run_request *request)
{
    (void)session;
    fill_shares(run);
    fill_steps(run, model, request);
    fill_crossovers(run, model, request);
}
