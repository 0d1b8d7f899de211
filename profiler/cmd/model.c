#include "profiler/command.h"
#include "profiler/model_request.h"
#include "profiler/output.h"
#include "workloads/families.h"
#include "workloads/model_file.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_OPTION ((uint64_t)UINT32_MAX)

enum option_key {
    KEY_LIST = 256,
    KEY_PHASE,
    KEY_BATCH,
    KEY_CONTEXT,
    KEY_PROMPT,
    KEY_UBATCH,
    KEY_DTYPE,
    KEY_KV_DTYPE,
    KEY_EXACT,
    KEY_EXPLAIN,
    KEY_ALL_LOGITS,
    KEY_MLA,
    KEY_RIDGE,
    KEY_TOKENS,
    KEY_SEQUENCE,
    KEY_DEVICES,
    KEY_PEAK,
    KEY_MFU,
    KEY_JSON,
    KEY_QUIET,
};

static const struct argp_option options[] = {
    {"model", 'm', "MODEL", 0, "the model, if not given as argument", 1},
    {"list", KEY_LIST, NULL, 0, "built-in models, and the families of config.json", 1},
    {"phase", KEY_PHASE, "LIST", 0, "decode, prefill, train (decode,prefill)", 2},
    {"batch", KEY_BATCH, "LIST", 0, "sequences (1)", 2},
    {"context", KEY_CONTEXT, "LIST", 0,
     "tokens cached before the step, of a prefill too (512; 0: from empty, as run's)", 2},
    {"prompt", KEY_PROMPT, "LIST", 0, "tokens of a prefill (512)", 2},
    {"ubatch", KEY_UBATCH, "N", 0, "prefill in chunks of N tokens (one chunk)", 2},
    {"dtype", KEY_DTYPE, "D", 0, "type of all weights (the file's own): f32 bf16 q8_0 ...", 3},
    {"kv-dtype", KEY_KV_DTYPE, "D", 0, "type of the cache (f16)", 3},
    {"exact", KEY_EXACT, NULL, 0, "a dot product of length K costs 2K-1, not 2K", 3},
    {"all-logits", KEY_ALL_LOGITS, NULL, 0, "prefill: logits of every token, not of the last", 3},
    {"mla", KEY_MLA, "FORM", 0,
     "latent attention: naive or absorbed (absorbed in decode, naive in prefill)", 3},
    {"explain", KEY_EXPLAIN, NULL, 0, "the count by hand: formula, numbers, result", 4},
    {"ridge", KEY_RIDGE, "R", 0, "batch at which decode reaches R FLOP/byte", 4},
    {"tokens", KEY_TOKENS, "N", 0, "train: tokens in all", 5},
    {"sequence", KEY_SEQUENCE, "N", 0, "train: tokens of a sequence (the trained context)", 5},
    {"devices", KEY_DEVICES, "N", 0, "train: devices", 5},
    {"peak", KEY_PEAK, "F", 0, "train: dense FLOP/s of one device", 5},
    {"mfu", KEY_MFU, "X", 0, "train: share of the peak that is reached, 0..1", 5},
    {"json", KEY_JSON, NULL, 0, "one JSON document on standard output", 6},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 6},
    {"quiet", KEY_QUIET, NULL, 0, "no warnings on standard error", 6},
    {0}};

static struct status set_phase(void *context, const char *word)
{
    struct model_request *request = context;
    bool decode = strcmp(word, "decode") == 0;
    bool prefill = strcmp(word, "prefill") == 0;
    bool train = strcmp(word, "train") == 0;
    request->decode = request->decode || decode;
    request->prefill = request->prefill || prefill;
    request->train = request->train || train;
    return decode || prefill || train
               ? status_ok()
               : status_error(STATUS_INVALID, "--phase '%s': accepted decode, prefill, train",
                              word);
}

static struct status set_mla(enum step_mla *out, const char *text)
{
    *out = strcmp(text, "naive") == 0 ? STEP_MLA_NAIVE : STEP_MLA_ABSORBED;
    return strcmp(text, "naive") == 0 || strcmp(text, "absorbed") == 0
               ? status_ok()
               : status_error(STATUS_INVALID, "--mla '%.20s': accepted naive, absorbed", text);
}

static struct status set_model(struct model_request *request, const char *word)
{
    if (request->word != NULL) {
        return status_error(STATUS_INVALID, "two models, '%.100s' and '%.100s'; accepted one",
                            request->word, word);
    }
    request->word = word;
    return status_ok();
}

static struct status set_mfu(double *out, const char *text)
{
    TRY(option_positive(out, "--mfu", text));
    return *out <= 1 ? status_ok()
                     : status_error(STATUS_INVALID, "--mfu '%.20s': accepted 0..1", text);
}

static struct status set_step_option(bool *known, struct model_request *request, int key,
                                     const char *text)
{
    *known = true;
    switch (key) {
    case KEY_PHASE:
        return option_words("--phase", text, set_phase, request);
    case KEY_BATCH:
        return option_count_list(&request->batch, "--batch", text, 1, SIZE_MAX_OPTION);
    case KEY_CONTEXT:
        return option_count_list(&request->context, "--context", text, 0, SIZE_MAX_OPTION);
    case KEY_PROMPT:
        return option_count_list(&request->prompt, "--prompt", text, 1, SIZE_MAX_OPTION);
    case KEY_UBATCH:
        return option_count(&request->step.ubatch, "--ubatch", text, 1, SIZE_MAX_OPTION);
    case KEY_DTYPE:
        return option_dtype(&request->step.dtype, "--dtype", text);
    case KEY_KV_DTYPE:
        return option_dtype(&request->step.kv_dtype, "--kv-dtype", text);
    case KEY_MLA:
        return set_mla(&request->step.mla, text);
    case KEY_RIDGE:
        return option_positive(&request->ridge_flop_per_byte, "--ridge", text);
    default:
        *known = false;
        return status_ok();
    }
}

static struct status set_other_option(bool *known, struct model_request *request, int key,
                                      char *text)
{
    *known = true;
    switch (key) {
    case 'm':
    case ARGP_KEY_ARG:
        return set_model(request, text);
    case 'o':
        request->output = text;
        return status_ok();
    case KEY_TOKENS:
        return option_positive(&request->training.tokens, "--tokens", text);
    case KEY_SEQUENCE:
        return option_count(&request->training.sequence, "--sequence", text, 1, SIZE_MAX_OPTION);
    case KEY_DEVICES:
        return option_positive(&request->training.devices, "--devices", text);
    case KEY_PEAK:
        return option_positive(&request->training.device_flop_per_s, "--peak", text);
    case KEY_MFU:
        return set_mfu(&request->training.mfu_fraction, text);
    default:
        *known = false;
        return status_ok();
    }
}

static bool set_switch(struct model_request *request, int key)
{
    bool *const switches[] = {&request->list,  &request->json,       &request->explain,
                              &request->quiet, &request->step.exact, &request->step.all_logits};
    static const int keys[] = {KEY_LIST,  KEY_JSON,  KEY_EXPLAIN,
                               KEY_QUIET, KEY_EXACT, KEY_ALL_LOGITS};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i] == key) {
            *switches[i] = true;
            return true;
        }
    }
    return false;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct model_request *request = state->input;
    if (set_switch(request, key)) {
        return 0;
    }
    bool known = false;
    struct status status = set_step_option(&known, request, key, text);
    if (!known) {
        status = set_other_option(&known, request, key, text);
    }
    if (!status_is_ok(status)) {
        return command_option_error(state, status);
    }
    return known ? 0 : ARGP_ERR_UNKNOWN;
}

static void set_defaults(struct model_request *request)
{
    request->step = step_defaults(STEP_DECODE);
    request->batch = (struct option_counts){1, {1}};
    request->context = (struct option_counts){1, {512}};
    request->prompt = (struct option_counts){1, {512}};
}

// What the options ask for together.
static struct status check_request(struct model_request *request)
{
    if (request->word == NULL && !request->list) {
        return status_error(STATUS_INVALID, "no model given; accepted a name of 'lmroof model "
                                            "--list', a config.json or its directory, a .gguf");
    }
    if (!request->decode && !request->prefill && !request->train) {
        request->decode = request->prefill = true;
    }
    const struct training_request *training = &request->training;
    if (request->train && !(training->tokens > 0)) {
        return status_error(STATUS_INVALID, "--phase train needs --tokens N");
    }
    bool some =
        training->devices > 0 || training->device_flop_per_s > 0 || training->mfu_fraction > 0;
    bool all =
        training->devices > 0 && training->device_flop_per_s > 0 && training->mfu_fraction > 0;
    if (some && !all) {
        return status_error(STATUS_INVALID,
                            "--devices, --peak and --mfu: accepted all three or none");
    }
    return request->output != NULL ? output_check(request->output) : status_ok();
}

static void print_list(FILE *out)
{
    (void)fprintf(out, "Built-in models:\n");
    for (const struct embedded_file *file = model_builtins(); file->name != NULL; file++) {
        (void)fprintf(out, "  %s\n", file->name);
    }
    (void)fprintf(out, "Families of config.json (model_type):\n");
    for (size_t i = 0; family_at(i) != NULL; i++) {
        (void)fprintf(out, "  %-34s %s\n", family_at(i)->model_types, family_at(i)->source);
    }
}

static struct status answer_request(const struct command_context *context,
                                    struct model_request *request, const struct model *model)
{
    if (request->training.sequence == 0) {
        request->training.sequence = model->trained_context > 0 ? model->trained_context : 2048;
    }
    struct model_answer answer;
    struct status status = model_answer_compute(&answer, model, request);
    if (status_is_ok(status)) {
        for (uint32_t i = 0; !request->quiet && i < answer.note_count; i++) {
            (void)fprintf(context->err, "lmroof: warning: %s\n", answer.notes[i].text);
        }
        if (request->json || request->output != NULL) {
            status = model_write_document(context, &answer);
        }
        if (!request->json && request->explain) {
            model_explain(context->out, &answer);
        } else if (!request->json) {
            model_print(context->out, &answer);
        }
    }
    model_answer_free(&answer);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    static const struct argp argp = {
        options,
        parse_option,
        "MODEL",
        "Parameters, FLOPs, bytes and intensity of a model's steps, counted exactly.\v"
        "MODEL is a built-in name, a Hugging Face config.json or its directory, or a .gguf.\n"
        "Figures of operators are of the whole step, all layers together; bytes are those of "
        "memory, "
        "at the least: weights and cache.\n\n"
        "Examples:\n"
        "  lmroof model llama-3.2-1b --batch 1,16 --explain\n"
        "  lmroof model llama-3-8b --dtype q4_0 --context 8192 --ridge 12\n"
        "  lmroof model llama-2-7b --phase train --tokens 2e12",
        NULL,
        NULL,
        NULL};
    (void)exit_code;
    struct model_request request = {0};
    set_defaults(&request);
    bool done = false;
    TRY(command_parse(&done, context, &argp, argc, argv, &request));
    if (done) {
        return status_ok();
    }
    TRY(check_request(&request));
    if (request.list) {
        print_list(context->out);
        return status_ok();
    }
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the model");
    }
    struct status status = model_load(model, request.word);
    if (status_is_ok(status)) {
        status = answer_request(context, &request, model);
    }
    free(model);
    return status;
}

const struct command command_model = {
    .name = "model", .summary = "count a model's parameters, FLOPs and bytes per step", .run = run};
