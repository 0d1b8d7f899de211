#include "profiler/probe.h"

#include "machines/detect.h"
#include "profiler/clock.h"
#include "profiler/command.h"
#include "profiler/doctor_facts.h"
#include "profiler/host_blas.h"
#include "profiler/host_facts.h"
#include "profiler/option_list.h"
#include "profiler/output.h"
#include "profiler/placement.h"
#include "profiler/probe_check.h"
#include "profiler/probe_json.h"
#include "profiler/probe_text.h"
#include "profiler/run.h"
#include "workloads/linear_trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_QUICK = 0x100, KEY_SWEEP, KEY_THREADS, KEY_LEVELS, KEY_DTYPE, KEY_CHECK, KEY_JSON };

enum { EXIT_DRIFT = 5 };

struct probe_input {
    struct command_input common; // first: command_parse() writes it
    struct probe_options options;
    const char *check;
    const char *output;
    bool json;
    bool quiet;
};

static const struct argp_option options[] = {
    {"quick", KEY_QUICK, NULL, 0, "at most 10 seconds: all threads only, fewer kernels", 0},
    {"sweep", KEY_SWEEP, NULL, 0, "also measure sizes from 4 KiB up and find the levels", 0},
    {"threads", KEY_THREADS, "LIST", 0,
     "bound threads (one per usable core, within the quota, and 1)", 0},
    {"levels", KEY_LEVELS, "LIST", 0, "of L1,L2,L3,DRAM (all)", 0},
    {"dtype", KEY_DTYPE, "LIST", 0, "of f64,f32,f16,bf16,int8 (what this CPU has)", 0},
    {"check", KEY_CHECK, "OLD.json", 0,
     "compare with an earlier profile; exit 5 if a ceiling has drifted", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.machine/1) on standard output", 0},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 0},
    {"quiet", 'q', NULL, 0, "no progress on standard error", 0},
    {0}};

static struct status add_level(void *context, const char *word)
{
    struct probe_options *asked = context;
    enum memory_level level = LEVEL_L1;
    if (!memory_level_of_name(&level, word)) {
        return status_error(STATUS_INVALID, "--levels: '%s' is no level; accepted L1,L2,L3,DRAM",
                            word);
    }
    asked->levels[level] = true;
    return status_ok();
}

static struct status add_dtype(void *context, const char *word)
{
    static const char *const known[] = {"f64", "f32", "f16", "bf16", "int8"};
    struct probe_options *asked = context;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i], word) == 0 && asked->dtype_count < PROBE_LIST_MAX) {
            memcpy(asked->dtypes[asked->dtype_count++], word, strlen(word) + 1);
            return status_ok();
        }
    }
    return status_error(STATUS_INVALID,
                        "--dtype: '%s' is no data type here; accepted f64,f32,f16,bf16,int8", word);
}

static struct status parse_threads(struct probe_options *asked, const char *text)
{
    struct option_counts counts;
    TRY(option_count_list(&counts, "--threads", text, 1, MACHINE_CPUS_MAX));
    if (counts.count > PROBE_LIST_MAX) {
        return status_error(STATUS_INVALID, "--threads: %zu counts; accepted at most %d",
                            counts.count, (int)PROBE_LIST_MAX);
    }
    for (size_t i = 0; i < counts.count; i++) {
        asked->threads[i] = (unsigned)counts.values[i];
    }
    asked->thread_count = counts.count;
    return status_ok();
}

static error_t parse_list(int key, char *text, struct argp_state *state)
{
    struct probe_input *input = state->input;
    struct status status = status_ok();
    if (key == KEY_THREADS) {
        status = parse_threads(&input->options, text);
    } else if (key == KEY_LEVELS) {
        status = option_words("--levels", text, add_level, &input->options);
    } else {
        status = option_words("--dtype", text, add_dtype, &input->options);
    }
    return status.code == STATUS_OK ? 0 : command_option_error(state, status);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct probe_input *input = state->input;
    switch (key) {
    case KEY_QUICK:
        input->options.quick = true;
        return 0;
    case KEY_SWEEP:
        input->options.sweep = true;
        return 0;
    case KEY_THREADS:
    case KEY_LEVELS:
    case KEY_DTYPE:
        return parse_list(key, text, state);
    case KEY_CHECK:
        input->check = text;
        return 0;
    case KEY_JSON:
        input->json = true;
        return 0;
    case 'o':
        input->output = text;
        return 0;
    case 'q':
        input->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Measures this machine's ceilings: bandwidth of every level, compute of every instruction "
    "class, GEMM, latency, scaling. Unprivileged; working sets follow from the topology.\v"
    "Exit status: 0 done, 2 bad usage, 5 drift, 1 otherwise.\n"
    "Memory: 4 times the last-level caches in reach are mapped (twice that for latency on small "
    "pages), at most four fifths of what is available. At most a minute, quick 10 seconds; "
    "what a busy machine has no time for is named. Only one sample (a GEMM) and starting up are "
    "not "
    "cut short. "
    "Examples:\n"
    "  lmroof probe --quick\n"
    "  lmroof probe -o today.json && lmroof probe --check today.json\n",
    NULL,
    NULL,
    NULL};

static void show_progress(void *context, const char *what)
{
    (void)fprintf(context, "\r\033[Klmroof probe: %s", what);
    (void)fflush(context);
}

// Compares, adds the table to the document or prints it, and sets the exit code.
static struct status check_drift(int *exit_code, struct probe_report *report,
                                 const struct probe_input *input)
{
    struct result_run old = {.complete = false};
    struct status status = run_read(&old, NULL, NULL, input->check);
    if (status.code == STATUS_OK) {
        report->drift_count = probe_compare(report->drifts, PROBE_DRIFTS_MAX, &report->drifted,
                                            &old.machine, &report->run.machine);
        if (report->drift_count == 0) {
            status = status_error(STATUS_INVALID, "%s: has no ceiling in common with this probe",
                                  input->check);
        }
        *exit_code = report->drifted > 0 ? EXIT_DRIFT : *exit_code;
    }
    result_run_free(&old);
    return status;
}

static struct status write_report(const struct command_context *context,
                                  const struct probe_input *input,
                                  const struct probe_report *report)
{
    if (input->json || input->output != NULL) {
        TRY(probe_write(report, context, input->output, input->json));
    }
    if (!input->json) {
        probe_print(context->out, &report->run);
        probe_print_sweep(context->out, &report->extras);
        probe_print_drift(context->out, report->drifts, report->drift_count);
    }
    return status_ok();
}

static struct status measure(struct probe_report *report, const struct command_context *context,
                             const struct probe_input *input)
{
    struct status blas_status = status_ok();
    struct probe_host host = {
        .machine = &report->machine, .isa = linear_trial(isa_detect()), .signal = context->signal};
    bool shows = !input->quiet && isatty(fileno(context->err)) == 1;
    unsigned threads = input->options.thread_count > 0
                           ? input->options.threads[0]
                           : machine_default_threads(&report->machine, false);
    host.progress = shows ? show_progress : NULL;
    host.progress_context = context->err;
    blas_status = host_blas_open(&host.blas, &report->machine, host.isa);
    host_facts_add(&report->run, &report->machine, host.isa);
    condition_facts_add(&report->run, &report->machine, NULL, host.blas);
    doctor_visit(&report->run, &report->machine, host.blas, blas_status.detail, threads);
    struct status status = probe_measure(&report->run, &report->extras, &input->options, &host);
    report->run.complete = status.code == STATUS_OK;
    blas_close(host.blas);
    if (shows) {
        (void)fputs("\r\033[K", context->err);
    }
    return status;
}

static bool has_ceiling(const struct result_machine *machine)
{
    return machine->bandwidth_count + machine->compute_count + machine->latency_count > 0;
}

static struct status measure_and_write(int *exit_code, struct probe_report *report,
                                       const struct command_context *context,
                                       const struct probe_input *input)
{
    bool older = input->output != NULL && access(input->output, F_OK) == 0;
    struct status status = measure(report, context, input);
    if (status.code == STATUS_OK && input->check != NULL) {
        status = check_drift(exit_code, report, input);
    }
    bool whole = status.code == STATUS_OK;
    struct probe_input to = *input;
    if (!has_ceiling(&report->run.machine) && older) {
        to.output = NULL; // an older profile stays until there is one to put in its place
    }
    // What was measured until an interruption is kept. After other errors nothing is shown, and
    // the document says how far it came.
    if (whole || status.code == STATUS_INTERRUPTED) {
        TRY(write_report(context, &to, report));
    } else if (to.output != NULL && status.code != STATUS_INVALID) {
        TRY(probe_write(report, context, to.output, false));
    }
    return status.code == STATUS_INTERRUPTED && to.output != NULL ? run_interrupted(to.output)
                                                                  : status;
}

static struct status check_input(const struct probe_input *input, const struct machine *machine)
{
    if (input->output != NULL) {
        TRY(output_check(input->output));
    }
    if (input->check != NULL) {
        struct result_run old = {.complete = false};
        struct status status = run_read(&old, NULL, NULL, input->check);
        result_run_free(&old);
        TRY(status);
    }
    for (size_t i = 0; i < input->options.thread_count; i++) {
        unsigned cpus[MACHINE_CPUS_MAX];
        TRY(placement_cpus(cpus, machine, input->options.threads[i]));
    }
    return status_ok();
}

static void set_defaults(struct probe_input *input)
{
    bool any = false;
    for (unsigned i = 0; i < LEVEL_COUNT; i++) {
        any = any || input->options.levels[i];
    }
    for (unsigned i = 0; i < LEVEL_COUNT && !any; i++) {
        input->options.levels[i] = true;
    }
    input->options.budget_seconds = input->options.quick ? 9.2 : 55;
    input->options.budget_try = input->options.quick
                                    ? "lmroof probe without --quick, or a quiet machine"
                                    : "a quiet machine";
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct probe_input input = {.json = false};
    bool done = false;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    if (done) {
        return status_ok();
    }
    set_defaults(&input);
    input.options.begin_seconds = clock_seconds();
    struct probe_report *report = calloc(1, sizeof *report);
    if (report == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a probe");
    }
    struct status status = machine_detect(&report->machine);
    if (status.code == STATUS_OK) {
        status = check_input(&input, &report->machine);
    }
    if (status.code == STATUS_OK) {
        status = measure_and_write(exit_code, report, context, &input);
    }
    machine_free(&report->machine);
    result_run_free(&report->run);
    free(report);
    return status;
}

const struct command command_probe = {
    .name = "probe",
    .summary = "measure this machine's ceilings: bandwidth, compute, latency",
    .run = run};
