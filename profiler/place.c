#include "profiler/place.h"

#include "profiler/machine_rates.h"
#include "profiler/place_agree.h"
#include "profiler/stored_weights.h"
#include "workloads/model_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *place_phase_name(const struct place_point *point)
{
    return point->test.generated == 0 ? "prefill" : point->test.prompt == 0 ? "decode" : "mixed";
}

// What a test does, as a sum of equal steps.
struct part {
    double times;
    double flop;
    double bytes;
};

struct counting {
    const struct model *model;
    const struct place_test *test;
    enum dtype_id dtype;
    double weights_factor; // file size over counted size
};

static struct status count_step(struct part *out, const struct counting *counting,
                                enum step_phase phase, double times)
{
    const struct place_test *test = counting->test;
    struct step step;
    struct step_request request = step_defaults(phase);
    request.dtype = counting->dtype;
    request.kv_dtype = test->kv_dtype;
    request.batch = test->batch;
    if (phase == STEP_DECODE) {
        request.context = test->depth + test->prompt + (test->generated - 1) / 2;
    } else {
        request.context = test->depth;
        request.prompt = test->prompt;
        request.ubatch = test->ubatch;
    }
    TRY(step_compute(&step, counting->model, &request));
    stored_weights_scale(&step, counting->weights_factor);
    *out = (struct part){times, step.sum.flop, step.sum.bytes.dram_lower_bound};
    return status_ok();
}

// By the file's size alone: every weight is read once a pass and multiplied once a token.
static struct part count_by_size(const struct place_test *test, bool decode)
{
    double tokens = (double)test->batch * (decode ? 1 : (double)test->prompt);
    double chunk = test->ubatch > 0 ? (double)test->ubatch : (double)test->prompt;
    double passes = decode ? 1 : ceil((double)test->prompt / chunk);
    return (struct part){decode ? (double)test->generated : 1, 2 * test->parameters * tokens,
                         test->file_bytes * passes};
}

static struct status count_parts(struct part out[2], size_t *count, const struct counting *counting)
{
    const struct place_test *test = counting->test;
    *count = 0;
    if (test->prompt > 0) {
        out[*count] = count_by_size(test, false);
        TRY(counting->model == NULL ? status_ok()
                                    : count_step(&out[*count], counting, STEP_PREFILL, 1));
        (*count)++;
    }
    if (test->generated > 0) {
        out[*count] = count_by_size(test, true);
        TRY(counting->model == NULL
                ? status_ok()
                : count_step(&out[*count], counting, STEP_DECODE, (double)test->generated));
        (*count)++;
    }
    return status_ok();
}

// Roofs of the threads that the tool used: bandwidth from the curve over threads where that count
// was measured, arithmetic in proportion.
static struct estimate_rates rates_of(const struct machine_source *machine, enum dtype_id dtype,
                                      unsigned threads, enum rate_end end)
{
    const struct result_machine *roofs = &machine->run.machine;
    struct estimate_rates rates = machine_bound_rates(roofs, dtype, end);
    const struct result_bandwidth *read = machine_read_roof(roofs);
    if (threads == 0 || read == NULL || threads >= read->threads) {
        return rates;
    }
    rates.flop_per_s *= (double)threads / read->threads;
    for (size_t i = 0; i < roofs->scaling_count; i++) {
        const struct result_scaling *at = &roofs->scaling[i];
        if (at->threads == threads && strcmp(at->level, "DRAM") == 0 &&
            strcmp(at->kernel, "load") == 0 && reading_is_present(&at->bytes_per_s)) {
            rates.bytes_per_s = fmin(rates.bytes_per_s, machine_rate_end(&at->bytes_per_s, end));
        }
    }
    return rates;
}

// Seconds of all parts under one end of the roofs; NaN where a roof is missing. Those that
// arithmetic bounds are added to *compute_seconds.
static double bound_of(double *compute_seconds, const struct place_point *point,
                       const struct part *parts, size_t count, const struct machine_source *machine,
                       enum rate_end end)
{
    enum dtype_id dtype = point->dtype == DTYPE_NONE ? DTYPE_STORED : point->dtype;
    struct estimate_rates rates = rates_of(machine, dtype, point->test.threads, end);
    double seconds = rates.flop_per_s > 0 && rates.bytes_per_s > 0 ? 0 : (double)NAN;
    *compute_seconds = 0;
    for (size_t i = 0; i < count; i++) {
        double compute = parts[i].times * parts[i].flop / rates.flop_per_s;
        double memory = parts[i].times * parts[i].bytes / rates.bytes_per_s;
        seconds += fmax(compute, memory);
        *compute_seconds += compute > memory ? compute : 0;
    }
    return seconds;
}

static void bound_point(struct place_point *point, const struct part *parts, size_t count,
                        const struct machine_source *machine)
{
    double compute = 0;
    double other = 0;
    double spread = fmin(2 * point->test.spread_fraction, 0.9);
    point->bound_seconds = (double)NAN;
    point->roof_fraction = point->roof_fraction_low = point->roof_fraction_high = (double)NAN;
    if (machine == NULL) {
        return;
    }
    point->bound_seconds = bound_of(&compute, point, parts, count, machine, RATE_VALUE);
    point->compute_bound = 2 * compute > point->bound_seconds;
    if (point->bound_seconds > 0) {
        point->roof_fraction = point->bound_seconds / point->test.seconds;
    }
    if (!machine->is_datasheet && point->bound_seconds > 0) { // the faster the roofs, the lower
        point->roof_fraction_low = bound_of(&other, point, parts, count, machine, RATE_HIGH) /
                                   point->test.seconds * (1 - spread);
        point->roof_fraction_high = bound_of(&other, point, parts, count, machine, RATE_LOW) /
                                    point->test.seconds * (1 + spread);
    }
}

static bool same_count(double a, double b)
{
    return fabs(a - b) <= 1e-6 * b; // rotary tables count as parameters there
}

// The built-in model of exactly that many parameters; false if there is none.
static bool match_builtin(struct model *out, double parameters)
{
    for (const struct embedded_file *file = model_builtins(); file->name != NULL; file++) {
        struct model_counts counts;
        if (!status_is_ok(model_load(out, file->name))) {
            continue;
        }
        model_count(&counts, out);
        if (same_count(parameters, (double)counts.total)) {
            return true;
        }
    }
    return false;
}

// Weights as the file has them: of a GGUF each tensor's own type, else the type that the tool
// names, scaled to the file's size.
static void choose_weights(struct counting *out, struct place_point *point,
                           const struct place_request *request)
{
    const struct model *model = out->model;
    const struct place_test *test = out->test;
    out->weights_factor = 1;
    point->dtype = request->hints.dtype != DTYPE_NONE ? request->hints.dtype : test->dtype;
    if (model == NULL) {
        return;
    }
    bool stored = model->origin == MODEL_FROM_GGUF && request->hints.dtype == DTYPE_NONE;
    out->dtype = stored || point->dtype == DTYPE_NONE ? DTYPE_STORED : point->dtype;
    if (out->dtype == DTYPE_STORED) {
        point->dtype = model->dtype;
    } else if (test->file_bytes > 0) {
        out->weights_factor = test->file_bytes / (double)model_weight_bytes(model, out->dtype);
    }
}

struct matching {
    struct model *model; // of the last match
    double parameters;   // of the last look-up; NaN: none yet
    bool found;
};

static const struct model *model_of(enum place_model *how, const struct place_test *test,
                                    const struct place_request *request, struct matching *matching)
{
    *how = PLACE_MODEL_GIVEN;
    if (request->model != NULL) {
        return request->model;
    }
    *how = PLACE_MODEL_SIZE;
    if (!test->parameters_exact) {
        return NULL;
    }
    if (!same_count(matching->parameters, test->parameters)) {
        matching->parameters = test->parameters;
        matching->found = match_builtin(matching->model, test->parameters);
    }
    *how = matching->found ? PLACE_MODEL_MATCHED : PLACE_MODEL_SIZE;
    return matching->found ? matching->model : NULL;
}

static struct status place_one(struct place_point *out, const struct place_test *test,
                               const struct place_request *request, struct matching *matching)
{
    struct counting counting = {.test = test};
    struct part parts[2];
    size_t count = 0;
    out->test = *test;
    TRY(place_agree(test, request));
    counting.model = model_of(&out->model, test, request, matching);
    if (counting.model == NULL && !(test->file_bytes > 0 && test->parameters > 0)) {
        return status_error(STATUS_INVALID,
                            "row %zu: the file tells neither the model's size nor its parameters; "
                            "accepted -m MODEL",
                            test->row);
    }
    choose_weights(&counting, out, request);
    (void)snprintf(out->model_name, sizeof out->model_name, "%s",
                   counting.model != NULL ? counting.model->name : test->model);
    TRY(status_prefix(count_parts(parts, &count, &counting), "row %zu", test->row));
    for (size_t i = 0; i < count; i++) {
        out->flop += parts[i].times * parts[i].flop;
        out->bytes += parts[i].times * parts[i].bytes;
    }
    out->tokens = (double)test->batch * (double)(test->prompt + test->generated);
    bound_point(out, parts, count, request->machine);
    (void)snprintf(out->id, sizeof out->id, "row%zu/%s/b%" PRIu64 "/d%" PRIu64, test->row,
                   place_phase_name(out), test->batch, test->depth);
    return status_ok();
}

struct status place_compute(struct placement *out, const struct place_test *tests, size_t count,
                            const struct place_request *request)
{
    memset(out, 0, sizeof *out);
    out->machine = request->machine;
    out->points = calloc(count + 1, sizeof *out->points);
    struct matching matching = {.model = calloc(1, sizeof *matching.model),
                                .parameters = (double)NAN};
    struct status status = status_error(STATUS_SYSTEM, "no memory for %zu points", count);
    if (out->points != NULL && matching.model != NULL) {
        status = status_ok();
        for (size_t i = 0; status_is_ok(status) && i < count; i++) {
            status = place_one(&out->points[i], &tests[i], request, &matching);
            out->point_count += status_is_ok(status) ? 1 : 0;
        }
    }
    free(matching.model);
    if (status_is_ok(status)) {
        place_find(out);
    }
    return status;
}

void place_free(struct placement *placement)
{
    free(placement->points);
    memset(placement, 0, sizeof *placement);
}
