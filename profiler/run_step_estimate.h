#ifndef PROFILER_RUN_STEP_ESTIMATE_H
#define PROFILER_RUN_STEP_ESTIMATE_H

/** What a measured step could be expected to take. */

#include "profiler/run_step.h"
#include "roofline/step.h"

/** What a step of the results asks of the model: a prefill passes over masked pages, as ours. */
struct step_request run_step_request(const struct result_step *step, enum dtype_id kv_dtype);

/** Fills estimated_seconds of a step and of its operators: the sum over operators of max(F / P,
 *  Q / BW) and a barrier each. BW is the read roof of the level that serves the linears; P of
 * linears is the ceiling of our kernel of their weights' format, of attention what its point did
 * without memory. Absent where either is not known (no twins). Errors: those of step_compute(). */
CHECKED struct status run_step_estimate(struct result_step *out, struct result_run *run,
                                        const struct run_steps *steps);

#endif
