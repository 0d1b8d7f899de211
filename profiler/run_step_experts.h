#ifndef PROFILER_RUN_STEP_EXPERTS_H
#define PROFILER_RUN_STEP_EXPERTS_H

/** Distinct experts that the runs of a step read, beside what even routing lets expect. */

#include "profiler/results.h"
#include "profiler/run_step.h"
#include "workloads/forward.h"

/** Fills out->experts from the counts of a step's runs; nothing for a model without experts. */
void run_step_experts(struct result_step *out, const struct forward *forward,
                      const struct run_steps *steps);

/** Warns where they are farther from the expectation than its error allows. */
void run_step_note_experts(struct result_run *run, const struct result_step *step);

#endif
