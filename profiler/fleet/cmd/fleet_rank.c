#include "profiler/fleet/ranking_report.h"
#include "profiler/option_list.h"
#include "profiler/output.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_AGAINST = 0x100, KEY_TOP, KEY_LEAST, KEY_CHECK, KEY_JSON };

enum { EXIT_CHECK = 5 };

struct input {
    struct command_input common; // first: command_parse() writes it
    char **paths;                // owned list of borrowed words
    size_t path_count;
    char *against;
    const char *output;
    uint64_t top;
    double least_percent;
    bool check;
    bool json;
};

static const struct argp_option options[] = {
    {"against", KEY_AGAINST, "DIR", 0, "also tell what has drifted since that run", 0},
    {"top", KEY_TOP, "N", 0, "places to print (20)", 0},
    {"least", KEY_LEAST, "PERCENT", 0, "smaller deviations are no outliers, whatever their z (3)",
     0},
    {"check", KEY_CHECK, NULL, 0, "exit 5 if a unit is an outlier or a ceiling has drifted", 0},
    {"output", 'o', "FILE", 0,
     "write to FILE: .json the document, .html a heat map, .txt the tables", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.ranking/1) on standard output", 0},
    {0}};

static error_t add_path(struct input *input, char *text, struct argp_state *state)
{
    char **grown = realloc(input->paths, (input->path_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return command_option_error(state, status_error(STATUS_SYSTEM, "no memory for the names"));
    }
    input->paths = grown;
    input->paths[input->path_count++] = text;
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct input *input = state->input;
    struct status status = status_ok();
    switch (key) {
    case ARGP_KEY_ARG:
        return add_path(input, text, state);
    case KEY_AGAINST:
        input->against = text;
        return 0;
    case KEY_TOP:
        status = option_count(&input->top, "--top", text, 0, 1u << 20);
        return status.code == STATUS_OK ? 0 : command_option_error(state, status);
    case KEY_LEAST:
        status = option_positive(&input->least_percent, "--least", text);
        return status.code == STATUS_OK ? 0 : command_option_error(state, status);
    case KEY_CHECK:
        input->check = true;
        return 0;
    case 'o':
        input->output = text;
        return 0;
    case KEY_JSON:
        input->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse_option,
    "DIR|PROFILE...",
    "Ranks the units of a fleet, worst first, and names those that differ from their like: each "
    "ceiling's robust z over the repeats. Needs no mpirun.\v"
    "DIR is a folder of lmroof-fleet probe; several runs count as repeats. Like units have the "
    "same processor, cores and caches; with fewer than 5 none is judged. The limit follows from "
    "how many values are judged: one ranking in a thousand names a healthy unit. Examples:\n"
    "  lmroof-fleet rank out\n"
    "  lmroof-fleet rank monday tuesday --against january -o fleet.html\n",
    NULL,
    NULL,
    NULL};

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text);
    return n > strlen(end) && strcmp(text + n - strlen(end), end) == 0;
}

static struct status check_output(const struct input *input)
{
    if (input->output == NULL) {
        return status_ok();
    }
    if (!ends_in(input->output, ".json") && !ends_in(input->output, ".html") &&
        !ends_in(input->output, ".txt")) {
        return status_error(STATUS_INVALID,
                            "-o %s: unknown kind of file; accepted .json, .html, "
                            ".txt",
                            input->output);
    }
    return output_check(input->output);
}

static struct status write_text(const struct ranking *ranking, const struct input *input)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the report");
    }
    if (ends_in(input->output, ".html")) {
        ranking_print_html(out, ranking);
    } else {
        ranking_print(out, ranking, (size_t)input->top);
    }
    struct status status = fclose(out) == 0
                               ? output_replace(input->output, text, size)
                               : status_error(STATUS_SYSTEM, "no memory for the report");
    free(text);
    return status;
}

static struct status write_ranking(const struct ranking *ranking, const struct input *input,
                                   const struct command_context *context)
{
    bool document = input->output != NULL && ends_in(input->output, ".json");
    if (input->json || document) {
        TRY(ranking_write(ranking, context, document ? input->output : NULL, input->json));
    }
    if (input->output != NULL && !document) {
        TRY(write_text(ranking, input));
    }
    if (!input->json) {
        ranking_print(context->out, ranking, (size_t)input->top);
    }
    return status_ok();
}

static struct status rank(struct ranking *ranking, struct profile_set *now,
                          struct profile_set *before, const struct input *input)
{
    TRY(profile_set_read(now, input->paths, input->path_count));
    if (input->against != NULL) {
        TRY(profile_set_read(before, &input->against, 1));
    }
    TRY(ranking_compute(ranking, now, input->least_percent / 100));
    return input->against == NULL ? status_ok() : ranking_compare(ranking, before);
}

static struct status rank_and_write(int *exit_code, const struct input *input,
                                    const struct command_context *context)
{
    struct profile_set now = {.units = NULL};
    struct profile_set before = {.units = NULL};
    struct ranking ranking = {.set = NULL};
    struct status status = rank(&ranking, &now, &before, input);
    if (status.code == STATUS_OK) {
        status = write_ranking(&ranking, input, context);
    }
    bool bad = ranking.outlier_units > 0 || ranking.drift_count > 0;
    *exit_code = input->check && bad ? EXIT_CHECK : 0;
    ranking_free(&ranking);
    profile_set_free(&now);
    profile_set_free(&before);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct input input = {.top = 20, .least_percent = 3};
    bool done = false;
    struct status status = command_parse(&done, context, &parser, argc, argv, &input);
    if (status.code == STATUS_OK && !done && input.path_count == 0) {
        status = status_error(STATUS_INVALID, "rank: found no folder, accepted those of "
                                              "'lmroof-fleet probe', or profiles");
    }
    if (status.code == STATUS_OK && !done) {
        status = check_output(&input);
    }
    if (status.code == STATUS_OK && !done) {
        status = rank_and_write(exit_code, &input, context);
    }
    free(input.paths);
    return status;
}

const struct command command_fleet_rank = {
    .name = "rank",
    .summary = "rank the units, name outliers and drift (without mpirun)",
    .run = run};
