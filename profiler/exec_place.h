#ifndef PROFILER_EXEC_PLACE_H
#define PROFILER_EXEC_PLACE_H

/** Where a foreign program's decode stands on the roofline: the model's cost of its tokens over
 *  the seconds of its window, beside the roofs of as many threads. */

#include "profiler/command.h"
#include "profiler/exec_request.h"
#include "profiler/exec_result.h"

/** Reads the model and counts what a token costs, a mean over the contexts that the tokens were
 *  decoded at. For before the command runs: a wrong model costs no run. Errors: those of
 *  model_load() and step_compute(). */
CHECKED struct status exec_place_model(struct exec_placement *out,
                                       const struct exec_request *request);

/** Roofs from request->machine, or measured now by as many threads as the window kept busy, into
 *  out->run; what cannot be had leaves them absent with the reason. Errors: INVALID for a bad
 *  file; INTERRUPTED. */
CHECKED struct status exec_place_roofs(struct exec_result *out, const struct exec_request *request,
                                       const struct command_context *context);

/** What place's roofs allow at an intensity, and the name of the one that does; without such a
 *  roof, or an intensity (NaN), absent with the reason and "". */
void exec_roof_at(struct exec_roof *out, const struct exec_placement *place, double flop_per_byte);

/** A marked region beside the same roofs; NaN for what is not known. */
struct exec_region_place {
    double flop_per_s;            /**< as told */
    double flop_per_byte_counted; /**< NaN unless both were counted */
    struct exec_roof roof;        /**< at the told intensity */
    double roof_fraction;
};

void exec_place_region(struct exec_region_place *out, const struct exec_result *result,
                       const struct exec_region *region);

/** Divides: rates, intensity, share of the roof. */
void exec_place_window(struct exec_result *out);

#endif
