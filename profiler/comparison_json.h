#ifndef PROFILER_COMPARISON_JSON_H
#define PROFILER_COMPARISON_JSON_H

/** The document of `compare`. */

#include "profiler/command.h"
#include "profiler/comparison.h"
#include "profiler/prediction.h"

/** Writes lmroof.comparison/1 to path (may be NULL) and, with to_stdout, to context->out.
 *  prediction may be NULL: no model was given. Errors: as document_write(). */
CHECKED struct status comparison_write(const struct command_context *context,
                                       const struct comparison *comparison,
                                       const struct prediction *prediction, const char *path,
                                       bool to_stdout);

#endif
