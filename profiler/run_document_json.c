#include "profiler/run_document_json.h"

#include "profiler/document_json.h"
#include "profiler/results_json.h"

#include <string.h>
#include <time.h>

void run_document_started(struct result_run *run, const struct command_context *context)
{
    time_t now = time(NULL);
    struct tm utc;
    (void)gmtime_r(&now, &utc);
    (void)strftime(run->started_at, sizeof run->started_at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void)snprintf(run->tool, sizeof run->tool, "lmroof %s", command_version());
    size_t used = 0;
    for (int i = 0; i < context->argc && used + 1 < sizeof run->command_line; i++) {
        int n = snprintf(run->command_line + used, sizeof run->command_line - used, "%s%s",
                         i > 0 ? " " : "", context->argv[i]);
        used = n < 0 ? used : used + (size_t)n;
    }
}

static struct status write_document(const struct result_run *run,
                                    const struct command_context *context, const char *path)
{
    json_t *document = run_document(run, context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    struct status status = document_write(document, context, path, path == NULL);
    json_decref(document);
    return status;
}

struct status run_document_save(const struct result_run *run, const struct command_context *context,
                                const char *path)
{
    return write_document(run, context, path);
}

struct status run_document_print(const struct result_run *run,
                                 const struct command_context *context)
{
    return write_document(run, context, NULL);
}
