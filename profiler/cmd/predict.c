#include "profiler/output.h"
#include "profiler/prediction_json.h"
#include "profiler/prediction_options.h"
#include "profiler/prediction_text.h"
#include "workloads/model_file.h"

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
    if (key == 'o') {
        ((struct prediction_options *)state->input)->output = text;
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

static struct status answer(const struct command_context *context,
                            const struct prediction_options *from, const struct model *model,
                            const struct machine_source *machines, const double *prices)
{
    struct prediction prediction;
    struct status status =
        prediction_compute(&prediction, model, &from->request, machines, from->word_count, prices);
    if (status_is_ok(status) && !from->quiet) {
        for (uint32_t i = 0; i < model->note_count; i++) {
            (void)fprintf(context->err, "lmroof: warning: %s\n", model->notes[i].text);
        }
    }
    if (status_is_ok(status) && (from->json || from->output != NULL)) {
        status = prediction_write(context, &prediction, from->output, from->json);
    }
    if (status_is_ok(status) && !from->json) {
        prediction_print(context->out, &prediction);
    }
    prediction_free(&prediction);
    return status;
}

static struct status load_and_answer(const struct command_context *context,
                                     const struct prediction_options *from)
{
    struct machine_source *machines = NULL;
    double *prices = NULL;
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the model");
    }
    struct status status = model_load(model, from->model);
    if (status_is_ok(status)) {
        status = prediction_options_load(&machines, &prices, from);
    }
    if (status_is_ok(status)) {
        status = answer(context, from, model, machines, prices);
    }
    prediction_options_release(machines, from->word_count, prices);
    free(model);
    return status;
}

static struct status check(const struct prediction_options *from)
{
    if (from->model == NULL) {
        return status_error(STATUS_INVALID, "predict: no model given; accepted -m MODEL "
                                            "('lmroof model --list')");
    }
    if (from->word_count == 0) {
        return status_error(STATUS_INVALID, "predict: no machine given; accepted profiles of "
                                            "'lmroof probe -o' and names of 'lmroof predict "
                                            "--list'");
    }
    return from->output != NULL ? output_check(from->output) : status_ok();
}

static struct status parse_and_answer(const struct command_context *context, int argc, char **argv,
                                      struct prediction_options *from)
{
    bool done = false;
    prediction_options_default(from);
    TRY(command_parse(&done, context, &parser, argc, argv, from));
    if (done) {
        return status_ok();
    }
    if (from->list) {
        return prediction_list_machines(context->out);
    }
    TRY(check(from));
    return load_and_answer(context, from);
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    (void)exit_code;
    struct prediction_options *from = calloc(1, sizeof *from);
    if (from == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the options");
    }
    struct status status = parse_and_answer(context, argc, argv, from);
    free(from);
    return status;
}

const struct command command_predict = {
    "predict", "predict tokens/s of a model on machines, measured or by data sheet", run};
