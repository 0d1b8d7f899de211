#ifndef PROFILER_EXEC_WINDOW_H
#define PROFILER_EXEC_WINDOW_H

/** From the samples of a watch to its intervals, its phases, and the window that is placed. Pure
 *  but for memory. */

#include "profiler/exec_request.h"
#include "profiler/exec_result.h"

/** Fills intervals, phases, window and counters of out from its watch. Errors: INVALID if the
 *  window that was asked for is outside of what was watched; SYSTEM. */
CHECKED struct status exec_window_find(struct exec_result *out, const struct exec_request *request,
                                       const struct process_counters *counters);

#endif
