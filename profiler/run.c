#include "profiler/run.h"

#include "profiler/clock.h"
#include "profiler/doctor_facts.h"
#include "profiler/host_facts.h"
#include "profiler/output.h"
#include "profiler/result_build.h"
#include "profiler/run_document_json.h"
#include "profiler/run_point.h"
#include "profiler/run_step.h"
#include "profiler/run_summary.h"
#include "profiler/run_sweep.h"
#include "profiler/session_memory.h"
#include "roofline/step.h"
#include "roofline/units.h"
#include "workloads/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTED_SAMPLES = 5, COUNTED_SAMPLES_IN_BUDGET = 3 };

/** A run in progress. */
struct run {
    struct result_run *out;
    struct run_request *request;
    const struct command_context *context;
    const struct run_pass *pass;
    struct model model;
    struct session session;
    struct run_jobs jobs;
    struct run_measure measure;
    double begin_seconds;
    unsigned disturbed_points;
    unsigned late_points; // for which the budget did not last
    char late_text[160];  // how far it was exceeded when they came up
    char budget_text[80]; // "the budget of 60 s"
};

static struct status choose_dtypes(struct run *r)
{
    if (r->request->dtype_count > 0) {
        return status_ok();
    }
    if (r->model.dtype == DTYPE_STORED) {
        r->request->dtypes[r->request->dtype_count++] = DTYPE_STORED;
        return run_stored_supported(&r->model);
    }
    return status_prefix(run_request_dtypes(r->request, dtype_name(r->model.dtype)),
                         "%s: the model's own type", r->model.name);
}

// Every matrix that an instance of the arena must hold, and the whole model's memory.
static struct status memory_needed(uint64_t *arena, struct run *r)
{
    double whole = 0;
    double weights = 0;
    double kv = 0;
    *arena = 0;
    for (size_t i = 0; i < r->jobs.count; i++) {
        const struct run_job *job = &r->jobs.list[i];
        struct step_request wanted = step_defaults(job->prefill ? STEP_PREFILL : STEP_DECODE);
        struct step step;
        wanted.batch = job->batch;
        wanted.context = job->prefill ? 0 : job->context;
        wanted.prompt = job->prompt;
        wanted.dtype = job->recipe;
        wanted.kv_dtype = r->request->kv_dtype;
        TRY(step_compute(&step, &r->model, &wanted));
        if (step.memory_bytes > whole) {
            whole = step.memory_bytes;
            weights = step.weight_bytes;
            kv = step.kv_bytes;
        }
        // Padding to whole groups, pages and threads' shares: a twentieth and a little more.
        double instance = job->instance_bytes * 1.05 + (double)r->session.threads * (1 << 20);
        *arena = instance > (double)*arena ? (uint64_t)instance : *arena;
    }
    double available = (double)r->session.machine.memory_available_bytes;
    if (available > 0 && whole > available && !r->request->step) { // a step runs what fits
        char text[4][UNITS_TEXT];
        return status_error(
            STATUS_UNAVAILABLE,
            "%s needs %s of memory (weights %s, KV cache %s, the rest activations), but %s are "
            "available; choose a smaller model, type, batch or context",
            r->request->model, units_format_binary(text[0], (uint64_t)whole),
            units_format_binary(text[1], (uint64_t)weights),
            units_format_binary(text[2], (uint64_t)kv),
            units_format_binary(text[3], (uint64_t)available));
    }
    return status_ok();
}

static void note_model(struct run *r)
{
    (void)snprintf(r->out->model_name, sizeof r->out->model_name, "%.60s", r->model.name);
    for (uint32_t i = 0; i < r->model.note_count; i++) {
        result_warn(r->out, r->model.notes[i].code, NULL, "%s", r->model.notes[i].text);
    }
    for (size_t i = 0; i < r->request->context.count && r->request->decode; i++) {
        uint64_t context = r->request->context.values[i];
        if (r->model.trained_context > 0 && context > r->model.trained_context) {
            result_warn(r->out, "context_beyond_trained", NULL,
                        "context %llu is beyond the %llu tokens that the model was trained for",
                        (unsigned long long)context, (unsigned long long)r->model.trained_context);
        }
    }
}

// An older result stays until there is a point to put in its place.
static struct status save(struct run *r)
{
    TRY(run_roofs_report(&r->out->machine, &r->measure.roofs));
    TRY(run_kernels_report(&r->out->machine, &r->measure.kernels));
    if (r->request->output == NULL || (r->request->replaces && !run_has_measurement(r->out))) {
        return status_ok();
    }
    return run_sweep_save(r->pass->before, r->out, r->context, r->request->output);
}

// Of the budget, where there is one.
static double seconds_left(const struct run *r)
{
    return r->begin_seconds + r->request->budget_seconds - clock_seconds();
}

static struct status used_up(const struct run *r)
{
    return status_error(STATUS_UNAVAILABLE,
                        "no point could be measured: %s was used up by the preparation, which "
                        "took %.3g s; try %s",
                        r->budget_text, clock_seconds() - r->begin_seconds, r->request->budget_try);
}

static struct status start_session(struct run *r, uint64_t arena_bytes)
{
    struct status status = session_start(&r->session, arena_bytes);
    bool late =
        r->session.options.until_seconds > 0 && clock_seconds() > r->session.options.until_seconds;
    return late && status.code == STATUS_UNAVAILABLE ? used_up(r) : status;
}

static struct status prepare(struct run *r)
{
    TRY(model_load(&r->model, r->request->model));
    run_request_finish(r->request);
    TRY(choose_dtypes(r));
    if (r->request->output != NULL) {
        TRY(output_check(r->request->output));
        r->request->replaces =
            r->pass->first ? access(r->request->output, F_OK) == 0 : r->request->replaces;
    }
    double budget = r->request->budget_seconds;
    const struct session_options options = {.threads = (unsigned)r->request->threads,
                                            .smt = r->request->smt,
                                            .huge_pages = !r->request->small_pages,
                                            .numa = r->request->numa,
                                            .signal = r->context->signal,
                                            .until_seconds =
                                                budget > 0 ? r->begin_seconds + budget : 0};
    TRY(session_open(&r->session, &options));
    TRY(run_jobs_plan(&r->jobs, &r->model, r->request));
    note_model(r);
    session_memory_note(r->out, &r->session);
    run_evidence_warn_refused(r->out, isa_detect(), r->session.isa);
    uint64_t arena = 0;
    uint64_t steps = 0;
    TRY(memory_needed(&arena, r));
    if (r->request->step) {
        TRY(run_steps_plan(&steps, &r->model, r->request, &r->session));
        arena = steps > arena ? steps : arena;
    }
    TRY(save(r)); // an incomplete document from here on
    TRY(start_session(r, arena));
    r->out->read_growth = r->session.read_growth;
    r->out->other_mix = r->session.other_mix;
    host_facts_add(r->out, &r->session.machine, r->session.isa);
    condition_facts_add(r->out, &r->session.machine, r->session.team, r->session.blas);
    doctor_visit(r->out, &r->session.machine, r->session.blas, r->session.blas_absent,
                 r->session.threads);
    r->measure.session = &r->session;
    r->measure.signal = r->context->signal;
    r->measure.no_twins = r->request->no_twins;
    r->measure.rounds = (unsigned)r->request->repeat;
    run_roofs_init(&r->measure.roofs, &r->session);
    r->measure.counted_samples =
        r->request->budget_seconds > 0 ? COUNTED_SAMPLES_IN_BUDGET : COUNTED_SAMPLES;
    TRY(run_counters_open(&r->measure.counters, r->out, &r->session, r->request));
    return status_ok();
}

static void show_progress(const struct run *r, size_t at)
{
    if (r->request->quiet || !isatty(fileno(r->context->err))) {
        return;
    }
    (void)fprintf(r->context->err, "\r\033[K[%zu/%zu] %s", at + 1, r->jobs.count,
                  at < r->out->point_count ? r->out->points[at].id : "");
    (void)fflush(r->context->err);
}

static void end_progress(const struct run *r)
{
    if (!r->request->quiet && isatty(fileno(r->context->err))) {
        (void)fprintf(r->context->err, "\r\033[K");
    }
}

static const char *points_part(const struct run *r)
{
    return r->out->step_count > 0 ? "the points' half of " : "";
}

// Time for the next point: an even share of what is left, half of the budget apart where whole
// steps follow; 0 without a budget, negative when it is used up.
static double time_for(const struct run *r, size_t at)
{
    if (r->request->budget_seconds <= 0) {
        return 0;
    }
    double left = seconds_left(r) - (r->out->step_count > 0 ? r->request->budget_seconds / 2 : 0);
    return left <= 0 ? -1 : left / (double)(r->jobs.count - at);
}

// A point whose turn came after the budget: all of them give one reason.
static void note_late(struct run *r, struct result_point *point)
{
    if (r->late_points == 0) {
        (void)snprintf(r->late_text, sizeof r->late_text, "%s%s was used up after %.3g s",
                       points_part(r), r->budget_text, clock_seconds() - r->begin_seconds);
    }
    r->late_points++;
    run_point_absent(point, ABSENT_NOT_SCHEDULED, r->late_text, r->request->budget_try);
}

// Measures all points; the first wrong result is remembered, the others go on.
static struct status measure_all(struct run *r)
{
    struct status wrong = status_ok();
    size_t measured = 0;
    for (size_t i = 0; i < r->jobs.count; i++) {
        double seconds = time_for(r, i);
        struct result_point *point =
            result_append(&r->out->points, &r->out->point_count, sizeof *point);
        if (point == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for the results");
        }
        run_point_describe(point, &r->measure, &r->jobs.list[i]);
        show_progress(r, i);
        if (seconds < 0) {
            note_late(r, point);
            continue;
        }
        struct status status = run_point_measure(point, &r->measure, &r->jobs.list[i], seconds);
        if (status.code == STATUS_INTERRUPTED || status.code == STATUS_SYSTEM) {
            return status;
        }
        if (status.code != STATUS_OK && status.code != STATUS_MISMATCH) {
            run_point_absent(point, ABSENT_FAILED, status.detail, NULL);
        }
        if (status.code != STATUS_OK) {
            result_warn(r->out, status.code == STATUS_MISMATCH ? "wrong_result" : "not_measured",
                        NULL, "%s", status.detail);
            wrong = wrong.code == STATUS_OK && status.code == STATUS_MISMATCH ? status : wrong;
            continue;
        }
        measured++;
        r->disturbed_points += point->disturbed ? 1 : 0;
        run_point_warn(r->out, point, &r->measure);
        TRY(save(r));
    }
    if (measured == 0 && r->late_points > 0 && wrong.code == STATUS_OK) {
        return used_up(r);
    }
    if (measured == 0 && wrong.code == STATUS_OK) {
        return status_error(STATUS_UNAVAILABLE, "no point could be measured");
    }
    return wrong;
}

// Whole steps after all points, since they overwrite the arena; a wrong one is remembered.
static struct status measure_steps(struct run *r)
{
    const struct run_steps steps = {&r->model, r->request, &r->jobs, &r->measure};
    struct status wrong = status_ok();
    for (size_t i = 0; i < r->out->step_count; i++) {
        double left = seconds_left(r);
        double seconds = left / (double)(r->out->step_count - i);
        if (r->request->budget_seconds > 0 && left <= 0) {
            result_warn(r->out, "budget", "a larger --budget, or a quiet machine",
                        "the budget of %.3g s was used up: %zu of %zu steps were not measured",
                        r->request->budget_seconds, r->out->step_count - i, r->out->step_count);
            break;
        }
        struct status status = run_step_measure(&r->out->steps[i], r->out, &steps,
                                                r->request->budget_seconds > 0 ? seconds : 0);
        if (status.code == STATUS_INTERRUPTED || status.code == STATUS_SYSTEM) {
            return status;
        }
        if (status.code != STATUS_OK) {
            bool mismatch = status.code == STATUS_MISMATCH;
            result_warn(r->out, mismatch ? "wrong_result" : "not_measured", NULL, "%s",
                        status.detail);
            wrong = wrong.code == STATUS_OK && mismatch ? status : wrong;
        }
        TRY(save(r));
    }
    return wrong;
}

// What had begun is finished; who set a limit learns by how much it was missed.
static void warn_of_overrun(struct run *r)
{
    double over = -seconds_left(r);
    double budget = r->request->budget_seconds;
    if (budget > 0 && over > 0.1 * budget && r->late_points == 0) {
        result_warn(r->out, "budget", NULL,
                    "%s was exceeded by %.2g s: what had begun was finished", r->budget_text, over);
    }
}

static struct status execute(struct run *r)
{
    struct status status = prepare(r);
    if (status.code == STATUS_INTERRUPTED) {
        return status; // the document on disk is as incomplete as it can be
    }
    TRY(status);
    status = measure_all(r);
    end_progress(r);
    if (run_counters_levels(r->out) && status.code != STATUS_INTERRUPTED) {
        run_roofs_sample_caches(&r->measure.roofs, r->measure.rounds);
    }
    if (r->late_points > 0) {
        result_warn(r->out, "budget", r->request->budget_try,
                    "%s%s was used up: %u of %zu points were not measured", points_part(r),
                    r->budget_text, r->late_points, r->out->point_count);
    }
    if (r->disturbed_points > 0) {
        char seen[96];
        const struct interference_signs signs = team_signs(r->session.team);
        result_warn(r->out, "disturbed", "measure on a quiet machine",
                    "%u of %zu points have too few rounds without other work on the CPUs (in all "
                    "samples: %s): their times are too long, and roofs taken beside them too low",
                    r->disturbed_points, r->out->point_count - r->late_points,
                    interference_describe(seen, sizeof seen, &signs));
    }
    run_evidence_warn(r->out, &r->measure.evidence);
    run_summary(r->out, &r->model, &r->session, r->request);
    if (r->request->step && (status.code == STATUS_OK || status.code == STATUS_MISMATCH)) {
        struct status steps = measure_steps(r);
        status = steps.code == STATUS_OK ? status : steps;
    }
    warn_of_overrun(r);
    bool whole = status.code == STATUS_OK || status.code == STATUS_MISMATCH;
    r->out->complete = whole && r->pass->before == NULL;
    struct status saved = save(r);
    return status.code == STATUS_OK ? saved : status;
}

static void name_budget(struct run *r)
{
    const struct run_request *request = r->request;
    if (request->budget_name != NULL) {
        (void)snprintf(r->budget_text, sizeof r->budget_text, "%s", request->budget_name);
    } else {
        (void)snprintf(r->budget_text, sizeof r->budget_text, "the budget of %.3g s",
                       request->budget_seconds);
    }
}

struct status run_pass_execute(struct result_run *out, struct run_request *request,
                               const struct command_context *context, const struct run_pass *pass)
{
    memset(out, 0, sizeof *out);
    struct run *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a run");
    }
    r->out = out;
    r->request = request;
    r->context = context;
    r->pass = pass;
    r->begin_seconds = clock_seconds();
    name_budget(r);
    run_document_started(out, context);
    struct status status = execute(r);
    run_counters_close(&r->measure.counters);
    session_close(&r->session);
    free(r->jobs.list);
    free(r);
    return status;
}
