#ifndef PROFILER_PHASES_H
#define PROFILER_PHASES_H

/** What an inference program was doing, told from outside by how it used the machine: reading its
 *  model, preparing it, working evenly. Pure: a time series goes in, stretches come out. Two even
 *  stretches that follow each other (prompt, then decode) are told apart by counters alone; where
 *  there are none, or they show no change, "steady" is all that is said. */

#include <stddef.h>

enum phase_kind {
    PHASE_IDLE,    /**< waits: less than a tenth of its usual CPUs */
    PHASE_LOAD,    /**< reads storage, or its memory grows while one CPU is busy at most */
    PHASE_PREPARE, /**< its memory grows with several CPUs busy: repacking, first touch */
    PHASE_OTHER,   /**< works, but not evenly */
    PHASE_STEADY,  /**< works evenly: decode, prompt or both */
    PHASE_PROMPT,
    PHASE_DECODE
};

/** One interval of the series. */
struct phase_interval {
    double begin_seconds;
    double end_seconds;
    double cpu_seconds;  /**< used in it */
    double rss_bytes;    /**< at its end */
    double rss_before;   /**< at its beginning */
    double minor_faults; /**< in it; also of pages that were in memory all along */
    double major_faults;
    double read_bytes;   /**< from storage; NaN unknown */
    double instructions; /**< NaN: not counted; likewise below */
    double cycles;
    double dram_bytes;
};

/** A stretch of intervals first..last of one kind. */
struct phase {
    enum phase_kind kind;
    size_t first;
    size_t last;
    double begin_seconds;
    double end_seconds;
};

enum { PHASES_MAX = 256 };

/** Of a program watched from outside. */
struct phases {
    struct phase list[PHASES_MAX]; /**< in order of time, without gaps */
    size_t count;
    size_t steady;              /**< index of the stretch to place; count: there is none */
    double cores;               /**< CPUs busy in it, on average; NaN: there is none */
    double rate_error_fraction; /**< of its length, for want of resolution; NaN likewise */
};

/** Finds the stretches. Fewer than PHASE_STEADY_MIN even intervals make no steady stretch. */
void phases_find(struct phases *out, const struct phase_interval *intervals, size_t count);

enum { PHASE_STEADY_MIN = 5 };

/** "idle", "load", "prepare", "other", "steady", "prompt", "decode". Static text. */
const char *phase_name(enum phase_kind kind);

#endif
