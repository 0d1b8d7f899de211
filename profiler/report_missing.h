#ifndef PROFILER_REPORT_MISSING_H
#define PROFILER_REPORT_MISSING_H

/** What a reader must know of a run before its figures: how much of it is missing, and why. The
 *  text formats and the end of `run` say the same words. */

#include "profiler/results.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_LINE = 512 };

/** Points that have a figure. */
size_t report_measured_count(const struct result_run *run);

/** "INCOMPLETE: 5 of 60 points measured: ...", or that the run was ended early. False, and "" in
 *  out, if nothing is missing. */
bool report_incomplete_text(char out[REPORT_LINE], const struct result_run *run);

/** What would have helped; "" if nothing is missing or nothing helps. Borrowed from the run. */
const char *report_incomplete_try(const struct result_run *run);

/** "DISTURBED: ..." of a run whose figures other work on the machine changed; else false and "". */
bool report_disturbed_text(char out[REPORT_LINE], const struct result_run *run);

/** Whether some point carries the mark of it. */
bool report_some_disturbed(const struct result_run *run);

/** One line for all points of order[0..count) that are absent for the same reason as order[at]:
 *  "55 points, ... to ...: not_scheduled". False if order[at] was measured or an earlier
 *  point gives the same reason. */
bool report_missing_text(char out[REPORT_LINE], const struct result_point *const *order,
                         size_t count, size_t at);

#endif
