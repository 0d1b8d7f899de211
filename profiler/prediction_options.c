#include "profiler/prediction_options.h"

#include "profiler/prediction_text.h"
#include "workloads/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_OPTION ((uint64_t)UINT32_MAX)

enum option_key {
    KEY_LIST = 512,
    KEY_BATCH,
    KEY_CONTEXT,
    KEY_PROMPT,
    KEY_DTYPE,
    KEY_KV_DTYPE,
    KEY_PRICE
};

static const struct argp_option options[] = {
    {"model", 'm', "MODEL", 0, "the model: built-in name, config.json or its folder, .gguf", 1},
    {"list", KEY_LIST, NULL, 0, "built-in machines (data sheets) with cores and memory", 1},
    {"batch", KEY_BATCH, "LIST", 0, "sequences at once (1)", 2},
    {"context", KEY_CONTEXT, "LIST", 0, "tokens cached before a decode step (512)", 2},
    {"prompt", KEY_PROMPT, "LIST", 0, "tokens of a prefill (512)", 2},
    {"dtype", KEY_DTYPE, "LIST", 0, "types of all weights (the model's own): f32 bf16 q8_0 ...", 3},
    {"kv-dtype", KEY_KV_DTYPE, "D", 0, "type of the cache (f16)", 3},
    {"price", KEY_PRICE, "NAME=VALUE", 0,
     "price of machine NAME per hour, any currency; repeatable (none)", 4},
    ANSWER_OPTIONS(5),
    {0}};

static struct status add_dtype(void *context, const char *word)
{
    struct prediction_request *request = context;
    if (request->dtype_count == PREDICTION_DTYPES_MAX) {
        return status_error(STATUS_INVALID, "--dtype: accepted up to %d types",
                            (int)PREDICTION_DTYPES_MAX);
    }
    return option_dtype(&request->dtypes[request->dtype_count++], "--dtype", word);
}

static struct status set_value(bool *known, struct prediction_options *out, int key,
                               const char *text)
{
    struct prediction_request *request = &out->request;
    *known = true;
    switch (key) {
    case KEY_BATCH:
        return option_count_list(&request->batch, "--batch", text, 1, SIZE_MAX_OPTION);
    case KEY_CONTEXT:
        return option_count_list(&request->context, "--context", text, 0, SIZE_MAX_OPTION);
    case KEY_PROMPT:
        return option_count_list(&request->prompt, "--prompt", text, 1, SIZE_MAX_OPTION);
    case KEY_DTYPE:
        request->dtype_count = 0;
        return option_words("--dtype", text, add_dtype, request);
    case KEY_KV_DTYPE:
        return option_dtype(&request->kv_dtype, "--kv-dtype", text);
    case KEY_LIST:
        out->list = true;
        return status_ok();
    case KEY_PRICE:
        if (out->price_count == PREDICTION_MACHINES_MAX) {
            return status_error(STATUS_INVALID, "more than %d --price",
                                (int)PREDICTION_MACHINES_MAX);
        }
        out->prices[out->price_count++] = text;
        return status_ok();
    default:
        *known = false;
        return status_ok();
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct prediction_options *out = state->input;
    bool known = answer_options_take(&out->answer, key, text);
    struct status status = known ? status_ok() : set_value(&known, out, key, text);
    return answer_options_parsed(state, known, status);
}

const struct argp prediction_argp = {.options = options, .parser = parse_option};

void prediction_options_default(struct prediction_options *out)
{
    struct prediction_request *request = &out->request;
    request->dtype_count = 1;
    request->dtypes[0] = DTYPE_STORED;
    request->kv_dtype = DTYPE_F16;
    request->batch = (struct option_counts){1, {1}};
    request->context = (struct option_counts){1, {512}};
    request->prompt = (struct option_counts){1, {512}};
}

struct status prediction_options_machine(struct prediction_options *out, const char *word)
{
    if (out->word_count == PREDICTION_MACHINES_MAX) {
        return status_error(STATUS_INVALID, "more than %d machines; accepted fewer",
                            (int)PREDICTION_MACHINES_MAX);
    }
    out->words[out->word_count++] = word;
    return status_ok();
}

// "NAME=VALUE": NAME is the MACHINE as written on the command line, or its label.
static struct status set_price(double *prices, const struct machine_source *sources,
                               const struct prediction_options *from, const char *text)
{
    const char *equals = strrchr(text, '=');
    double value = 0;
    if (equals == NULL || equals == text) {
        return status_error(STATUS_INVALID, "--price '%.60s': accepted NAME=VALUE", text);
    }
    TRY(option_positive(&value, "--price", equals + 1));
    size_t length = (size_t)(equals - text);
    bool found = false;
    for (size_t i = 0; i < from->word_count; i++) {
        const char *const names[] = {from->words[i], sources[i].label};
        for (size_t n = 0; n < 2; n++) {
            if (strlen(names[n]) == length && memcmp(names[n], text, length) == 0) {
                prices[i] = value;
                found = true;
            }
        }
    }
    return found ? status_ok()
                 : status_error(STATUS_INVALID,
                                "--price '%.60s': found no such machine; accepted one of the "
                                "MACHINE words",
                                text);
}

// Hundreds of profiles are mostly time in the parser: on all cores. The first failure in the order
// of the words is the one that is told.
static struct status load_sources(struct machine_source *out, const struct prediction_options *from)
{
    struct status *each = calloc(from->word_count + 1, sizeof *each);
    struct status first = status_ok();
    if (each == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu machines", from->word_count);
    }
#pragma omp parallel for schedule(dynamic, 8) if (from->word_count > 16)
    for (size_t i = 0; i < from->word_count; i++) {
        each[i] = machine_source_load(&out[i], from->words[i]);
    }
    for (size_t i = from->word_count; i > 0; i--) {
        first = status_is_ok(each[i - 1]) ? first : each[i - 1];
    }
    free(each);
    return first;
}

struct status prediction_options_load(struct machine_source **out, double **prices,
                                      const struct prediction_options *from)
{
    *out = calloc(from->word_count + 1, sizeof **out);
    *prices = calloc(from->word_count + 1, sizeof **prices);
    if (*out == NULL || *prices == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu machines", from->word_count);
    }
    for (size_t i = 0; i < from->word_count; i++) {
        (*prices)[i] = (double)NAN;
    }
    TRY(load_sources(*out, from));
    machine_sources_tell_apart(*out, from->words, from->word_count);
    for (size_t i = 0; i < from->price_count; i++) {
        TRY(set_price(*prices, *out, from, from->prices[i]));
    }
    return status_ok();
}

void prediction_options_release(struct machine_source *sources, size_t count, double *prices)
{
    for (size_t i = 0; sources != NULL && i < count; i++) {
        machine_source_free(&sources[i]);
    }
    free(sources);
    free(prices);
}

struct status prediction_options_predict(struct prediction *out, struct model **model,
                                         const struct prediction_options *from,
                                         const struct machine_source *machines,
                                         const double *prices)
{
    memset(out, 0, sizeof *out);
    *model = calloc(1, sizeof **model);
    if (*model == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the model");
    }
    TRY(model_load(*model, from->answer.model));
    for (size_t i = 0; i < from->word_count; i++) {
        TRY(machine_source_check(&machines[i]));
    }
    return prediction_compute(out, *model, &from->request, machines, from->word_count, prices);
}

static struct status load_and_answer(const struct prediction_command *command,
                                     const struct command_context *context,
                                     const struct prediction_options *from)
{
    struct machine_source *machines = NULL;
    double *prices = NULL;
    struct status status = prediction_options_load(&machines, &prices, from);
    if (status_is_ok(status)) {
        status = command->answer(context, from, machines, prices);
    }
    prediction_options_release(machines, from->word_count, prices);
    return status;
}

static struct status parse_and_answer(const struct prediction_command *command,
                                      const struct command_context *context, int argc, char **argv,
                                      struct prediction_options *from)
{
    bool done = false;
    prediction_options_default(from);
    TRY(command_parse(&done, context, command->parser, argc, argv, from));
    if (done) {
        return status_ok();
    }
    if (from->list) {
        return prediction_list_machines(context->out);
    }
    TRY(command->check(from));
    return load_and_answer(command, context, from);
}

struct status prediction_command_run(const struct prediction_command *command,
                                     const struct command_context *context, int argc, char **argv)
{
    struct prediction_options *from = calloc(1, sizeof *from);
    if (from == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the options");
    }
    struct status status = parse_and_answer(command, context, argc, argv, from);
    free(from);
    return status;
}
