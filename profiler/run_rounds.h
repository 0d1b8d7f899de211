#ifndef PROFILER_RUN_ROUNDS_H
#define PROFILER_RUN_ROUNDS_H

/** The timed rounds of one point: in each the kernel, its twins and its roofs take turns, so that a
 *  disturbance is seen by all of them. */

#include "profiler/rotation.h"
#include "profiler/run_point.h"

enum { RUN_ROUNDS_MIN = 3, RUN_ROUNDS_MAX = READING_SAMPLES_MAX };

/** What the rounds saw; seconds are per call. */
struct run_rounds {
    unsigned n;
    double full[RUN_ROUNDS_MAX];
    double memory_only[RUN_ROUNDS_MAX];
    double compute_only[RUN_ROUNDS_MAX];
    double read[RUN_ROUNDS_MAX];    /**< bytes/s of the read roof */
    double compute[RUN_ROUNDS_MAX]; /**< FLOP/s of the compute roof */
    bool disturbed[RUN_ROUNDS_MAX];
    bool kept_disturbed;       /**< too few quiet rounds: all were kept */
    double disturbed_fraction; /**< of those that are left */
    bool twins;                /**< set by the caller: they are timed too */
};

/** Samples of a read roof of roof_bytes each beside one sample of a kernel that reads sample_bytes:
 * as many as it takes for the same bytes, 16 at most. */
unsigned run_rounds_roof_turns(double sample_bytes, double roof_bytes);

/** Takes rounds into *r, zeroed but for twins, until measure->rounds quiet ones, half as many again
 *  at most, or until `seconds` are over (0: no matter) and there are RUN_ROUNDS_MIN; fewer only
 *  once measure->limit is reached. Disturbed rounds are dropped where enough quiet ones are left.
 */
void run_rounds_take(struct run_rounds *r, struct rotation *rotation, struct run_measure *measure,
                     struct run_roof *read, struct run_roof *compute, double seconds);

#endif
