#ifndef PROFILER_PLACE_JSON_H
#define PROFILER_PLACE_JSON_H

/** The document of `place`. */

#include "profiler/command.h"
#include "profiler/place.h"

/** Writes lmroof.placement/1 to path (may be NULL) and, with to_stdout, to context->out. Errors: as
 *  document_write(). */
CHECKED struct status place_write(const struct command_context *context,
                                  const struct placement *placement, const char *tool,
                                  const char *path, bool to_stdout);

#endif
