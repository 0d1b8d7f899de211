#ifndef PROFILER_RUN_DOCUMENT_JSON_H
#define PROFILER_RUN_DOCUMENT_JSON_H

/** Where a run's results meet files and standard output as JSON; the callers need not know it. */

#include "profiler/command.h"
#include "profiler/results.h"

/** Sets started_at, tool and command_line. */
void run_document_started(struct result_run *run, const struct command_context *context);

/** Replaces the file at path by the run's document. Errors: as output_replace(). */
CHECKED struct status run_document_save(const struct result_run *run,
                                        const struct command_context *context, const char *path);

/** Writes the document to context->out. */
CHECKED struct status run_document_print(const struct result_run *run,
                                         const struct command_context *context);

#endif
