#include "profiler/exec_place.h"

#include "profiler/doctor_facts.h"
#include "profiler/host_facts.h"
#include "profiler/result_build.h"
#include "profiler/results_json.h"
#include "profiler/run_roofs.h"
#include "roofline/step.h"
#include "workloads/model_file.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 257, ROOF_SAMPLES = 15 };

// The type that most of the model is stored in.
static enum dtype_id main_dtype(const struct model *model, const struct exec_request *request)
{
    if (request->dtype != DTYPE_STORED) {
        return request->dtype;
    }
    enum dtype_id most = model->dtype;
    uint64_t bytes = 0;
    for (int i = 0; model->dtype == DTYPE_STORED && i < DTYPE_COUNT; i++) {
        if (model->type_bytes[i] > bytes) {
            bytes = model->type_bytes[i];
            most = (enum dtype_id)i;
        }
    }
    return most;
}

// Arithmetic that kernels of such weights are made of.
static const char *arithmetic_of(const char *dtype)
{
    enum dtype_id id = dtype_find(dtype);
    if (id < DTYPE_COUNT && dtype_get(id)->kind == DTYPE_INT) {
        return "int8";
    }
    return id == DTYPE_BF16 ? "bf16" : "f32";
}

// The tokens of a sequence are decoded one after the other: the mean over evenly spread ones of
// them, which is exact where the cost grows evenly with the context.
static struct status mean_cost(struct exec_placement *out, const struct model *model,
                               const struct exec_request *request)
{
    struct step_request wanted = step_defaults(STEP_DECODE);
    uint64_t steps = (request->tokens + request->batch - 1) / request->batch;
    uint64_t points = steps < CONTEXTS ? steps : CONTEXTS;
    wanted.batch = request->batch;
    wanted.dtype = request->dtype;
    wanted.kv_dtype = request->kv_dtype;
    for (uint64_t i = 0; i < points; i++) {
        struct step step;
        double share = points > 1 ? (double)i / (double)(points - 1) : 0;
        wanted.context = request->context + (uint64_t)(share * (double)(steps - 1));
        TRY(step_compute(&step, model, &wanted));
        double per_token = 1 / (double)points / (double)request->batch;
        out->flop_per_token += step.sum.flop * per_token;
        out->bytes_per_token += step.sum.bytes.dram_lower_bound * per_token;
    }
    out->flop_per_byte_predicted = out->flop_per_token / out->bytes_per_token;
    return status_ok();
}

struct status exec_place_model(struct exec_placement *out, const struct exec_request *request)
{
    struct reading nothing =
        reading_absent(ABSENT_NOT_ASKED, "no model was named", "-m MODEL --tokens N");
    *out = (struct exec_placement){.why = nothing.absence};
    if (request->dtype != DTYPE_STORED) {
        (void)snprintf(out->dtype, sizeof out->dtype, "%s", dtype_name(request->dtype));
    }
    if (request->model == NULL) {
        return status_ok();
    }
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a model");
    }
    struct status status = model_load(model, request->model);
    if (status_is_ok(status)) {
        enum dtype_id dtype = main_dtype(model, request);
        out->asked = true;
        out->tokens = request->tokens;
        out->batch = request->batch;
        out->context = request->context;
        (void)snprintf(out->model, sizeof out->model, "%.60s", model->name);
        (void)snprintf(out->dtype, sizeof out->dtype, "%s",
                       dtype < DTYPE_COUNT ? dtype_name(dtype) : "mixed");
        status = mean_cost(out, model, request);
    }
    free(model);
    return status;
}

static void roofs_of_machine(struct exec_placement *place, const struct result_machine *machine)
{
    const char *key = arithmetic_of(place->dtype);
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *b = &machine->bandwidth[i];
        if (strcmp(b->level, "DRAM") == 0 && strcmp(b->kernel, "load") == 0 &&
            (!reading_is_present(&place->roof_bytes_per_s) ||
             b->bytes_per_s.value > place->roof_bytes_per_s.value)) {
            place->roof_bytes_per_s = b->bytes_per_s;
            place->roof_threads = b->threads;
        }
    }
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *c = &machine->compute[i];
        if (strcmp(c->dtype, key) == 0 && strcmp(c->kind, "fma") == 0 &&
            (!reading_is_present(&place->roof_flop_per_s) ||
             c->flop_per_s.value > place->roof_flop_per_s.value)) {
            place->roof_flop_per_s = c->flop_per_s;
        }
    }
}

static struct status roofs_of_file(struct exec_placement *place, const char *path)
{
    struct result_run *profile = calloc(1, sizeof *profile);
    if (profile == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", path);
    }
    struct status status = run_read(profile, NULL, NULL, path);
    if (status_is_ok(status)) {
        roofs_of_machine(place, &profile->machine);
        (void)snprintf(place->roofs_from, sizeof place->roofs_from, "%s", path);
    }
    if (status_is_ok(status) && !reading_is_present(&place->roof_bytes_per_s)) {
        status = status_error(STATUS_INVALID,
                              "%s: holds no read bandwidth of DRAM (bandwidth[] with level DRAM, "
                              "kernel load)",
                              path);
    }
    result_run_free(profile);
    free(profile);
    return status;
}

static void sample_roof(struct run_roofs *roofs, struct run_roof *roof)
{
    for (int i = 0; roof != NULL && i < ROOF_SAMPLES; i++) {
        bool disturbed = false;
        (void)run_roof_sample(roofs, roof, &disturbed);
    }
}

static struct status measure_session(struct exec_result *out, struct session *session)
{
    struct run_roofs *roofs = calloc(1, sizeof *roofs);
    struct status why = status_ok();
    if (roofs == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the roofs");
    }
    run_roofs_init(roofs, session);
    sample_roof(roofs, run_roofs_read(roofs, LEVEL_DRAM, &why));
    sample_roof(roofs, run_roofs_compute(roofs, arithmetic_of(out->place.dtype), &why));
    struct status status = run_roofs_report(&out->run.machine, roofs);
    free(roofs);
    condition_facts_add(&out->run, &session->machine, session->team, session->blas);
    doctor_visit(&out->run, &session->machine, session->blas, session->blas_absent,
                 session->threads);
    return status;
}

static struct status measure_roofs(struct exec_result *out, unsigned threads,
                                   const struct command_context *context)
{
    struct session session;
    const struct session_options options = {
        .threads = threads, .huge_pages = true, .limit = {.signal = context->signal}};
    struct status status = session_open(&session, &options);
    if (status_is_ok(status)) {
        status = session_start(&session, 0);
    }
    if (status_is_ok(status)) {
        status = measure_session(out, &session);
    }
    session_close(&session);
    roofs_of_machine(&out->place, &out->run.machine);
    (void)snprintf(out->place.roofs_from, sizeof out->place.roofs_from, "measured afterwards");
    return status;
}

static unsigned busy_threads(const struct exec_result *out)
{
    double cores = out->window.cores;
    for (size_t i = 0; i < out->region_count; i++) {
        cores = fmax(out->regions[i].threads, isnan(cores) || i == 0 ? 0 : cores);
    }
    unsigned threads = isnan(cores) || cores < 1 ? 1 : (unsigned)(cores + 0.5);
    cpu_set_t set;
    CPU_ZERO(&set);
    int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return threads < (unsigned)usable ? threads : (unsigned)usable;
}

struct status exec_place_roofs(struct exec_result *out, const struct exec_request *request,
                               const struct command_context *context)
{
    struct exec_placement *place = &out->place;
    place->roof_bytes_per_s = reading_absent(ABSENT_FAILED, "no roof was measured", NULL);
    place->roof_flop_per_s = place->roof_bytes_per_s;
    if (request->machine != NULL) {
        return roofs_of_file(place, request->machine);
    }
    if (!out->window.known && out->region_count == 0) {
        return status_ok(); // there is nothing to judge
    }
    if (out->attached && !out->watch.ended) {
        place->roof_bytes_per_s = reading_absent(
            ABSENT_NOT_ASKED, "the process still runs: roofs would be measured against it",
            "--machine FILE");
        place->roof_flop_per_s = place->roof_bytes_per_s;
        return status_ok();
    }
    struct status status = measure_roofs(out, busy_threads(out), context);
    if (status.code == STATUS_INTERRUPTED) {
        return status;
    }
    if (!status_is_ok(status)) {
        result_warn(&out->run, "no_roof", "--machine FILE", "no roof was measured: %s",
                    status.detail);
        place->roof_bytes_per_s = reading_absent(ABSENT_FAILED, status.detail, "--machine FILE");
        place->roof_flop_per_s = place->roof_bytes_per_s;
    }
    return status_ok();
}

// value with the window's uncertainty of length around it.
static struct reading rate(double value, double error_fraction, enum origin origin)
{
    struct reading out = reading_plain(value, origin);
    if (!isnan(error_fraction)) {
        out.ci95_low = value / (1 + error_fraction);
        out.ci95_high = value * (1 + error_fraction);
    }
    return out;
}

// Something that could be counted and failed makes the sum too small: there is none. What the
// core's counters did not hold is left out, and names says what is in it.
static struct reading sum_counts(char names[RESULT_TEXT], const struct exec_result *out,
                                 const enum metric *metrics, size_t count)
{
    double sum = 0;
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct reading *value = &out->in_window[metrics[i]].value;
        if (reading_is_present(value)) {
            int length = snprintf(names + used, RESULT_TEXT - used, "%s%s", used > 0 ? " " : "",
                                  metric_row(metrics[i])->name);
            used += length > 0 ? (size_t)length : 0;
            sum += value->value;
        } else if (value->absence.state != ABSENT_UNSUPPORTED &&
                   value->absence.state != ABSENT_NOT_SCHEDULED) {
            return *value;
        }
    }
    return used > 0 ? reading_plain(sum, ORIGIN_COUNTED) : out->in_window[metrics[0]].value;
}

static struct reading divided(const struct reading *value, double by)
{
    return reading_is_present(value) ? reading_plain(value->value / by, value->origin) : *value;
}

static void place_counts(struct exec_result *out, double seconds)
{
    static const enum metric dram[] = {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES};
    static const enum metric flops[] = {METRIC_FLOP_F32, METRIC_FLOP_F64, METRIC_FLOP_F16,
                                        METRIC_FLOP_BF16};
    static const enum metric energy[] = {METRIC_PACKAGE_JOULES, METRIC_DRAM_JOULES};
    struct exec_placement *place = &out->place;
    char unused[RESULT_TEXT];
    struct reading bytes = sum_counts(unused, out, dram, 2);
    struct reading flop = sum_counts(place->flop_metrics, out, flops, 4);
    struct reading joules = out->in_window[METRIC_PACKAGE_JOULES].value;
    if (reading_is_present(&joules)) { // memory alone would say little
        joules = sum_counts(unused, out, energy, 2);
    }
    place->bytes_per_s_counted = divided(&bytes, seconds);
    place->joules_per_token = divided(&joules, (double)place->tokens);
    place->flop_per_byte_counted = flop;
    if (reading_is_present(&flop)) {
        place->flop_per_byte_counted = divided(&flop, bytes.value);
        if (!reading_is_present(&bytes) || !(bytes.value > 0)) {
            place->flop_per_byte_counted = bytes;
        }
    }
}

void exec_roof_at(struct exec_roof *out, const struct exec_placement *place, double flop_per_byte)
{
    const struct reading *read = &place->roof_bytes_per_s;
    const struct reading *compute = &place->roof_flop_per_s;
    *out = (struct exec_roof){.attainable_flop_per_s = *read};
    if (!reading_is_present(read)) {
        return;
    }
    if (isnan(flop_per_byte)) {
        out->attainable_flop_per_s =
            reading_absent(ABSENT_NOT_ASKED, "its intensity is not known", "lmroof_work()");
        return;
    }
    double memory = read->value * flop_per_byte;
    bool by_memory = !reading_is_present(compute) || memory <= compute->value;
    out->attainable_flop_per_s = reading_plain(by_memory ? memory : compute->value, ORIGIN_TIMED);
    const char *arithmetic = arithmetic_of(place->dtype);
    (void)snprintf(out->name, sizeof out->name, "%s %s", by_memory ? "DRAM" : arithmetic,
                   by_memory                         ? "load"
                   : strcmp(arithmetic, "int8") == 0 ? "dot"
                                                     : "fma");
}

static void judge(struct exec_placement *place)
{
    exec_roof_at(&place->roof, place, place->flop_per_byte_predicted);
    const struct reading *attainable = &place->roof.attainable_flop_per_s;
    place->roof_fraction = reading_is_present(attainable)
                               ? divided(&place->flop_per_s, attainable->value)
                               : *attainable;
}

void exec_place_window(struct exec_result *out)
{
    struct exec_placement *place = &out->place;
    const struct exec_window *window = &out->window;
    if (!place->asked || !window->known) {
        if (place->asked) {
            struct reading none = reading_absent(
                ABSENT_FAILED, "no steady stretch was found: what is decode cannot be told",
                "--window A:B, or a smaller --interval");
            place->why = none.absence;
        }
        return;
    }
    double seconds = window->end_seconds - window->begin_seconds;
    double tokens = (double)place->tokens;
    double error = window->given ? (double)NAN : window->error_fraction;
    place->placed = true;
    place->lower_bound = !window->given && window->kind != PHASE_DECODE;
    place->tokens_per_s = rate(tokens / seconds, error, ORIGIN_TIMED);
    place->flop_per_s = rate(tokens * place->flop_per_token / seconds, error, ORIGIN_TIMED);
    place->bytes_per_s_modelled =
        rate(tokens * place->bytes_per_token / seconds, error, ORIGIN_TIMED);
    place_counts(out, seconds);
    judge(place);
}

static double counted_sum(const struct exec_region *region, const enum metric *metrics,
                          size_t count)
{
    double sum = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        double value = region->counts[metrics[i]];
        if (!isnan(value)) {
            sum = (isnan(sum) ? 0 : sum) + value;
        }
    }
    return sum;
}

void exec_place_region(struct exec_region_place *out, const struct exec_result *result,
                       const struct exec_region *region)
{
    static const enum metric flops[] = {METRIC_FLOP_F32, METRIC_FLOP_F64, METRIC_FLOP_F16,
                                        METRIC_FLOP_BF16};
    static const enum metric dram[] = {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES};
    double intensity = region->flop / region->bytes;
    out->flop_per_s = region->flop / region->seconds;
    out->flop_per_byte_counted = counted_sum(region, flops, 4) / counted_sum(region, dram, 2);
    exec_roof_at(&out->roof, &result->place, intensity);
    const struct reading *attainable = &out->roof.attainable_flop_per_s;
    out->roof_fraction =
        reading_is_present(attainable) ? out->flop_per_s / attainable->value : (double)NAN;
}
