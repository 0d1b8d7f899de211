#ifndef PROFILER_RUN_CANDIDATE_H
#define PROFILER_RUN_CANDIDATE_H

/** The ways to do one operator here, and which is the fastest. */

#include "profiler/run_point.h"
#include "workloads/forward.h"
#include "workloads/work.h"

/** Number of candidates of a job; candidate i < count is created by run_candidate_create(). */
int run_candidate_count(const struct run_measure *measure, const struct run_job *job);

/** Creates candidate i. Errors: UNAVAILABLE if this CPU or host lacks it. */
CHECKED struct status run_candidate_create(struct work **out, const struct run_measure *measure,
                                           const struct run_job *job, int candidate);

/** Finds the fastest candidate and prefetch distance, from earlier points of the same kind if
 *  there are any. Errors: those of the candidates if none works. */
CHECKED struct status run_candidate_choose(struct run_choice *out, struct run_measure *measure,
                                           const struct run_job *job, uint64_t rotation_bytes);

/** How a step makes the products of a job's operator: as its points found fastest, our own kernels
 *  only. Errors: as run_candidate_choose(). */
CHECKED struct status run_candidate_way(struct forward_way *out, struct run_measure *measure,
                                        const struct run_job *job);

/** Forgets the choice for this kind of operator: the next one is made anew. */
void run_candidate_forget(struct run_measure *measure, const struct run_job *job);

#endif
