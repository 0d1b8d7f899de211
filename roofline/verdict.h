#ifndef ROOFLINE_VERDICT_H
#define ROOFLINE_VERDICT_H

/** What bounds a measured operator, and how that is known: rules on numbers alone. A verdict
 *  needs evidence of two kinds, one of them causal (the twins); anything less is unknown, with
 *  what would settle it. */

#include <stdbool.h>
#include <stddef.h>

enum verdict_bound {
    BOUND_UNKNOWN,
    BOUND_MEMORY_SATURATED,    /**< the memory (or cache level) itself moves no more */
    BOUND_MEMORY_CORE_LIMITED, /**< these cores have no more misses in flight; more cores would help
                                */
    BOUND_COMPUTE,
    BOUND_LATENCY /**< neither roof: memory and compute time add up instead of overlapping */
};

enum { VERDICT_TEXT = 192, VERDICT_EVIDENCE_MAX = 8 };

/** One test, in words that carry their numbers. */
struct verdict_evidence {
    char test[24]; /**< intensity achieved_bandwidth twins dtype_scaling saturation counted_bytes
                        stalls */
    char expected[VERDICT_TEXT];
    char found[VERDICT_TEXT];
    bool passed; /**< in favour of "bound by memory" */
};

/** A ratio with its 95 % interval; value NaN if it could not be had. */
struct verdict_ratio {
    double value;
    double low;
    double high;
};

/** The numbers of one point. Those that are missing are NaN. */
struct verdict_input {
    double flop_per_byte;                    /**< predicted, of the level that serves the point */
    double ridge_flop_per_byte;              /**< compute roof over read roof, same cores */
    struct verdict_ratio read_roof_fraction; /**< bytes/s over the read roof, paired */
    struct verdict_ratio roof_fraction;      /**< FLOP/s over min(P, AI x BW), paired */

    /** Twins: time of the memory-only and of the compute-only run over the full time, paired in
     *  the same repeats. NaN for a library call. */
    struct verdict_ratio memory_only;
    struct verdict_ratio compute_only;

    double disturbed_fraction; /**< of these repeats, that other work on the CPUs disturbed */

    unsigned threads;
    double read_growth; /**< read bandwidth of all threads over that of half of them; NaN: one */
    double other_mix;   /**< best other traffic (non-temporal stores, copies) over the read roof */
    double dtype_time_ratio;      /**< time at a wider type over time at this; NaN: not measured */
    double dtype_byte_ratio;      /**< bytes at the wider type over bytes at this */
    double counted_byte_ratio;    /**< counted over modelled bytes; NaN: not counted */
    double memory_stall_fraction; /**< memory-stalled cycles over cycles; NaN: not counted */
};

struct verdict {
    enum verdict_bound bound;
    bool above_roof; /**< faster than the roof allows: something is wrong; bound is unknown */
    struct verdict_evidence evidence[VERDICT_EVIDENCE_MAX];
    size_t evidence_count;
    char open[VERDICT_TEXT]; /**< what would settle an unknown; "" if nothing is open */
};

/** Limits of the rules, with the reasons in verdict.c. */
#define VERDICT_ACHIEVED_MIN 0.70
#define VERDICT_TWIN_NEAR 0.10
#define VERDICT_TWIN_NOISY 0.20   /**< median this near and the interval within VERDICT_TWIN_NEAR */
#define VERDICT_TWIN_LONGEST 1.50 /**< a twin this much longer than the full time is no twin */
#define VERDICT_TWIN_APART 1.5
#define VERDICT_ADDITIVE 0.95
#define VERDICT_AT_ROOF 0.90
#define VERDICT_WIDEST 2.0 /**< a twin's interval whose ends differ by more tells nothing */
#define VERDICT_ABOVE 1.15 /**< above its roof by this, whatever the interval: nothing is told */

#define VERDICT_DISTURBED 0.5 /**< a larger part of the repeats disturbed tells nothing */

/** Judges one point. */
void verdict_point(struct verdict *out, const struct verdict_input *input);

/** "memory_saturated", ... as in the contract. Static text. */
const char *verdict_bound_name(enum verdict_bound bound);

/** The bound of that name; false if there is none. */
bool verdict_bound_find(enum verdict_bound *out, const char *name);

/** True for both forms of memory-bound. */
bool verdict_is_memory(enum verdict_bound bound);

enum verdict_claim { CLAIM_CONFIRMED, CLAIM_REFUTED, CLAIM_CANNOT_TELL };

/** An operator's part in the step's verdict. */
struct verdict_share {
    enum verdict_bound bound;
    bool from_dram;             /**< false: a cache served it, whatever bounds it */
    double time_share_fraction; /**< of the step; NaN: not measured */
};

/** "Decode is bound by memory": confirmed if operators with at least 90 % of the time are bound
 *  by DRAM, refuted if less than 50 % can be (unknown ones could be, and time that no
 *  share tells of), else cannot tell.
 *  *memory_fraction and *unknown_fraction are the shares found. */
enum verdict_claim verdict_step(double *memory_fraction, double *unknown_fraction,
                                const struct verdict_share *shares, size_t count);

/** "confirmed", "refuted", "cannot_tell". Static text. */
const char *verdict_claim_name(enum verdict_claim claim);

#endif
