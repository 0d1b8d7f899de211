#ifndef PROFILER_COMPARISON_H
#define PROFILER_COMPARISON_H

/** Machines side by side: every ceiling that at least one has, with its ratio to the first machine,
 *  whether the intervals lie apart, and what makes the figures unlike. Pure, but for memory. */

#include "profiler/machine_source.h"

enum comparison_mark {
    COMPARISON_CLASS = 1,     /**< another instruction class than the first machine's */
    COMPARISON_THREADS = 2,   /**< more than one thread a core on one side only */
    COMPARISON_PAGES = 4,     /**< other pages behind the memory */
    COMPARISON_PLACEMENT = 8, /**< other placement over the nodes */
    COMPARISON_ORIGIN = 16,   /**< measured beside data sheet */
    COMPARISON_UNSTEADY = 32  /**< the profile warns of unsteady samples, or the interval is wide */
};

/** What two intervals tell of a ratio. Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm.
 *  15, 1987): figures are the same only where the ratio's interval lies within a margin; that two
 *  intervals overlap alone may also mean that they are wide. The ratio's interval is from the least
 *  that both intervals allow to the most. */
enum comparison_outcome {
    COMPARISON_NO_INTERVAL, /**< one of the two has none */
    COMPARISON_DIFFERS,     /**< the intervals lie apart: the ratio's excludes 1 */
    COMPARISON_SAME,        /**< the ratio's lies within COMPARISON_MARGIN either way */
    COMPARISON_CANNOT_TELL
};

/** Half of the width from which an interval is marked as unsteady. */
#define COMPARISON_MARGIN 1.1

/** A ceiling of one machine. */
struct comparison_entry {
    const struct reading *reading; /**< NULL: the machine has no such ceiling; borrowed */
    unsigned threads;              /**< 0: a latency */
    const char *class_;            /**< instruction class, or variant of a stream; borrowed */
    double ratio;                  /**< to the first machine's; NaN: none, or refused */
    bool refused;                  /**< both are there, but are not the same quantity */
    double ratio_low;              /**< of its interval; NaN without intervals */
    double ratio_high;             /**< INFINITY if the first machine's reaches 0 */
    enum comparison_outcome outcome;
    unsigned marks;
};

enum comparison_unit { COMPARISON_BYTES_PER_S, COMPARISON_FLOP_PER_S, COMPARISON_SECONDS };

struct comparison_row {
    char name[64]; /**< "DRAM load", "bf16 fma", "L2 latency" */
    enum comparison_unit unit;
    struct comparison_entry *entries; /**< one a machine; owned */
};

/** What one machine was measured under. */
struct comparison_conditions {
    unsigned threads;          /**< of the DRAM read roof; 0 unknown */
    unsigned threads_per_core; /**< 0 unknown */
    uint64_t page_bytes;       /**< 0 unknown */
    const char *placement;     /**< NULL unknown */
    bool unsteady;
    bool complete;
};

/** Something that differs between the machines, or is wrong with one. */
struct comparison_unlike {
    const char
        *code; /**< threads_per_core, pages, placement, version, origin, unsteady, incomplete */
    const char *text;
};

enum { COMPARISON_UNLIKE_MAX = 8 };

struct comparison {
    const struct machine_source *machines; /**< borrowed */
    size_t machine_count;
    struct comparison_conditions *conditions; /**< one a machine; owned */
    struct comparison_row *rows;              /**< owned */
    size_t row_count;
    struct comparison_unlike unlike[COMPARISON_UNLIKE_MAX];
    size_t unlike_count;
};

/** Compares at least two machines. The caller frees out in either case. Errors: INVALID if a
 * machine has no ceiling at all; SYSTEM. */
CHECKED struct status comparison_compute(struct comparison *out,
                                         const struct machine_source *machines, size_t count);

/** Releases what it owns and zeroes it. */
void comparison_free(struct comparison *comparison);

/** "B/s", "FLOP/s", "s". Static text. */
const char *comparison_unit_name(enum comparison_unit unit);

/** "class", "threads_per_core", ... of a single mark. Static text. */
const char *comparison_mark_name(enum comparison_mark mark);

#endif
