#include "profiler/comparison_json.h"
#include "profiler/comparison_text.h"
#include "profiler/output.h"
#include "profiler/prediction_options.h"
#include "profiler/prediction_text.h"
#include "profiler/report_format.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "the JSON document into FILE.json, or the ceilings overlaid: .svg .png .pdf .html .csv .md "
     ".txt",
     5},
    {0}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct prediction_options *from = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    if (answer_options_take(state->input, key, text)) {
        return 0;
    }
    if (key != ARGP_KEY_ARG) {
        return ARGP_ERR_UNKNOWN;
    }
    struct status status = prediction_options_machine(from, text);
    return status_is_ok(status) ? 0 : command_option_error(state, status);
}

static const char doc[] =
    "Machines side by side: ceilings with their ratio and whether the intervals lie apart; with -m "
    "also tokens/s by batch and context and the turning batch, with --price tokens per unit of "
    "money.\v"
    "A MACHINE is a profile of 'lmroof probe -o', a run, or a data sheet of --list. What is unlike "
    "(threads per core, pages, placement, instruction class, version, unsteady samples, data sheet "
    "beside measurement) is marked at each figure; simulated beside measured is refused.\n\n"
    "Examples:\n"
    "  lmroof compare old.json new.json\n"
    "  lmroof compare c7i.48xlarge c8g.48xlarge -m llama-3-8b --dtype q4_0 --batch 1,32 \\\n"
    "      --price c7i.48xlarge=8.57 --price c8g.48xlarge=7.66\n"
    "  lmroof compare here.json epyc-9654 -o both.svg";

static const struct argp_child children[] = {{&prediction_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse_option, "MACHINE MACHINE...", doc, children,
                                   NULL,    NULL};

static bool is_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

static struct status save_picture(const struct command_context *context,
                                  const struct prediction_options *from,
                                  const struct machine_source *machines)
{
    size_t count = from->word_count;
    struct result_run *runs = calloc(count, sizeof *runs);
    const char **labels = calloc(count, sizeof *labels);
    struct status status = status_error(STATUS_SYSTEM, "no memory for %zu machines", count);
    if (runs != NULL && labels != NULL) {
        for (size_t i = 0; i < count; i++) {
            runs[i] = machines[i].run; // borrowed: not freed here
            labels[i] = machines[i].label;
        }
        const struct report_input input = {
            .runs = runs, .run_count = count, .labels = labels, .context = context};
        status = report_save(from->answer.output, &input);
    }
    free(runs);
    free(labels);
    return status;
}

static struct status write_answer(const struct command_context *context,
                                  const struct prediction_options *from,
                                  const struct machine_source *machines,
                                  const struct comparison *comparison,
                                  const struct prediction *prediction)
{
    bool document = from->answer.output != NULL && is_json(from->answer.output);
    for (size_t i = 0; !from->answer.quiet && i < comparison->unlike_count; i++) {
        (void)fprintf(context->err, "lmroof: warning: %s\n", comparison->unlike[i].text);
    }
    for (size_t i = 0; !from->answer.quiet && from->answer.verbose && i < from->word_count; i++) {
        machine_source_warn(context->err, &machines[i], true);
    }
    if (from->answer.output != NULL && !document) {
        TRY(save_picture(context, from, machines));
    }
    if (from->answer.json || document) {
        TRY(comparison_write(context, comparison, prediction, document ? from->answer.output : NULL,
                             from->answer.json));
    }
    if (!from->answer.json) {
        if (prediction != NULL) {
            prediction_print_choice(context->out, prediction);
            prediction_print(context->out, prediction);
            (void)fprintf(context->out, "\n");
        }
        comparison_print(context->out, comparison);
    }
    return status_ok();
}

static struct status predict_and_write(const struct command_context *context,
                                       const struct prediction_options *from,
                                       const struct machine_source *machines, const double *prices,
                                       const struct comparison *comparison)
{
    if (from->answer.model == NULL) {
        return write_answer(context, from, machines, comparison, NULL);
    }
    struct prediction prediction;
    struct model *model = NULL;
    struct status status = prediction_options_predict(&prediction, &model, from, machines, prices);
    if (status_is_ok(status)) {
        status = write_answer(context, from, machines, comparison, &prediction);
    }
    prediction_free(&prediction);
    free(model);
    return status;
}

static struct status answer(const struct command_context *context,
                            const struct prediction_options *from,
                            const struct machine_source *machines, const double *prices)
{
    struct comparison comparison = {.machines = NULL};
    struct status status = comparison_compute(&comparison, machines, from->word_count);
    if (status_is_ok(status)) {
        status = predict_and_write(context, from, machines, prices, &comparison);
    }
    comparison_free(&comparison);
    return status;
}

static struct status check(const struct prediction_options *from)
{
    const struct report_format *format = NULL;
    if (from->word_count < 2) {
        return status_error(STATUS_INVALID,
                            "compare: found %zu machine%s, accepted two or more: profiles of "
                            "'lmroof probe -o' or names of 'lmroof compare --list'",
                            from->word_count, from->word_count == 1 ? "" : "s");
    }
    if (from->price_count > 0 && from->answer.model == NULL) {
        return status_error(STATUS_INVALID, "compare: --price needs a model; accepted -m MODEL");
    }
    if (from->answer.output == NULL) {
        return status_ok();
    }
    TRY(is_json(from->answer.output) ? status_ok()
                                     : report_find(&format, from->answer.output, " .json"));
    return output_check(from->answer.output);
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    static const struct prediction_command command = {&parser, check, answer};
    (void)exit_code;
    return prediction_command_run(&command, context, argc, argv);
}

const struct command command_compare = {
    .name = "compare",
    .summary = "machines side by side: ceilings, tokens/s, price-performance",
    .run = run};
