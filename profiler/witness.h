#ifndef PROFILER_WITNESS_H
#define PROFILER_WITNESS_H

/** What bound threads can see of neighbours and of the hypervisor where the system tells nothing:
 *  how long a cache line takes from one thread to the next (a virtual CPU that was moved to another
 *  cache takes several times as long), how fast a known loop of arithmetic runs (stolen time or a
 *  lower clock slow it) and how fast a known copy within the first cache (a neighbour on the same
 *  core, a hardware thread that this system may not even show, takes from its ports and its lines).
 *  A look takes some 70 microseconds. */

#include "profiler/ceiling.h"
#include "profiler/team.h"

enum { WITNESS_PAIRS_MAX = 64, WITNESS_PLACES_MAX = 8 };

/** One look. */
struct witness_look {
    unsigned pairs; /**< threads 2i and 2i + 1, the first WITNESS_PAIRS_MAX of them */
    /** One way, best of a few; NaN if a thread got no time to answer. */
    double line_seconds[WITNESS_PAIRS_MAX];
    double loop_per_s; /**< turns of the loop in the slowest thread */
    double copy_per_s; /**< turns of the copy in the slowest thread */
};

struct witness;

/** For the team's threads. Keeps team and kernels. Errors: UNAVAILABLE without a verified portable
 *  f32 kernel or a plain copy; SYSTEM without memory. The caller destroys it. */
CHECKED struct status witness_create(struct witness **out, struct team *team,
                                     const struct ceiling_kernels *kernels);

/** NULL is accepted. */
void witness_destroy(struct witness *witness);

void witness_look(struct witness_look *out, struct witness *witness);

/** Rate of the widest arithmetic with all threads at work over that with every second one, the
 * lower of each two neighbours and the lowest of these: near 1, and near 0.5 where two threads run
 * on one core, whatever the topology tells. NaN for one thread. Disturbances lower single values.
 */
double witness_sharing(struct witness *witness);

/** User bytes that a turn of the copy moves. */
double witness_copy_bytes(void);

/** True if some pair's line takes clearly longer or shorter in one look than in the other: more
 *  than 1.6 times and 15 ns. Pure. */
bool witness_moved(const struct witness_look *a, const struct witness_look *b);

/** Longest of a look's lines; NaN without pairs. Pure. */
double witness_longest_line(const struct witness_look *look);

/** Placements in the order in which they were first seen. Pure. */
struct witness_places {
    struct witness_look looks[WITNESS_PLACES_MAX];
    unsigned count;
};

/** Index of the placement of a look; a new one is added, and beyond the maximum the last is
 *  returned. */
unsigned witness_place(struct witness_places *places, const struct witness_look *look);

#endif
