#ifndef PROFILER_PROBE_JSON_H
#define PROFILER_PROBE_JSON_H

/** The document of `lmroof probe`: lmroof.machine/1 with the topology, the set that `load` was
 *  chosen from, the size sweep and the comparison with an older profile. */

#include "profiler/probe.h"
#include "profiler/probe_check.h"
#include "profiler/results_json.h"

/** All that one probe found. Owner of machine and run. */
struct probe_report {
    struct machine machine;
    struct result_run run;
    struct probe_extras extras;
    struct probe_drift drifts[PROBE_DRIFTS_MAX]; /**< of --check */
    size_t drift_count;
    size_t drifted;
};

/** Writes the document to path (NULL: to no file) and, if to_stdout, to the context's output.
 *  Errors: as document_write(). */
CHECKED struct status probe_write(const struct probe_report *report,
                                  const struct command_context *context, const char *path,
                                  bool to_stdout);

/** The levels that a sweep found; nothing if there was none. */
void probe_print_sweep(FILE *out, const struct probe_extras *extras);

/** The comparison as a table; nothing if it is empty. */
void probe_print_drift(FILE *out, const struct probe_drift *drifts, size_t count);

#endif
