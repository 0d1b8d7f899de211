#include "profiler/run.h"

#include "profiler/doctor_facts.h"
#include "profiler/host_facts.h"
#include "profiler/output.h"
#include "profiler/result_build.h"
#include "profiler/run_budget.h"
#include "profiler/run_document_json.h"
#include "profiler/run_memory.h"
#include "profiler/run_point.h"
#include "profiler/run_step.h"
#include "profiler/run_summary.h"
#include "profiler/run_sweep.h"
#include "profiler/session_memory.h"
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
    struct run_budget budget;
    unsigned disturbed_points;
    bool begun;           // the document is on disk
    unsigned late_points; // for which the budget did not last
    char late_text[160];  // how far it was exceeded when they came up
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

static struct status used_up(const struct run *r)
{
    return status_error(STATUS_UNAVAILABLE,
                        "no point could be measured: %s was used up by the preparation, which "
                        "took %.3g s; try %s",
                        r->budget.text, run_budget_spent(&r->budget), r->request->budget_try);
}

static struct status start_session(struct run *r, uint64_t arena_bytes)
{
    struct status status = session_start(&r->session, arena_bytes);
    if (limit_is_why(&r->session.options.limit, status)) {
        return used_up(r);
    }
    if (status.code == STATUS_OK && r->session.hurried) {
        result_warn(r->out, "budget", r->request->budget_try,
                    "%s was short: not measured was what half of the threads or stores reach, so "
                    "that nothing tells whether these threads saturate the memory",
                    r->budget.text);
    }
    return status;
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
    const struct session_options options = {
        .threads = (unsigned)r->request->threads,
        .smt = r->request->smt,
        .huge_pages = !r->request->small_pages,
        .numa = r->request->numa,
        .limit = run_budget_prepare_limit(&r->budget, r->context->signal),
        .evidence_until_seconds = run_budget_evidence_until(&r->budget)};
    TRY(session_open(&r->session, &options));
    TRY(run_jobs_plan(&r->jobs, &r->model, r->request));
    note_model(r);
    session_memory_note(r->out, &r->session);
    run_evidence_warn_refused(r->out, isa_detect(), r->session.isa);
    uint64_t arena = 0;
    uint64_t steps = 0;
    TRY(run_memory_needed(&arena, &r->jobs, &r->model, r->request, &r->session));
    if (r->request->step) {
        TRY(run_steps_plan(&steps, &r->model, r->request, &r->session));
        arena = steps > arena ? steps : arena;
    }
    TRY(save(r)); // an incomplete document from here on
    r->begun = true;
    TRY(start_session(r, arena));
    r->out->read_growth = r->session.read_growth;
    r->out->other_mix = r->session.other_mix;
    host_facts_add(r->out, &r->session.machine, r->session.isa);
    condition_facts_add(r->out, &r->session.machine, r->session.team, r->session.blas);
    doctor_visit(r->out, &r->session.machine, r->session.blas, r->session.blas_absent,
                 r->session.threads);
    r->measure.session = &r->session;
    r->measure.no_twins = r->request->no_twins;
    r->measure.rounds = (unsigned)r->request->repeat;
    run_roofs_init(&r->measure.roofs, &r->session);
    r->measure.counted_samples =
        r->request->budget_seconds > 0 ? COUNTED_SAMPLES_IN_BUDGET : COUNTED_SAMPLES;
    TRY(run_counters_open(&r->measure.counters, r->out, &r->session, r->request));
    return status_ok();
}

static void set_limit(struct run *r, struct limit limit)
{
    r->measure.limit = limit;
    ceilings_stop_for(r->session.ceilings, limit);
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

// Time for the next point: an even share of what is left; 0 without a budget, negative when it is
// used up.
static double time_for(const struct run *r, size_t at)
{
    double left = run_budget_points_left(&r->budget);
    return isinf(left) ? 0 : left <= 0 ? -1 : left / (double)(r->jobs.count - at);
}

// A point whose turn came after the budget: all of them give one reason.
static void note_late(struct run *r, struct result_point *point)
{
    if (r->late_points == 0) {
        (void)snprintf(r->late_text, sizeof r->late_text, "%s%s was used up after %.3g s",
                       run_budget_points_part(&r->budget), r->budget.text,
                       run_budget_spent(&r->budget));
    }
    r->late_points++;
    run_point_absent(point, ABSENT_NOT_SCHEDULED, r->late_text, r->request->budget_try);
}

// Measures all points; the first wrong result is remembered, the others go on.
static struct status measure_all(struct run *r)
{
    struct status wrong = status_ok();
    size_t measured = 0;
    set_limit(r, run_budget_points_limit(&r->budget, r->context->signal));
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
        if (limit_is_why(&r->measure.limit, status)) {
            note_late(r, point);
            continue;
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

// A step that the budget did not last for says so, and a warning once for all that follow.
static void note_late_steps(struct run *r, size_t first, const char *text)
{
    for (size_t i = first; i < r->out->step_count; i++) {
        run_step_absent(&r->out->steps[i], ABSENT_NOT_SCHEDULED, text, r->request->budget_try);
    }
    result_warn(r->out, "budget", r->request->budget_try,
                "%s was used up: %zu of %zu steps were not measured", r->budget.text,
                r->out->step_count - first, r->out->step_count);
}

// Whole steps after all points, since they overwrite the arena; a wrong one is remembered.
static struct status measure_steps(struct run *r)
{
    char late_text[112];
    (void)snprintf(late_text, sizeof late_text, "%s was used up", r->budget.text);
    const struct run_steps steps = {&r->model, r->request, &r->jobs, &r->measure, late_text};
    struct status wrong = status_ok();
    set_limit(r, run_budget_steps_limit(&r->budget, r->context->signal));
    for (size_t i = 0; i < r->out->step_count; i++) {
        double left = run_budget_left(&r->budget);
        double seconds = isinf(left) ? 0 : left / (double)(r->out->step_count - i);
        if (left <= 0) {
            note_late_steps(r, i, late_text);
            break;
        }
        struct status status = run_step_measure(&r->out->steps[i], r->out, &steps, seconds);
        if (status.code == STATUS_INTERRUPTED || status.code == STATUS_SYSTEM) {
            return status;
        }
        if (limit_is_why(&r->measure.limit, status)) {
            note_late_steps(r, i, late_text);
            break;
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
    double over = -run_budget_left(&r->budget);
    if (over > 0.1 * r->budget.seconds && r->late_points == 0) {
        result_warn(r->out, "budget", NULL,
                    "%s was exceeded by %.2g s: what had begun was finished", r->budget.text, over);
    }
}

static struct status execute(struct run *r)
{
    struct status status = prepare(r);
    if (status.code == STATUS_INTERRUPTED) {
        struct status saved = r->begun ? save(r) : status_ok(); // with what is known of the host
        return saved.code == STATUS_OK ? status : saved;
    }
    TRY(status);
    status = measure_all(r);
    end_progress(r);
    if (run_counters_levels(r->out) && status.code != STATUS_INTERRUPTED) {
        run_roofs_sample_caches(&r->measure.roofs, r->measure.rounds);
    }
    if (r->late_points > 0) {
        result_warn(r->out, "budget", r->request->budget_try,
                    "%s%s was used up: %u of %zu points were not measured",
                    run_budget_points_part(&r->budget), r->budget.text, r->late_points,
                    r->out->point_count);
    }
    if (r->measure.hurried > 0 && status.code != STATUS_INTERRUPTED) {
        result_warn(r->out, "hurried", r->request->budget_try,
                    "the points' shares of %s were short: %u %s compared with few others or none, "
                    "there may be faster ones",
                    r->budget.text, r->measure.hurried,
                    r->measure.hurried == 1 ? "kernel was" : "kernels were");
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
    run_budget_begin(&r->budget, request);
    r->budget.steps_fraction = request->step ? 0.5 : 0;
    run_document_started(out, context);
    struct status status = execute(r);
    run_counters_close(&r->measure.counters);
    session_close(&r->session);
    free(r->jobs.list);
    free(r);
    return status;
}
