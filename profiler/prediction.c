#include "profiler/prediction.h"

#include "profiler/machine_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_PER_HOUR 3600.0

double prediction_tokens(const struct step *step)
{
    const struct step_request *request = &step->request;
    double tokens = request->phase == STEP_PREFILL ? (double)request->prompt : 1;
    return (double)request->batch * tokens;
}

double prediction_tokens_per_price(const struct prediction_machine *machine,
                                   const struct step *step, const struct prediction_cell *cell)
{
    return prediction_tokens(step) / cell->seconds * SECONDS_PER_HOUR / machine->price_per_hour;
}

// The type that decides the arithmetic: the model's own where none was asked for.
static enum dtype_id effective(const struct model *model, enum dtype_id dtype)
{
    return dtype == DTYPE_STORED ? model->dtype : dtype;
}

static struct status add_step(struct prediction *out, enum step_phase phase, enum dtype_id dtype,
                              uint64_t batch, uint64_t tokens)
{
    struct step_request at = step_defaults(phase);
    at.dtype = dtype;
    at.kv_dtype = out->request.kv_dtype;
    at.batch = batch;
    if (phase == STEP_DECODE) {
        at.context = tokens;
    } else {
        at.prompt = tokens;
        at.skips_masked = true; // a good kernel does
    }
    out->step_dtypes[out->step_count] = effective(out->model, dtype);
    TRY(step_compute(&out->steps[out->step_count], out->model, &at));
    out->step_count++;
    return status_ok();
}

static struct status add_steps(struct prediction *out, enum step_phase phase,
                               const struct option_counts *tokens)
{
    const struct prediction_request *request = &out->request;
    for (size_t d = 0; d < request->dtype_count; d++) {
        for (size_t b = 0; b < request->batch.count; b++) {
            for (size_t t = 0; t < tokens->count; t++) {
                TRY(add_step(out, phase, request->dtypes[d], request->batch.values[b],
                             tokens->values[t]));
            }
        }
    }
    return status_ok();
}

static struct status compute_steps(struct prediction *out)
{
    const struct prediction_request *request = &out->request;
    size_t most = request->dtype_count * request->batch.count *
                  (request->context.count + request->prompt.count);
    if (most > PREDICTION_CELLS_MAX) {
        return status_error(STATUS_INVALID,
                            "--dtype, --batch, --context and --prompt ask for %zu steps; accepted "
                            "up to %d",
                            most, (int)PREDICTION_CELLS_MAX);
    }
    out->steps = calloc(most + 1, sizeof *out->steps);
    out->step_dtypes = calloc(most + 1, sizeof *out->step_dtypes);
    if (out->steps == NULL || out->step_dtypes == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu steps", most);
    }
    TRY(add_steps(out, STEP_DECODE, &request->context));
    return add_steps(out, STEP_PREFILL, &request->prompt);
}

// Prediction from a bound that nobody reaches: what people reached of it.
static void apply_band(struct prediction_cell *cell, const struct measurement_band *band)
{
    bool known = band->count > 0;
    cell->seconds = known ? cell->bound_seconds / band->median : (double)NAN;
    cell->seconds_low = known ? cell->bound_seconds / band->high : (double)NAN;
    cell->seconds_high = known ? cell->bound_seconds / band->low : (double)NAN;
}

static double estimate(const struct step *step, const struct result_machine *machine,
                       enum dtype_id dtype, enum rate_end end)
{
    struct estimate_rates rates = machine_estimate_rates(machine, dtype, step, end);
    struct estimate_time time;
    estimate_time(&time, step, &rates);
    return time.estimate_seconds;
}

// NaN stays.
static double no_less(double seconds, double least)
{
    return seconds < least ? least : seconds;
}

static void compute_cell(struct prediction_cell *cell, const struct prediction_machine *machine,
                         const struct step *step, enum dtype_id dtype)
{
    const struct result_machine *roofs = &machine->source->run.machine;
    struct estimate_rates rates = machine_bound_rates(roofs, dtype, RATE_VALUE);
    struct estimate_time time;
    estimate_time(&time, step, &rates);
    cell->bound_seconds = time.bound_seconds;
    cell->compute_bound =
        step->sum.flop / rates.flop_per_s > step->sum.bytes.dram_lower_bound / rates.bytes_per_s;
    if (machine->source->is_datasheet) {
        enum dtype_kind kind = dtype < DTYPE_COUNT ? dtype_get(dtype)->kind : DTYPE_INT;
        apply_band(cell,
                   step->request.phase == STEP_DECODE ? &machine->decode : &machine->prefill[kind]);
        return;
    }
    // The bound is of the roofs' values: nothing is promised beyond it, at no end, though parts may
    // have been read faster than the roof in their minute.
    cell->seconds = no_less(estimate(step, roofs, dtype, RATE_VALUE), cell->bound_seconds);
    cell->seconds_low = no_less(estimate(step, roofs, dtype, RATE_HIGH), cell->bound_seconds);
    cell->seconds_high = no_less(estimate(step, roofs, dtype, RATE_LOW), cell->bound_seconds);
}

static struct status compute_crossovers(const struct prediction *prediction,
                                        struct prediction_machine *machine)
{
    const struct prediction_request *request = &prediction->request;
    struct prediction_crossover *to = machine->crossovers;
    for (size_t d = 0; d < request->dtype_count; d++) {
        enum dtype_id dtype = effective(prediction->model, request->dtypes[d]);
        struct estimate_rates rates =
            machine_bound_rates(&machine->source->run.machine, dtype, RATE_VALUE);
        for (size_t c = 0; c < request->context.count; c++, to++) {
            struct step_request at = step_defaults(STEP_DECODE);
            at.dtype = request->dtypes[d];
            at.kv_dtype = request->kv_dtype;
            at.context = request->context.values[c];
            to->dtype = dtype;
            to->context = at.context;
            to->ridge_flop_per_byte = rates.flop_per_s > 0 && rates.bytes_per_s > 0
                                          ? rates.flop_per_s / rates.bytes_per_s
                                          : (double)NAN;
            if (!isnan(to->ridge_flop_per_byte)) {
                TRY(estimate_crossover(&to->crossover, prediction->model, &at,
                                       to->ridge_flop_per_byte));
            }
        }
    }
    return status_ok();
}

static struct status compute_machine(const struct prediction *prediction,
                                     struct prediction_machine *machine)
{
    machine->cells = calloc(prediction->step_count + 1, sizeof *machine->cells);
    machine->crossovers = calloc(prediction->crossover_count + 1, sizeof *machine->crossovers);
    if (machine->cells == NULL || machine->crossovers == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %s", machine->source->label);
    }
    for (size_t i = 0; i < prediction->step_count; i++) {
        compute_cell(&machine->cells[i], machine, &prediction->steps[i],
                     prediction->step_dtypes[i]);
    }
    return compute_crossovers(prediction, machine);
}

static struct status find_bands(struct prediction *out)
{
    struct measurement *rows = calloc(MEASUREMENTS_MAX, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the measurements");
    }
    struct status status = measurement_load(rows, MEASUREMENTS_MAX, &count);
    for (size_t i = 0; status_is_ok(status) && i < out->machine_count; i++) {
        struct prediction_machine *machine = &out->machines[i];
        if (machine->source->is_datasheet) {
            const char *name = machine->source->sheet.name;
            measurement_band(&machine->decode, rows, count, name, STEP_DECODE, DTYPE_FLOAT);
            for (int kind = DTYPE_FLOAT; kind <= DTYPE_INT; kind++) {
                measurement_band(&machine->prefill[kind], rows, count, name, STEP_PREFILL,
                                 (enum dtype_kind)kind);
            }
        }
    }
    free(rows);
    return status;
}

// By the bound of the first step: it means the same for a measured machine and for a data sheet.
// Machines without a roof come last; equal ones keep their order.
static int compare_machines(const void *a, const void *b, void *context)
{
    const struct prediction_machine *machines = context;
    size_t i = *(const size_t *)a;
    size_t j = *(const size_t *)b;
    double x = machines[i].cells[0].bound_seconds;
    double y = machines[j].cells[0].bound_seconds;
    if (isnan(x) != isnan(y)) {
        return isnan(x) ? 1 : -1;
    }
    if (x < y || x > y) {
        return x < y ? -1 : 1;
    }
    return i < j ? -1 : 1;
}

static void rank_machines(struct prediction *out)
{
    for (size_t i = 0; i < out->machine_count; i++) {
        out->order[i] = i;
    }
    qsort_r(out->order, out->machine_count, sizeof *out->order, compare_machines, out->machines);
    for (size_t i = 0; i < out->machine_count; i++) {
        out->machines[out->order[i]].rank = (unsigned)i + 1;
    }
}

struct status prediction_compute(struct prediction *out, const struct model *model,
                                 const struct prediction_request *request,
                                 const struct machine_source *machines, size_t count,
                                 const double *prices)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    out->request = *request;
    if (model->shape_only) {
        return status_error(STATUS_INVALID, "%s: the file has no tensors; a prediction needs them",
                            model->name);
    }
    out->crossover_count = request->dtype_count * request->context.count;
    out->machines = calloc(count + 1, sizeof *out->machines);
    out->order = calloc(count + 1, sizeof *out->order);
    if (out->machines == NULL || out->order == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu machines", count);
    }
    out->machine_count = count;
    for (size_t i = 0; i < count; i++) {
        out->machines[i].source = &machines[i];
        out->machines[i].price_per_hour = prices == NULL ? (double)NAN : prices[i];
    }
    TRY(compute_steps(out));
    TRY(find_bands(out));
    for (size_t i = 0; i < count; i++) {
        TRY(compute_machine(out, &out->machines[i]));
    }
    rank_machines(out);
    return status_ok();
}

void prediction_free(struct prediction *prediction)
{
    for (size_t i = 0; i < prediction->machine_count; i++) {
        free(prediction->machines[i].cells);
        free(prediction->machines[i].crossovers);
    }
    free(prediction->machines);
    free(prediction->order);
    free(prediction->steps);
    free(prediction->step_dtypes);
    memset(prediction, 0, sizeof *prediction);
}
