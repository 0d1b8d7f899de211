#include "profiler/answer_options.h"
#include "profiler/input.h"
#include "profiler/option_list.h"
#include "profiler/output.h"
#include "profiler/place_json.h"
#include "profiler/place_text.h"
#include "profiler/result_build.h"
#include "workloads/model_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define COUNT_MAX ((uint64_t)UINT32_MAX)

enum option_key {
    KEY_FROM = 256,
    KEY_MACHINE,
    KEY_BATCH,
    KEY_PROMPT,
    KEY_GENERATED,
    KEY_THREADS,
    KEY_DTYPE
};

static const struct argp_option options[] = {
    {"from", KEY_FROM, "TOOL", 0, "llama-bench, llama-batched-bench or vllm", 1},
    {"model", 'm', "MODEL", 0,
     "what it ran (a built-in model of as many parameters, else the file's size)", 1},
    {"machine", KEY_MACHINE, "FILE|NAME", 0,
     "where it ran: profile of 'lmroof probe -o', or a name of 'lmroof predict --list' (none: no "
     "fractions)",
     1},
    {"dtype", KEY_DTYPE, "D", 0, "type of the weights (as the file tells): f32 bf16 q8_0 ...", 2},
    {"threads", KEY_THREADS, "N", 0, "threads it used (as the file tells)", 2},
    {"batch", KEY_BATCH, "N", 0, "vllm: sequences at once (as the file tells)", 2},
    {"prompt", KEY_PROMPT, "N", 0, "vllm: tokens of a prompt (as the file tells)", 2},
    {"generated", KEY_GENERATED, "N", 0, "vllm: tokens generated a sequence (as the file tells)",
     2},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 3},
    ANSWER_OPTIONS(3),
    {0}};

struct place_arguments {
    struct answer_options answer; // first: command_option_error()
    const struct place_tool *tool;
    const char *machine;
    const char *file;
    struct place_hints hints;
};

static struct status set_value(bool *known, struct place_arguments *out, int key, char *text)
{
    *known = true;
    switch (key) {
    case KEY_FROM:
        return place_tool_find(&out->tool, text);
    case KEY_MACHINE:
        out->machine = text;
        return status_ok();
    case KEY_DTYPE:
        return option_dtype(&out->hints.dtype, "--dtype", text);
    case KEY_THREADS:
        return option_count(&out->hints.threads, "--threads", text, 1, 65536);
    case KEY_BATCH:
        return option_count(&out->hints.batch, "--batch", text, 1, COUNT_MAX);
    case KEY_PROMPT:
        return option_count(&out->hints.prompt, "--prompt", text, 1, COUNT_MAX);
    case KEY_GENERATED:
        return option_count(&out->hints.generated, "--generated", text, 1, COUNT_MAX);
    case ARGP_KEY_ARG:
        if (out->file != NULL) {
            return status_error(STATUS_INVALID,
                                "place: found two files, '%.60s' and '%.60s'; "
                                "accepted one",
                                out->file, text);
        }
        out->file = text;
        return status_ok();
    default:
        *known = false;
        return status_ok();
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct place_arguments *out = state->input;
    bool known = answer_options_take(&out->answer, key, text);
    struct status status = known ? status_ok() : set_value(&known, out, key, text);
    return answer_options_parsed(state, known, status);
}

static const char doc[] =
    "Puts what another tool measured under the roofs of the machine it ran on: bytes/s, fraction "
    "of the bound, what is left, and the probable cause where much is.\v"
    "FILE is the tool's output: llama-bench -o json, jsonl, csv or md; llama-batched-bench "
    "--output-format jsonl or md; vLLM's bench latency, throughput or serve in JSON; '-' is "
    "standard input. Several depths, thread counts, formats and batches in one file tell causes "
    "apart.\n\n"
    "Examples:\n"
    "  llama-bench -m model.gguf -t 4,8 -d 0,4096 -o json >bench.json\n"
    "  lmroof place --from llama-bench bench.json -m model.gguf --machine here.json\n"
    "  lmroof place --from vllm latency.json -m llama-3-8b --machine xeon-8480+ \\\n"
    "      --batch 8 --prompt 32 --generated 128";

static const struct argp parser = {options, parse_option, "FILE", doc, NULL, NULL, NULL};

static struct status read_input(char **text, size_t *size, const char *path)
{
    return strcmp(path, "-") == 0 ? input_read_stream(text, size, stdin, FILE_BYTES_MAX, path)
                                  : input_read(text, size, path, FILE_BYTES_MAX);
}

struct collecting {
    const struct place_tool *tool;
    const struct place_hints *hints;
    struct place_test *tests;
    size_t count;
};

static struct status take_row(void *context, const struct place_row *row)
{
    struct collecting *to = context;
    struct place_test made[PLACE_TESTS_OF_ROW];
    size_t count = 0;
    for (size_t i = 0; i < PLACE_TESTS_OF_ROW; i++) {
        made[i] = (struct place_test){.row = row->number,
                                      .dtype = DTYPE_NONE,
                                      .kv_dtype = DTYPE_F16,
                                      .file_bytes = (double)NAN,
                                      .parameters = (double)NAN};
    }
    TRY(to->tool->take(made, &count, row, to->hints));
    for (size_t i = 0; i < count; i++) {
        struct place_test *test = result_append(&to->tests, &to->count, sizeof *test);
        if (test == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for the points");
        }
        *test = made[i];
    }
    return status_ok();
}

static struct status place_tests(const struct command_context *context,
                                 const struct place_arguments *from, const struct model *model,
                                 const struct machine_source *machine,
                                 const struct collecting *tests)
{
    struct placement placement;
    const struct place_request request = {.model = model, .machine = machine, .hints = from->hints};
    struct status status = place_compute(&placement, tests->tests, tests->count, &request);
    status = status_prefix(status, "%s", from->file);
    if (status_is_ok(status) && (from->answer.json || from->answer.output != NULL)) {
        status = place_write(context, &placement, from->tool->name, from->answer.output,
                             from->answer.json);
    }
    if (status_is_ok(status) && !from->answer.json) {
        place_print(context->out, &placement);
    }
    place_free(&placement);
    return status;
}

static struct status load_and_place(const struct command_context *context,
                                    const struct place_arguments *from, struct model *model,
                                    struct machine_source *machine)
{
    char *text = NULL;
    size_t size = 0;
    struct collecting tests = {.tool = from->tool, .hints = &from->hints};
    if (from->answer.model != NULL) {
        TRY(model_load(model, from->answer.model));
    }
    if (from->machine != NULL) {
        TRY(machine_source_load(machine, from->machine));
        TRY(machine_source_check(machine));
        if (!from->answer.quiet) {
            machine_source_warn(context->err, machine, from->answer.verbose);
        }
    }
    struct status status = read_input(&text, &size, from->file);
    if (status_is_ok(status)) {
        status = place_rows_read(text, size, from->file, take_row, &tests);
    }
    if (status_is_ok(status) && tests.count == 0) {
        status = status_error(STATUS_INVALID, "%s: found no measurement in it", from->file);
    }
    if (status_is_ok(status)) {
        status = place_tests(context, from, from->answer.model == NULL ? NULL : model,
                             from->machine == NULL ? NULL : machine, &tests);
    }
    free(tests.tests);
    free(text);
    return status;
}

static struct status check(const struct place_arguments *from)
{
    if (from->tool == NULL) {
        return status_error(STATUS_INVALID, "place: no --from given; accepted llama-bench, "
                                            "llama-batched-bench, vllm");
    }
    if (from->file == NULL) {
        return status_error(STATUS_INVALID, "place: no file given; accepted the output of %s",
                            from->tool->name);
    }
    if (from->tool->needs_model && from->answer.model == NULL) {
        return status_error(STATUS_INVALID,
                            "place: the output of %s does not tell the model; "
                            "accepted -m MODEL",
                            from->tool->name);
    }
    return from->answer.output != NULL ? output_check(from->answer.output) : status_ok();
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct place_arguments from = {.hints = {.dtype = DTYPE_NONE}};
    bool done = false;
    (void)exit_code;
    TRY(command_parse(&done, context, &parser, argc, argv, &from));
    if (done) {
        return status_ok();
    }
    TRY(check(&from));
    struct model *model = calloc(1, sizeof *model);
    struct machine_source *machine = calloc(1, sizeof *machine);
    struct status status = status_error(STATUS_SYSTEM, "no memory for the model");
    if (model != NULL && machine != NULL) {
        status = load_and_place(context, &from, model, machine);
        machine_source_free(machine);
    }
    free(machine);
    free(model);
    return status;
}

const struct command command_place = {
    .name = "place",
    .summary = "put another tool's measurements under the roof: llama-bench, vLLM",
    .run = run};
