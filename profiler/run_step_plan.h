#ifndef PROFILER_RUN_STEP_PLAN_H
#define PROFILER_RUN_STEP_PLAN_H

/** How much of a step the memory holds. */

#include "profiler/run_job.h"
#include "profiler/session.h"
#include "workloads/forward.h"

/** The step of a job; every operator by plain products of the session's instructions. */
struct forward_params run_step_params(const struct model *model, const struct run_job *job,
                                      enum dtype_id kv_dtype, const struct session *session);

/** The most layers of each block (0: all) whose weights and cache take at most arena_limit bytes,
 *  and at most all_limit with the activations; HUGE_VAL: no limit. *arena: the bytes that they
 *  take, over all threads. Errors: UNAVAILABLE if one layer of each does not fit, with the
 *  figures; those of forward_create(). */
CHECKED struct status run_step_layers(unsigned *out, double *arena,
                                      const struct forward_params *params, double arena_limit,
                                      double all_limit);

#endif
