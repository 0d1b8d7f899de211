#ifndef PROFILER_RUN_BUDGET_H
#define PROFILER_RUN_BUDGET_H

/** The time that a run may take, and which part of it is whose. Nothing is begun after the end of
 *  its part; what had begun by then may take a tenth of the budget to finish. */

#include "profiler/limit.h"
#include "profiler/run_request.h"

struct run_budget {
    double begin_seconds;  /**< of clock_seconds() */
    double seconds;        /**< 0: no budget, no limit */
    double steps_fraction; /**< of it that is left to whole steps */
    char text[80];         /**< "the budget of 60 s" */
};

/** Begins now. */
void run_budget_begin(struct run_budget *out, const struct run_request *request);

/** Seconds since it began. */
double run_budget_spent(const struct run_budget *budget);

/** Seconds that are left of all of it, and of the points' part; negative once it is used up,
 *  infinite without a budget. */
double run_budget_left(const struct run_budget *budget);
double run_budget_points_left(const struct run_budget *budget);

/** When preparation is to stop measuring evidence; 0 without a budget. */
double run_budget_evidence_until(const struct run_budget *budget);

/** When to give up preparing, a point, a step. */
struct limit run_budget_prepare_limit(const struct run_budget *budget,
                                      const volatile sig_atomic_t *signal);
struct limit run_budget_points_limit(const struct run_budget *budget,
                                     const volatile sig_atomic_t *signal);
struct limit run_budget_steps_limit(const struct run_budget *budget,
                                    const volatile sig_atomic_t *signal);

/** The points' part in words, before text: "" if it is all. */
const char *run_budget_points_part(const struct run_budget *budget);

#endif
