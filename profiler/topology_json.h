#ifndef PROFILER_TOPOLOGY_JSON_H
#define PROFILER_TOPOLOGY_JSON_H

/** The body of a topology document (contract, `lmroof topo`). */

#include "machines/machine.h"
#include "profiler/command.h"
#include "profiler/results.h"

#include <jansson.h>

/** Puts every key of the topology into object; facts that are not there are null with
 *  why_absent. */
void topology_put(json_t *object, const struct machine *machine);

/** Writes the document lmroof.topology/1 of the machine with the warnings of findings. Errors: as
 *  document_write(). */
CHECKED struct status topology_write(const struct machine *machine,
                                     const struct result_run *findings,
                                     const struct command_context *context, const char *path,
                                     bool to_stdout);

#endif
