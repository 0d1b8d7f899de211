#include "machines/detect.h"
#include "profiler/clock.h"
#include "profiler/host_blas.h"
#include "profiler/output.h"
#include "profiler/probe.h"
#include "profiler/report_format.h"
#include "profiler/report_missing.h"
#include "profiler/result_build.h"
#include "profiler/run.h"
#include "workloads/linear_trial.h"

#include <stdlib.h>
#include <string.h>

// What `lmroof` does alone: a run within a budget, then a quick probe of the ceilings that no point
// needed, then the report. The points come first: on a busy machine they are what is asked for. The
// budgets leave the rest of 90 s to starting, touching memory, and drawing.
static const double all_seconds = 90;
static const double run_seconds = 70;
static const double probe_seconds = 9;
static const double probe_least_seconds = 3;
enum { CEILING_SAMPLES_MIN = 3 };
static const char report_path[] = "lmroof-report.html";

static void set_request(struct run_request *request)
{
    static const uint64_t batches[] = {1, 4, 16, 64};
    run_request_defaults(request);
    request->batch.count = sizeof batches / sizeof *batches;
    memcpy(request->batch.values, batches, sizeof batches);
    request->budget_seconds = run_seconds;
    request->budget_name = "the budget of lmroof alone (70 s for points)";
    request->budget_try = "lmroof run --budget 600, or a quiet machine";
}

static struct status probe_quickly(struct result_run *out, double seconds,
                                   const struct command_context *context)
{
    struct machine machine;
    double begin = clock_seconds();
    memset(out, 0, sizeof *out);
    TRY(machine_detect(&machine));
    struct probe_host host = {
        .machine = &machine, .isa = linear_trial(isa_detect()), .signal = context->signal};
    // Without a library there is no GEMM roof; the run that follows says so.
    status_ignore(host_blas_open(&host.blas, &machine, host.isa));
    const struct probe_options options = {.quick = true,
                                          .levels = {true, true, true, true},
                                          .budget_seconds = seconds,
                                          .begin_seconds = begin,
                                          .budget_name = "the rest of the 90 s of lmroof alone",
                                          .budget_try = "lmroof probe, or a quiet machine"};
    struct probe_extras *extras = calloc(1, sizeof *extras);
    struct status status = extras == NULL ? status_error(STATUS_SYSTEM, "no memory for a probe")
                                          : probe_measure(out, extras, &options, &host);
    free(extras);
    blas_close(host.blas);
    machine_free(&machine);
    return status;
}

static bool has_bandwidth(const struct result_machine *machine,
                          const struct result_bandwidth *wanted)
{
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        if (strcmp(machine->bandwidth[i].level, wanted->level) == 0 &&
            strcmp(machine->bandwidth[i].kernel, wanted->kernel) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_compute(const struct result_machine *machine, const struct result_compute *wanted)
{
    for (size_t i = 0; i < machine->compute_count; i++) {
        if (strcmp(machine->compute[i].dtype, wanted->dtype) == 0 &&
            strcmp(machine->compute[i].kind, wanted->kind) == 0) {
            return true;
        }
    }
    return false;
}

// The probe's ceilings beside the run's own roofs, which were measured with the points and win. One
// or two samples make no ceiling.
static void add_ceilings(struct result_run *run, const struct result_run *probe)
{
    unsigned few = 0;
    for (size_t i = 0; i < probe->machine.bandwidth_count; i++) {
        const struct result_bandwidth *from = &probe->machine.bandwidth[i];
        few += from->bytes_per_s.n < CEILING_SAMPLES_MIN ? 1 : 0;
        if (from->bytes_per_s.n >= CEILING_SAMPLES_MIN && !has_bandwidth(&run->machine, from)) {
            struct result_bandwidth *to =
                result_append(&run->machine.bandwidth, &run->machine.bandwidth_count, sizeof *to);
            if (to != NULL) {
                *to = *from;
            }
        }
    }
    for (size_t i = 0; i < probe->machine.compute_count; i++) {
        const struct result_compute *from = &probe->machine.compute[i];
        few += from->flop_per_s.n < CEILING_SAMPLES_MIN ? 1 : 0;
        if (from->flop_per_s.n >= CEILING_SAMPLES_MIN && !has_compute(&run->machine, from)) {
            struct result_compute *to =
                result_append(&run->machine.compute, &run->machine.compute_count, sizeof *to);
            if (to != NULL) {
                *to = *from;
            }
        }
    }
    if (few > 0) {
        result_warn(run, "few_samples", "lmroof probe, or a quiet machine",
                    "%u further ceilings were left out: fewer than %d samples of them in time", few,
                    (int)CEILING_SAMPLES_MIN);
    }
    for (size_t i = 0; i < probe->warning_count; i++) {
        result_warn(run, probe->warnings[i].code, probe->warnings[i].try_, "%s",
                    probe->warnings[i].text);
    }
}

// Ceilings that no point needed, in what is left of the time.
static struct status probe_the_rest(struct result_run *probe, struct result_run *run, double left,
                                    const struct command_context *context)
{
    if (left < probe_least_seconds) {
        result_warn(run, "budget", "lmroof probe",
                    "only ceilings that points needed were measured: the 90 s of lmroof alone were "
                    "used up");
        return status_ok();
    }
    struct status status =
        probe_quickly(probe, left < probe_seconds ? left : probe_seconds, context);
    if (status.code == STATUS_INTERRUPTED) {
        return status;
    }
    if (status.code != STATUS_OK) {
        result_warn(run, "no_probe", NULL, "further ceilings were not measured: %s", status.detail);
    }
    add_ceilings(run, probe);
    return status_ok();
}

static struct status write_report(const struct result_run *run,
                                  const struct command_context *context)
{
    const char *label = run->model_name;
    const struct report_input input = {
        .runs = run, .run_count = 1, .labels = &label, .context = context};
    TRY(report_save(report_path, &input));
    char text[REPORT_LINE];
    const char *try_ = report_incomplete_try(run);
    bool part = report_incomplete_text(text, run);
    (void)fflush(context->out); // both may go to one file
    (void)fprintf(context->err, "lmroof: the report is in %s%s%s%s%s\n", report_path,
                  part ? "; " : "", text, try_[0] == '\0' ? "" : "; try: ", try_);
    return status_ok();
}

static struct status measure(struct result_run *probe, struct result_run *result,
                             const struct command_context *context)
{
    struct run_request request;
    set_request(&request);
    TRY(output_check(report_path));
    // The type that models come in first: a busy machine does not get to the second.
    TRY(run_request_dtypes(&request, "bf16,f32"));
    double begin = clock_seconds();
    struct status status = run_execute(result, &request, context);
    if (status.code == STATUS_OK || status.code == STATUS_MISMATCH) {
        TRY(probe_the_rest(probe, result, all_seconds - (clock_seconds() - begin), context));
    }
    request.quiet = true; // write_report() has the last word
    status = run_conclude(result, &request, context, status);
    if (status.code == STATUS_OK || status.code == STATUS_MISMATCH) {
        struct status written = write_report(result, context);
        status = status.code == STATUS_OK ? written : status;
    }
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct result_run probe = {.complete = false};
    struct result_run result = {.complete = false};
    (void)exit_code;
    (void)argc;
    (void)argv;
    struct status status = measure(&probe, &result, context);
    result_run_free(&probe);
    result_run_free(&result);
    return status;
}

const struct command command_default = {
    .name = "default",
    .summary = NULL, // not a word to type: what the program does without one
    .run = run,
};
