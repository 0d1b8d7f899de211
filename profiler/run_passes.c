// A run at one number of threads, or at several one after the other.
#include "profiler/clock.h"
#include "profiler/result_build.h"
#include "profiler/run.h"
#include "profiler/run_document_json.h"
#include "profiler/run_sweep.h"
#include "profiler/session.h"

#include <string.h>

/** Passes in progress. */
struct passes {
    struct result_run *all;
    struct run_request *request;
    const struct command_context *context;
    double begin_seconds;
    char budget_text[64];
    struct status wrong;  // the first result that differed from its reference
    struct status failed; // the first pass that this machine, or the budget, had no room for
};

// More threads than there are cpus are refused before anything is measured.
static struct status check_threads(const struct run_request *request)
{
    uint64_t most = 0;
    for (size_t i = 0; i < request->thread_counts.count; i++) {
        uint64_t threads = request->thread_counts.values[i];
        most = threads > most ? threads : most;
    }
    struct session session;
    const struct session_options options = {.threads = (unsigned)most, .smt = request->smt};
    struct status status = session_open(&session, &options);
    session_close(&session);
    return status;
}

// The request of one pass: its threads, and an even share of the time that is left.
static void set_pass(struct run_request *out, struct passes *p, size_t index)
{
    const struct run_request *request = p->request;
    size_t left = request->thread_counts.count - index;
    *out = *request;
    out->threads = request->thread_counts.values[index];
    if (request->budget_seconds > 0) {
        double seconds = request->budget_seconds - (clock_seconds() - p->begin_seconds);
        out->budget_seconds = seconds > 0 ? seconds / (double)left : 1e-3;
        (void)snprintf(p->budget_text, sizeof p->budget_text,
                       "the share of --threads %llu in the budget of %.3g s",
                       (unsigned long long)out->threads, request->budget_seconds);
        out->budget_name = p->budget_text;
    }
}

static struct status run_one(struct passes *p, size_t index)
{
    struct run_request own;
    struct result_run result;
    const struct run_pass pass = {.before = p->all, .first = index == 0};
    set_pass(&own, p, index);
    struct status status = run_pass_execute(&result, &own, p->context, &pass);
    p->request->replaces = own.replaces;
    struct status added = run_sweep_add(p->all, &result);
    result_run_free(&result);
    if (status.code == STATUS_MISMATCH) {
        p->wrong = p->wrong.code == STATUS_OK ? status : p->wrong;
        status = status_ok();
    }
    if (status.code == STATUS_UNAVAILABLE) { // the other passes have a say yet
        p->failed = p->failed.code == STATUS_OK ? status : p->failed;
        result_warn(p->all, "no_pass", p->request->budget_try, "--threads %llu: %s",
                    (unsigned long long)own.threads, status.detail);
        status = status_ok();
    }
    return status.code == STATUS_OK ? added : status;
}

static struct status run_all(struct passes *p)
{
    TRY(check_threads(p->request));
    for (size_t i = 0; i < p->request->thread_counts.count; i++) {
        TRY(run_one(p, i));
    }
    if (!run_has_measurement(p->all)) {
        TRY(p->failed);
    }
    run_sweep_summary(p->all);
    p->all->complete = p->failed.code == STATUS_OK;
    if (p->request->output != NULL) {
        TRY(run_document_save(p->all, p->context, p->request->output));
    }
    return p->wrong;
}

struct status run_execute(struct result_run *out, struct run_request *request,
                          const struct command_context *context)
{
    if (request->thread_counts.count < 2) {
        const struct run_pass only = {.before = NULL, .first = true};
        return run_pass_execute(out, request, context, &only);
    }
    memset(out, 0, sizeof *out);
    run_document_started(out, context);
    struct passes p = {.all = out,
                       .request = request,
                       .context = context,
                       .begin_seconds = clock_seconds(),
                       .wrong = status_ok(),
                       .failed = status_ok()};
    return run_all(&p);
}
