#ifndef PROFILER_RUN_STEP_PARTS_H
#define PROFILER_RUN_STEP_PARTS_H

/** Steps estimated from their parts, which are timed between the samples of the step: what changes
 *  the machine changes both. Nothing is fitted: the parts are of other shapes than the step's, and
 *  of the batches next to its own. */

#include "profiler/run_step.h"

struct run_step_parts;

/** Chooses the kernels of the parts; the arena is filled for the step. seconds is the time that the
 *  step may take (0: any). *out is NULL where the step is not read from memory (parts would push
 * its weights out of the caches), its weights have no one type, or choosing takes more than half of
 *  the time. run is read by run_step_parts_estimate() too. Errors: as step_parts_create(), those of
 *  step_compute(). The caller closes it; NULL is accepted. */
CHECKED struct status run_step_parts_open(struct run_step_parts **out,
                                          const struct result_step *step,
                                          const struct result_run *run,
                                          const struct run_steps *steps, double seconds);
void run_step_parts_close(struct run_step_parts *parts);

/** Times each part once and estimates the seconds of every operator from that. False if the limit
 *  was reached. */
bool run_step_parts_estimate(double *operator_seconds, struct run_step_parts *parts);

/** Fills the estimates of a step from those of its n samples, and their ratios to the measured
 *  seconds. */
CHECKED struct status run_step_parts_fill(struct result_step *out,
                                          const double (*operator_seconds)[MODEL_OPERATORS],
                                          const double *seconds, unsigned n);

#endif
