#include "profiler/validate.h"

#include "profiler/output.h"
#include "profiler/run.h"

#include <string.h>
#include <unistd.h>

enum option_key {
    KEY_DTYPE = 256,
    KEY_CONTEXT,
    KEY_BATCH,
    KEY_THREADS,
    KEY_REPEAT,
    KEY_BUDGET,
    KEY_JSON,
    KEY_QUIET,
};

static const struct argp_option options[] = {
    {"model", 'm', "MODEL", 0,
     "a built-in name (lmroof model --list), a config.json or its folder, a .gguf (llama-3.2-1b)",
     1},
    {"dtype", KEY_DTYPE, "D", 0,
     "of the weights: f32, bf16, f16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, int8, "
     "int4_g128, mxfp4 (the model's own)",
     1},
    {"context", KEY_CONTEXT, "N", 0, "tokens cached before the step (512)", 1},
    {"batch", KEY_BATCH, "N", 0, "sequences decoded at once (1)", 1},
    {"threads", KEY_THREADS, "N", 0, "bound threads (one per usable core, within the quota)", 2},
    {"repeat", KEY_REPEAT, "N", 0, "rounds per operator, 3 to 64 (41)", 2},
    {"budget", KEY_BUDGET, "SECONDS", 0, "fewer rounds so that it ends in time (no limit)", 2},
    {"json", KEY_JSON, NULL, 0, "one JSON document on standard output", 3},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 3},
    {"quiet", KEY_QUIET, NULL, 0, "no progress and no warnings on standard error", 3},
    {0}};

static struct status set(struct run_request *request, int key, const char *text)
{
    switch (key) {
    case KEY_DTYPE:
        return run_request_one_dtype(request, text);
    case KEY_CONTEXT:
        request->context.count = 1;
        return option_count(&request->context.values[0], "--context", text, 0, 1 << 24);
    case KEY_BATCH:
        request->batch.count = 1;
        return option_count(&request->batch.values[0], "--batch", text, 1, 512);
    case KEY_THREADS:
        return option_count(&request->threads, "--threads", text, 1, 1 << 20);
    case KEY_BUDGET:
        return option_positive(&request->budget_seconds, "--budget", text);
    default:
        return option_count(&request->repeat, "--repeat", text, 3, READING_SAMPLES_MAX);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_request *request = state->input;
    struct status status = status_ok();
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) {
            return ARGP_ERR_UNKNOWN; // a second model
        }
        request->model = arg;
        break;
    case 'm':
        request->model = arg;
        break;
    case KEY_DTYPE:
    case KEY_CONTEXT:
    case KEY_BATCH:
    case KEY_THREADS:
    case KEY_REPEAT:
    case KEY_BUDGET:
        status = set(request, key, arg);
        break;
    case KEY_JSON:
        request->json = true;
        break;
    case 'o':
        request->output = arg;
        break;
    case KEY_QUIET:
        request->quiet = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return status.code == STATUS_OK ? 0 : command_option_error(state, status);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[MODEL]",
    .doc = "Puts the claim \"low-batch decode is bound by memory here\" to the test: every "
           "operator of a decode step beside its twins and roofs.\v"
           "Exit status: 0 confirmed, 3 refuted, 4 cannot tell.\n"
           "Example: lmroof validate -m llama-3.2-1b --dtype bf16"};

static void print_warnings(const struct result_run *run, FILE *err)
{
    for (size_t i = 0; i < run->warning_count; i++) {
        (void)fprintf(err, "lmroof: warning: %s\n", run->warnings[i].text);
    }
}

static struct status judge(int *exit_code, const struct result_run *run,
                           const struct run_request *request, const char *output,
                           const struct command_context *context)
{
    static const int codes[] = {
        [CLAIM_CONFIRMED] = 0, [CLAIM_REFUTED] = 3, [CLAIM_CANNOT_TELL] = 4};
    struct validation validation;
    validation_judge(&validation, run);
    *exit_code = codes[validation.verdict];
    if (!request->quiet) {
        print_warnings(run, context->err);
    }
    if (!request->json) {
        validation_print(context->out, &validation, run);
    }
    return validation_write_json(&validation, run, context, output, request->json);
}

// Where a document was asked for it says that, and how far, the step was measured. An older one
// stays until there is a figure to put in its place.
static struct status note_end(const struct result_run *run, const struct run_request *request,
                              const char *output, const struct command_context *context, bool older,
                              struct status ended)
{
    struct validation validation;
    bool stopped = ended.code == STATUS_INTERRUPTED;
    const char *kept = older && !run_has_measurement(run) ? NULL : output;
    validation_interrupted(&validation, run, stopped ? "interrupted" : ended.detail);
    TRY(validation_write_json(&validation, run, context, kept, stopped && request->json));
    return kept == NULL || !stopped ? ended : run_interrupted(kept);
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct run_request request;
    struct result_run result;
    bool done = false;
    run_request_defaults(&request);
    request.repeat = 41;
    request.decode = true;
    TRY(command_parse(&done, context, &argp, argc, argv, &request));
    if (done) {
        return status_ok();
    }
    const char *output = request.output;
    request.output = NULL; // the document is the verdict's, not the run's
    if (output != NULL) {
        TRY(output_check(output));
    }
    bool older = output != NULL && access(output, F_OK) == 0;
    struct status status = run_execute(&result, &request, context);
    if (status.code == STATUS_OK) {
        result.complete = result.complete && validation_is_whole(&result);
        status = judge(exit_code, &result, &request, output, context);
    } else if (status.code == STATUS_INTERRUPTED || status.code == STATUS_UNAVAILABLE) {
        status = note_end(&result, &request, output, context, older, status);
    }
    result_run_free(&result);
    return status;
}

const struct command command_validate = {
    .name = "validate",
    .summary = "is decode bound by memory here? confirmed, refuted, or cannot tell",
    .run = run,
};
