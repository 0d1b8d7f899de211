#include "profiler/command.h"
#include "profiler/prompt_end.h"
#include "profiler/report_format.h"
#include "profiler/results_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 64 };

struct report_arguments {
    struct command_input common;
    const char *output;
    bool hierarchy;
    bool has_picture;
    enum chart_picture picture; // if has_picture
    const char *files[FILES_MAX];
    size_t file_count;
};

enum { KEY_PICTURE = 256 };

static const struct argp_option options[] = {
    {"picture", KEY_PICTURE, "NAME", 0,
     "of svg, png, pdf, txt: roofline, hierarchy (by counted bytes of each level), batch, context, "
     "threads, operators or levels (roofline)",
     0},
    {"output", 'o', "FILE", 0, "write FILE; its ending is the format (txt, on standard output)", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct report_arguments *arguments = state->input;
    switch (key) {
    case KEY_PICTURE:
        arguments->picture = chart_find(argument);
        arguments->has_picture = arguments->picture < CHART_PICTURES;
        arguments->hierarchy = strcmp(argument, "hierarchy") == 0;
        return arguments->has_picture || arguments->hierarchy || strcmp(argument, "roofline") == 0
                   ? 0
                   : command_option_error(
                         state, status_error(STATUS_INVALID,
                                             "--picture '%.40s': accepted roofline, "
                                             "hierarchy, batch, context, threads, operators, "
                                             "levels",
                                             argument));
    case 'o':
        arguments->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->file_count == FILES_MAX) {
            return command_option_error(
                state, status_error(STATUS_INVALID, "report: more than %d files; accepted fewer",
                                    (int)FILES_MAX));
        }
        arguments->files[arguments->file_count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Draws runs and machine profiles from their files alone; several are laid over each other.\v"
    "Formats by extension: html (interactive, self-contained), svg, png, pdf (the roofline), csv "
    "(every figure of every point), md and txt (tables).\n\n"
    "Examples:\n"
    "  lmroof report run.json -o report.html\n"
    "  lmroof report before.json after.json -o both.svg\n"
    "  lmroof report run.json            (table and roofline in the terminal)\n";

static const struct argp parser = {
    .options = options, .parser = parse_option, .args_doc = "RUN.json [MORE...]", .doc = doc};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

struct report_sources {
    struct result_run runs[FILES_MAX];
    char *documents[FILES_MAX];
    const char *labels[FILES_MAX];
};

static struct status read_files(bool *thinned, const struct report_arguments *arguments,
                                const struct report_format *format, struct report_sources *sources)
{
    for (size_t i = 0; i < arguments->file_count; i++) {
        bool thin = !format->shows_samples;
        TRY(run_read(&sources->runs[i], format->carries_documents ? &sources->documents[i] : NULL,
                     &thin, arguments->files[i]));
        *thinned = *thinned || thin;
        sources->labels[i] = base_name(arguments->files[i]);
    }
    return status_ok();
}

// Nothing is left behind by reading and drawing into memory: a signal ends them at any instant.
static struct status report_files(const struct command_context *context,
                                  const struct report_arguments *arguments,
                                  const struct report_format *format,
                                  struct report_sources *sources)
{
    bool thinned = false;
    struct prompt_end before;
    prompt_end_begin(&before);
    struct status status = read_files(&thinned, arguments, format, sources);
    prompt_end_finish(&before);
    TRY(status);
    const struct report_input input = {
        .runs = sources->runs,
        .run_count = arguments->file_count,
        .labels = sources->labels,
        .documents = (const char *const *)sources->documents,
        .thinned = thinned,
        .hierarchy = arguments->hierarchy,
        .picture = arguments->has_picture ? &arguments->picture : NULL,
        .context = context,
        .ends_at_once = true,
        .colour = getenv("NO_COLOR") == NULL && isatty(fileno(context->out)) == 1};
    if (arguments->output != NULL) {
        return report_save(arguments->output, &input);
    }
    prompt_end_begin(&before);
    status = format->write(context->out, &input);
    prompt_end_finish(&before);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct report_arguments arguments = {.output = NULL};
    bool done = false;
    (void)exit_code;
    TRY(command_parse(&done, context, &parser, argc, argv, &arguments));
    if (done) {
        return status_ok();
    }
    if (arguments.file_count == 0) {
        return status_error(STATUS_INVALID, "report: found no file, accepted RUN.json [MORE...]; "
                                            "'lmroof report --help' explains");
    }
    const struct report_format *format = NULL;
    TRY(report_find(&format, arguments.output == NULL ? "stdout.txt" : arguments.output, ""));
    struct report_sources *sources = calloc(1, sizeof *sources);
    if (sources == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read the runs");
    }
    struct status status = report_files(context, &arguments, format, sources);
    for (size_t i = 0; i < arguments.file_count; i++) {
        result_run_free(&sources->runs[i]);
        free(sources->documents[i]);
    }
    free(sources);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "draw runs from their files: html, svg, png, pdf, csv, md, txt",
    .run = run};
