#ifndef PROFILER_COUNTERS_REPORT_H
#define PROFILER_COUNTERS_REPORT_H

/** What `lmroof counters` found, for people and as the document lmroof.counters/1. */

#include "machines/machine.h"
#include "profiler/command.h"
#include "profiler/counters.h"

#include <stdbool.h>

struct counters_report {
    const struct machine *machine;
    const struct counter_session *session; /**< after one measurement of a loop */
    unsigned threads;
    double counted_seconds;   /**< an empty work with starting and stopping of its set */
    double uncounted_seconds; /**< and without */
};

/** Number of proofs that failed. */
size_t counters_report_failures(const struct counters_report *report);

/** Prints the metrics, one a line with what would unlock it, and with proofs the certificate. */
void counters_report_print(FILE *out, const struct counters_report *report, bool proofs);

/** Writes the document to path (if not NULL) and to context->out if to_stdout. Errors: as
 *  document_write(). */
CHECKED struct status counters_report_write(const struct counters_report *report,
                                            const struct command_context *context, const char *path,
                                            bool to_stdout);

#endif
