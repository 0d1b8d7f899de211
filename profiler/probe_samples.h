#ifndef PROFILER_PROBE_SAMPLES_H
#define PROFILER_PROBE_SAMPLES_H

/** Short windows of one ceiling with what was seen around each, and the figure that they make:
 * those that nothing disturbed count, the others only where there are not enough. A ceiling is what
 * the machine can do, so a sample of it is the best of several windows, and these are spread over
 * the whole run: window i belongs to sample i mod n. Pure. */

#include "profiler/interference.h"
#include "profiler/witness.h"
#include "roofline/reading.h"

enum { PROBE_WINDOWS_MAX = 128 };

/** One window. */
struct probe_sample {
    double per_s;
    double core_hz; /**< NaN: none */
    struct interference_signs signs;
    unsigned place_before; /**< of the threads, index into the run's places */
    unsigned place_after;
    double loop_per_s; /**< of the witness, the slower of before and after */
    double copy_per_s; /**< likewise */
};

struct probe_samples {
    struct probe_sample of[PROBE_WINDOWS_MAX];
    size_t count;
    bool shared; /**< served by a cache or memory that others use too */
    /** Bound by the core's own ports and caches, which a neighbour on it takes from: windows in
     *  which the witness's copy was slow count only where others are too few. */
    bool heeds_copy;
};

/** What a whole session saw. */
struct probe_view {
    struct witness_places places;
    unsigned usual_place; /**< where most samples were taken */
    double loop_best_per_s;
    double copy_best_per_s; /**< seen, or known of this core where that is more */
    size_t sampled;         /**< samples of all ceilings, and those that each sign was seen at */
    size_t moved;
    size_t slowed;
    size_t interrupted;
    size_t crowded;
    /** witness_sharing(), middle of the run's; NaN for one thread. probe_view_make() keeps it. */
    double sharing;
    double loop_worst_fraction;      /**< of the best, over all samples */
    double copy_worst_fraction;      /**< likewise, of ceilings that a core bounds */
    struct interference_signs signs; /**< summed */
};

/** Below this fraction of the run's best the witness's loop, or copy, was slowed. */
#define PROBE_SLOWED_FRACTION 0.90

/** Rates of the witness's loop and of its copy, seen together or the best of each. */
struct probe_pace {
    double loop_per_s;
    double copy_per_s;
};

/** True if the copy tells of a neighbour on the core: it is slower than the best one by more than
 *  the loop is, which follows the clock as the copy does. */
bool probe_is_crowded(struct probe_pace seen, struct probe_pace best);

/** Looks at all samples of a session: where most were taken, how fast loop and copy were at best,
 *  how often each sign was seen. copy_known_per_s: of an undisturbed core, NaN if unknown. places
 *  and sharing of *view are kept. */
void probe_view_make(struct probe_view *view, const struct probe_samples *const *all, size_t count,
                     double copy_known_per_s);

/** The reading of n = least samples, each the best of the undisturbed windows that are its own
 *  (where there are not enough with those that had a neighbour on the core; still not enough: with
 *  any, and a window is a sample). unsteady, of size bytes, gets "" or why the figure is not to be
 *  relied upon, naming the signs: fewer than `least` undisturbed windows, half of all disturbed by
 *  else than a neighbour, the bests of the run's quarters more than 8 % apart, or an interval wider
 *  than 10 %. core_hz, of the same windows, may be NULL. */
void probe_samples_read(struct reading *out, struct reading *core_hz, char *unsteady, size_t size,
                        const struct probe_samples *samples, const struct probe_view *view,
                        size_t least);

/** True if nothing was seen to disturb it but, maybe, a neighbour on the core. */
bool probe_sample_is_clean(const struct probe_sample *sample, const struct probe_view *view);

/** Adds what another session saw; the sum is good for probe_view_describe(). */
void probe_view_add(struct probe_view *sum, const struct probe_view *view);

/** What a session saw, in words: "" if nothing. Returns out. */
char *probe_view_describe(char *out, size_t size, const struct probe_view *view);

#endif
