#ifndef PROFILER_STEP_NORMS_H
#define PROFILER_STEP_NORMS_H

/** Norms as a step has them: of rows whose columns all threads have just written. At one row the
 *  time is that of handing the row over, not of arithmetic. And the other way round: columns of
 *  rows that other threads have just normed, as quantising reads them. */

#include "profiler/team.h"
#include "workloads/isa.h"

struct step_norms;

/** Of `rows` rows of `width` values. Errors: SYSTEM without memory. The caller destroys it. */
CHECKED struct status step_norms_create(struct step_norms **out, struct team *team,
                                        struct isa_set isa, unsigned rows, unsigned width);
void step_norms_destroy(struct step_norms *norms);

/** Seconds from barrier to barrier, means over about a millisecond. */
struct step_norms_times {
    double norms; /**< of all rows, a row by one thread */
    double
        columns; /**< of passing over the normed rows once, each thread over its columns of all */
};

void step_norms_sample(struct step_norms_times *out, struct step_norms *norms);

#endif
