#ifndef PROFILER_RUN_SUMMARY_H
#define PROFILER_RUN_SUMMARY_H

/** What follows from a run's points taken together: shares of the step, tokens per second by the
 *  roofs, the batch at which decode turns. */

#include "profiler/results.h"
#include "profiler/run_request.h"
#include "profiler/session.h"
#include "roofline/model.h"

void run_summary(struct result_run *run, const struct model *model, const struct session *session,
                 const struct run_request *request);

#endif
