#include "profiler/report_format.h"
#include "profiler/report_missing.h"
#include "profiler/run.h"
#include "profiler/run_document_json.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned terminal_columns(FILE *file)
{
    struct winsize size;
    return isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void print_warnings(const struct result_run *run, FILE *err)
{
    for (size_t i = 0; i < run->warning_count; i++) {
        (void)fprintf(err, "lmroof: warning: %s%s%s\n", run->warnings[i].text,
                      run->warnings[i].try_[0] == '\0' ? "" : "; try: ", run->warnings[i].try_);
    }
}

// Whoever sends the tables into a file sees this all the same.
static void print_state(const struct result_run *run, const struct run_request *request,
                        const struct command_context *context)
{
    char text[REPORT_LINE];
    if (!request->quiet && !isatty(fileno(context->out)) && report_incomplete_text(text, run)) {
        const char *try_ = report_incomplete_try(run);
        (void)fprintf(context->err, "lmroof: %s%s%s\n", text,
                      try_[0] == '\0' ? "" : "; try: ", try_);
    }
}

struct status run_print(const struct result_run *run, const struct run_request *request,
                        const struct command_context *context)
{
    if (request->json) {
        if (!request->quiet) {
            print_warnings(run, context->err);
        }
        return run_document_print(run, context);
    }
    const char *no_color = getenv("NO_COLOR");
    const char *label = run->model_name;
    const struct report_input input = {.runs = run,
                                       .run_count = 1,
                                       .labels = &label,
                                       .context = context,
                                       .colour = isatty(fileno(context->out)) &&
                                                 (no_color == NULL || no_color[0] == '\0'),
                                       .columns = terminal_columns(context->out)};
    const struct report_format *format = NULL;
    TRY(report_find(&format, "run.txt", ""));
    TRY(format->write(context->out, &input));
    print_state(run, request, context);
    return status_ok();
}

bool run_has_measurement(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        if (reading_is_present(&run->points[i].seconds)) {
            return true;
        }
    }
    return false;
}

struct status run_interrupted(const char *output)
{
    return status_error(STATUS_INTERRUPTED,
                        "interrupted; what was measured is in %s (\"complete\": false)", output);
}

struct status run_conclude(const struct result_run *run, const struct run_request *request,
                           const struct command_context *context, struct status status)
{
    bool whole = status.code == STATUS_OK || status.code == STATUS_MISMATCH;
    bool part = status.code == STATUS_INTERRUPTED && request->json;
    bool left = status.code == STATUS_INTERRUPTED && request->output != NULL &&
                (!request->replaces || run_has_measurement(run));
    if (left) {
        status = run_interrupted(request->output);
    }
    if (!whole && !part) {
        return status;
    }
    struct status printed = run_print(run, request, context);
    return status.code == STATUS_OK ? printed : status;
}
