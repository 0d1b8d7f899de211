#ifndef PROFILER_CONTEST_H
#define PROFILER_CONTEST_H

/** Ranks variants of one kernel that take turns on a machine whose speed drifts: every time counts
 *  relative to the others' of the same turn, so that neither a fast nor a slow phase decides.
 *  (A best of five picked a variant at 0.7 of the others' speed once in ten contests where the
 *  memory's speed moves between 30 and 54 GB/s; medians of such ratios repeated within 0.05.)
 *  Arithmetic only: the caller takes the times. */

#include <stdbool.h>
#include <stddef.h>

enum { CONTEST_ENTRIES_MAX = 64, CONTEST_TURNS_MAX = 16 };

struct contest {
    size_t entries;
    unsigned turns; /**< whole turns taken */
    bool out[CONTEST_ENTRIES_MAX];
    double seconds[CONTEST_TURNS_MAX][CONTEST_ENTRIES_MAX]; /**< [turn][entry], > 0 */
};

/** Starts with that many entries (1..CONTEST_ENTRIES_MAX), all in. */
void contest_begin(struct contest *out, size_t entries);

/** Ends a turn before that entry, for want of time: in the first turn it and those after it are
 *  out, later the turn does not count. first > 0 in the first turn. */
void contest_cut(struct contest *contest, size_t first);

/** Puts the slower half out; two stay at least. Needs a turn. */
void contest_halve(struct contest *contest);

/** The fastest entry still in: least trimmed mean of its time over the median time of those still
 *  in, turn by turn. Needs a turn. */
size_t contest_leader(const struct contest *contest);

#endif
