#ifndef PROFILER_RUN_STEP_H
#define PROFILER_RUN_STEP_H

/** Whole steps (`run --step`): forward.h timed by bound threads, operator by operator, beside what
 *  the roofs and our kernels' ceilings let expect. */

#include "profiler/results.h"
#include "profiler/run_job.h"
#include "profiler/run_point.h"
#include "profiler/run_request.h"
#include "roofline/model.h"

/** What measuring the steps of a run reads. */
struct run_steps {
    const struct model *model;
    const struct run_request *request;
    const struct run_jobs *jobs;
    struct run_measure *measure;
    const char *late_text; /**< what a step says that the limit left out */
};

/** Whether all steps of the request have a workload, and the arena that they need: of every layer
 *  where the memory allows it, else of as many as fit. Errors: INVALID naming what is not
 *  supported; UNAVAILABLE if not even one layer fits, with the figures. */
CHECKED struct status run_steps_plan(uint64_t *out_bytes, const struct model *model,
                                     const struct run_request *request,
                                     const struct session *session);

/** Runs one step of run->steps and fills in what was measured; overwrites the arena. seconds is
 *  the time it may take (0: as the rounds need). Errors, with its figures absent: MISMATCH if a
 *  product is wrong; UNAVAILABLE if the limit was reached before the least number of samples;
 *  INTERRUPTED; SYSTEM. */
CHECKED struct status run_step_measure(struct result_step *out, struct result_run *run,
                                       const struct run_steps *steps, double seconds);

/** Takes all measured figures off a step, with the reason; try_ may be NULL. */
void run_step_absent(struct result_step *out, enum absent_state state, const char *text,
                     const char *try_);

#endif
