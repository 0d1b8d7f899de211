#include "profiler/output.h"
#include "profiler/prediction_json.h"
#include "profiler/prediction_options.h"
#include "profiler/prediction_text.h"

#include <stdlib.h>

enum { KEY_MACHINE = 256 };

static const struct argp_option options[] = {
    {"machine", KEY_MACHINE, "FILE|NAME", 0,
     "profile of 'lmroof probe -o', or a name of --list; repeatable, or as arguments", 1},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 5},
    {0}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    if (answer_options_take(state->input, key, text)) {
        return 0;
    }
    if (key != KEY_MACHINE && key != ARGP_KEY_ARG) {
        return ARGP_ERR_UNKNOWN;
    }
    struct status status = prediction_options_machine(state->input, text);
    return status_is_ok(status) ? 0 : command_option_error(state, status);
}

static const char doc[] =
    "What machines would do with a model: tokens/s, time per token and to the first token, the "
    "batch at which decode turns, ranked.\v"
    "Nothing is measured. Of a profile the bound and an estimate are given, of a data sheet the "
    "bound and the band that public measurements reached below it. tokens/s counts all sequences "
    "of the batch; TPOT and TTFT are seconds.\n\n"
    "Examples:\n"
    "  lmroof predict -m llama-3-8b --dtype q4_0,q8_0 epyc-9654 graviton4\n"
    "  lmroof predict -m ./config.json --machine here.json --batch 1,8,64 --context 512,8192\n"
    "  lmroof predict --list";

static const struct argp_child children[] = {{&prediction_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse_option, "MACHINE...", doc, children, NULL, NULL};

static struct status write_answer(const struct command_context *context,
                                  const struct prediction_options *from,
                                  const struct prediction *prediction)
{
    const struct model *model = prediction->model;
    for (uint32_t i = 0; !from->answer.quiet && i < model->note_count; i++) {
        (void)fprintf(context->err, "lmroof: warning: %s\n", model->notes[i].text);
    }
    for (size_t i = 0; !from->answer.quiet && i < prediction->machine_count; i++) {
        machine_source_warn(context->err, prediction->machines[i].source, from->answer.verbose);
    }
    if (from->answer.json || from->answer.output != NULL) {
        TRY(prediction_write(context, prediction, from->answer.output, from->answer.json));
    }
    if (!from->answer.json) {
        prediction_print(context->out, prediction);
    }
    return status_ok();
}

static struct status answer(const struct command_context *context,
                            const struct prediction_options *from,
                            const struct machine_source *machines, const double *prices)
{
    struct prediction prediction;
    struct model *model = NULL;
    struct status status = prediction_options_predict(&prediction, &model, from, machines, prices);
    if (status_is_ok(status)) {
        status = write_answer(context, from, &prediction);
    }
    prediction_free(&prediction);
    free(model);
    return status;
}

static struct status check(const struct prediction_options *from)
{
    if (from->answer.model == NULL) {
        return status_error(STATUS_INVALID, "predict: no model given; accepted -m MODEL "
                                            "('lmroof model --list')");
    }
    if (from->word_count == 0) {
        return status_error(STATUS_INVALID, "predict: no machine given; accepted profiles of "
                                            "'lmroof probe -o' and names of 'lmroof predict "
                                            "--list'");
    }
    return from->answer.output != NULL ? output_check(from->answer.output) : status_ok();
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    static const struct prediction_command command = {&parser, check, answer};
    (void)exit_code;
    return prediction_command_run(&command, context, argc, argv);
}

const struct command command_predict = {
    .name = "predict",
    .summary = "predict tokens/s of a model on machines, measured or by data sheet",
    .run = run};
