#ifndef PROFILER_RUN_MEMORY_H
#define PROFILER_RUN_MEMORY_H

/** The memory that a run's points need. */

#include "profiler/run_job.h"
#include "profiler/run_request.h"
#include "profiler/session.h"

/** *arena: bytes of the largest instance, with room for padding. Errors: UNAVAILABLE if the whole
 *  model does not fit what is available, with the figures, unless whole steps run what fits. */
CHECKED struct status run_memory_needed(uint64_t *arena, const struct run_jobs *jobs,
                                        const struct model *model,
                                        const struct run_request *request,
                                        const struct session *session);

#endif
