#ifndef PROFILER_PROBE_SAMPLES_H
#define PROFILER_PROBE_SAMPLES_H

/** Samples of one ceiling with what was seen around each, and the figure that they make: those
 *  that nothing disturbed count, the others only where there are not enough. Pure. */

#include "profiler/interference.h"
#include "profiler/witness.h"
#include "roofline/reading.h"

struct probe_sample {
    double per_s;
    double core_hz; /**< NaN: none */
    struct interference_signs signs;
    unsigned place_before; /**< of the threads, index into the run's places */
    unsigned place_after;
    double loop_per_s; /**< of the witness, the slower of before and after */
};

struct probe_samples {
    struct probe_sample of[READING_SAMPLES_MAX];
    size_t count;
};

/** What a whole session saw. */
struct probe_view {
    struct witness_places places;
    unsigned usual_place; /**< where most samples were taken */
    double loop_best_per_s;
    size_t sampled; /**< samples of all ceilings, and those that each sign was seen at */
    size_t moved;
    size_t slowed;
    size_t interrupted;
    double loop_worst_fraction;      /**< of the best, over all samples */
    struct interference_signs signs; /**< summed */
};

/** Below this fraction of the run's best the witness's loop was slowed. */
#define PROBE_SLOWED_FRACTION 0.90

/** Looks at all samples of a session: where most were taken, how fast the loop was at best, how
 *  often each sign was seen. places of *view is kept. */
void probe_view_make(struct probe_view *view, const struct probe_samples *const *all, size_t count);

/** The reading of the undisturbed samples, or of at least `least` with disturbed ones; better says
 *  which extreme is best. unsteady, of size bytes, gets "" or why the figure is not to be relied
 *  upon, naming the signs: too few undisturbed samples, or an interval wider than 10 %. core_hz may
 *  be NULL. */
void probe_samples_read(struct reading *out, struct reading *core_hz, char *unsteady, size_t size,
                        const struct probe_samples *samples, const struct probe_view *view,
                        size_t least);

/** True if nothing was seen to disturb it. */
bool probe_sample_is_clean(const struct probe_sample *sample, const struct probe_view *view);

/** Adds what another session saw; the sum is good for probe_view_describe(). */
void probe_view_add(struct probe_view *sum, const struct probe_view *view);

/** What a session saw, in words: "" if nothing. Returns out. */
char *probe_view_describe(char *out, size_t size, const struct probe_view *view);

#endif
