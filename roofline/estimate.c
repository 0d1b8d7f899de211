#include "roofline/estimate.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ESTIMATE_TOKENS_MAX ((uint64_t)1 << 20)
#define ESTIMATE_BATCH_MAX ((uint64_t)1 << 30)

static double rate_or(double own, double common)
{
    double rate = own > 0 ? own : common;
    return rate > 0 ? rate : (double)NAN;
}

void estimate_time(struct estimate_time *out, const struct step *step,
                   const struct estimate_rates *rates)
{
    memset(out, 0, sizeof *out);
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        out->operator_seconds[op] = rates->operator_seconds[op];
    }
    for (size_t i = 0; i < step->operator_count; i++) {
        const struct step_cost *cost = &step->operators[i];
        double flop_per_s = rate_or(rates->operator_flop_per_s[cost->op], rates->flop_per_s);
        double bytes_per_s = rate_or(rates->operator_bytes_per_s[cost->op], rates->bytes_per_s);
        double compute = cost->flop_executed > 0 ? cost->flop_executed / flop_per_s : 0;
        double memory =
            cost->bytes.dram_lower_bound > 0 ? cost->bytes.dram_lower_bound / bytes_per_s : 0;
        double seconds = isnan(compute) || isnan(memory) ? (double)NAN : fmax(compute, memory);
        out->operator_seconds[cost->op] += seconds + cost->layers * rates->barrier_seconds;
    }
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        out->estimate_seconds += out->operator_seconds[op];
    }
    double compute = step->sum.flop / rate_or(rates->flop_per_s, 0);
    double memory = step->sum.bytes.dram_lower_bound / rate_or(rates->bytes_per_s, 0);
    out->bound_seconds = isnan(compute) || isnan(memory) ? (double)NAN : fmax(compute, memory);
}

struct status estimate_generation_seconds(double *out, const struct model *model,
                                          const struct step_request *request,
                                          const struct estimate_rates *rates, uint64_t tokens)
{
    if (tokens < 1 || tokens > ESTIMATE_TOKENS_MAX) {
        return status_error(STATUS_INVALID, "%" PRIu64 " tokens: accepted 1..%" PRIu64, tokens,
                            ESTIMATE_TOKENS_MAX);
    }
    struct step_request at = *request;
    at.phase = STEP_DECODE;
    *out = 0;
    for (uint64_t i = 0; i < tokens; i++) {
        struct step step;
        struct estimate_time time;
        at.context = request->context + i;
        TRY(step_compute(&step, model, &at));
        estimate_time(&time, &step, rates);
        *out += time.estimate_seconds;
    }
    return status_ok();
}

bool estimate_reads_weights(enum model_operator op)
{
    static const bool linear[MODEL_OPERATORS] = {
        [MODEL_OP_QKV] = true,     [MODEL_OP_ATTN_OUT] = true, [MODEL_OP_ROUTER] = true,
        [MODEL_OP_EXPERTS] = true, [MODEL_OP_GATE_UP] = true,  [MODEL_OP_DOWN] = true,
        [MODEL_OP_HEAD] = true};
    return linear[op];
}

// FLOPs and DRAM bytes of a decode step, of its linears or of all.
struct intensity {
    double flop;
    double bytes;
};

struct crossing {
    const struct model *model;
    struct step_request request;
    bool linears_only;
    double ridge;
};

static struct status intensity_at(struct intensity *out, const struct crossing *crossing,
                                  uint64_t batch)
{
    struct step step;
    struct step_request request = crossing->request;
    request.batch = batch;
    TRY(step_compute(&step, crossing->model, &request));
    out->flop = 0;
    out->bytes = 0;
    for (size_t i = 0; i < step.operator_count; i++) {
        if (!crossing->linears_only || estimate_reads_weights(step.operators[i].op)) {
            out->flop += step.operators[i].flop;
            out->bytes += step.operators[i].bytes.dram_lower_bound;
        }
    }
    return status_ok();
}

// AI of an unbounded batch: what one more sequence adds, once every expert is touched.
static struct status intensity_limit(double *out, const struct crossing *crossing)
{
    struct intensity low = {0};
    struct intensity high = {0};
    TRY(intensity_at(&low, crossing, ESTIMATE_BATCH_MAX / 2));
    TRY(intensity_at(&high, crossing, ESTIMATE_BATCH_MAX));
    double bytes = high.bytes - low.bytes;
    *out = bytes > 0 ? (high.flop - low.flop) / bytes : (double)INFINITY;
    return status_ok();
}

// AI grows with the batch (the weights that a batch touches grow less than the batch): bisection.
static struct status smallest_batch(double *out, const struct crossing *crossing)
{
    uint64_t below = 0;
    uint64_t reached = ESTIMATE_BATCH_MAX;
    while (reached - below > 1) {
        uint64_t middle = below + (reached - below) / 2;
        struct intensity at = {0};
        TRY(intensity_at(&at, crossing, middle));
        if (at.flop >= crossing->ridge * at.bytes) {
            reached = middle;
        } else {
            below = middle;
        }
    }
    *out = (double)reached;
    return status_ok();
}

static struct status solve(double *batch, bool *never, double *limit,
                           const struct crossing *crossing)
{
    *batch = (double)NAN;
    TRY(intensity_limit(limit, crossing));
    struct intensity widest = {0};
    TRY(intensity_at(&widest, crossing, ESTIMATE_BATCH_MAX));
    *never = widest.flop < crossing->ridge * widest.bytes;
    return *never ? status_ok() : smallest_batch(batch, crossing);
}

struct status estimate_crossover(struct estimate_crossover *out, const struct model *model,
                                 const struct step_request *request, double ridge_flop_per_byte)
{
    memset(out, 0, sizeof *out);
    if (!(ridge_flop_per_byte > 0)) {
        return status_error(STATUS_INVALID, "ridge of %g FLOP/byte: accepted more than 0",
                            ridge_flop_per_byte);
    }
    struct crossing crossing = {
        .model = model, .request = *request, .linears_only = true, .ridge = ridge_flop_per_byte};
    crossing.request.phase = STEP_DECODE;
    TRY(solve(&out->linears_batch, &out->linears_never, &out->linears_limit_flop_per_byte,
              &crossing));
    crossing.linears_only = false;
    return solve(&out->step_batch, &out->step_never, &out->step_limit_flop_per_byte, &crossing);
}
