#ifndef PROFILER_PLACE_H
#define PROFILER_PLACE_H

/** Other tools' measurements under a machine's roofs: bytes and FLOP by the model's shape, time by
 *  the tool, what is left, and the probable causes where much is. Pure, but for memory. */

#include "profiler/machine_source.h"
#include "profiler/place_tool.h"
#include "roofline/model.h"

/** How the model of a point is known. */
enum place_model {
    PLACE_MODEL_GIVEN,   /**< -m */
    PLACE_MODEL_MATCHED, /**< a built-in of exactly as many parameters */
    PLACE_MODEL_SIZE     /**< only its size and parameters: no cache, no attention */
};

struct place_point {
    struct place_test test;
    char id[64];
    enum place_model model;
    char model_name[MODEL_NAME];
    enum dtype_id dtype;  /**< as counted; DTYPE_NONE: by the file's size */
    double tokens;        /**< made or read */
    double flop;          /**< of the whole test */
    double bytes;         /**< DRAM lower bound of the whole test */
    double bound_seconds; /**< NaN without a machine or roof */
    bool compute_bound;   /**< of the larger part of the bound */
    double roof_fraction; /**< bound_seconds / seconds; NaN */
    /** By the 95 % intervals of the roofs, widened by two standard deviations of the tool's
     *  repeats; NaN where the roofs have none (data sheets). */
    double roof_fraction_low;
    double roof_fraction_high;
};

enum { PLACE_FINDINGS_MAX = 16 };

struct place_finding {
    const char *code;
    char text[320];
    const char *try_; /**< NULL: nothing */
    size_t point;     /**< the one that shows it best */
};

struct placement {
    const struct machine_source *machine; /**< NULL: none; borrowed */
    struct place_point *points;           /**< owned */
    size_t point_count;
    struct place_finding findings[PLACE_FINDINGS_MAX];
    size_t finding_count;
};

struct place_request {
    const struct model *model; /**< -m; NULL: not given */
    const struct machine_source *machine;
    struct place_hints hints;
};

/** Places the tests (count of them). The caller frees out in either case. Errors: INVALID if a step
 *  cannot be counted; SYSTEM. */
CHECKED struct status place_compute(struct placement *out, const struct place_test *tests,
                                    size_t count, const struct place_request *request);

/** Fills out->findings from its points. */
void place_find(struct placement *out);

/** Releases what it owns and zeroes it. */
void place_free(struct placement *placement);

/** "decode", "prefill", "mixed". Static text. */
const char *place_phase_name(const struct place_point *point);

#endif
