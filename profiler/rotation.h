#ifndef PROFILER_ROTATION_H
#define PROFILER_ROTATION_H

/** Instances of a work's data laid through the arena, walked in turn, so that each pass finds its
 *  weights where real decode would: in memory if the model is larger than the caches, in cache if
 *  it fits. Every thread's part of every instance lies in the thread's own share of the arena. */

#include "profiler/limit.h"
#include "profiler/team.h"
#include "workloads/arena.h"
#include "workloads/work.h"

struct rotation {
    struct team *team;
    const struct arena *arena;
    size_t share_bytes; /**< of the arena, per thread */
    struct work *work;
    size_t step_bytes;  /**< from one instance to the next, in each share */
    uint64_t instances; /**< that the rotation has */
    uint64_t cursor;    /**< next instance */
    uint64_t per_sample;
};

/** Bytes of the arena that one thread owns. */
size_t rotation_share_bytes(const struct arena *arena, unsigned threads);

/** Writes the arena in the threads that will read it, with values valid in every format. Stops
 *  early once the limit is reached. */
void rotation_fill(struct team *team, const struct arena *arena, const struct limit *limit);

/** Lays work through at most `bytes` of the arena (in total over the threads; at least one
 *  instance). Errors: UNAVAILABLE if not even one instance fits the arena. */
CHECKED struct status rotation_create(struct rotation *out, struct team *team,
                                      const struct arena *arena, struct work *work, uint64_t bytes);

/** Bytes of all instances of the rotation. */
uint64_t rotation_bytes(const struct rotation *rotation);

/** Sets how many instances one sample takes: a fresh stretch of at least sample_bytes, and so many
 *  that it lasts at least `seconds`. */
void rotation_calibrate(struct rotation *rotation, uint64_t sample_bytes, double seconds);

/** Seconds of one instance in one sample of the given mode; the cursor moves on. */
double rotation_sample(struct team_sample *timing, struct rotation *rotation,
                       enum linear_mode mode);

/** As rotation_sample() of the full kernel, from *offset on in each share, which moves on: several
 *  works that take turns read what none of them has just read and the caches still hold. */
double rotation_sample_on(struct team_sample *timing, struct rotation *rotation, uint64_t *offset);

/** As rotation_sample() for the full kernel, with probe called in every thread around the work;
 *  *instances is how many were run (counts are over all of them). Not for library calls. */
double rotation_sample_probed(struct team_sample *timing, uint64_t *instances,
                              struct rotation *rotation, struct team_probe probe);

/** Runs the full kernel on the first instance and compares with the reference. */
double rotation_check(struct rotation *rotation, uint64_t samples);

#endif
