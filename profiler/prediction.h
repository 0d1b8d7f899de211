#ifndef PROFILER_PREDICTION_H
#define PROFILER_PREDICTION_H

/** What machines would do with a model: every step asked for under every machine's roofs. Measured
 *  machines give an estimate within the intervals of their roofs; data sheets give a bound, and by
 *  what people reached on such machines (measurement.h) the band below it. Pure, but for memory. */

#include "profiler/machine_source.h"
#include "profiler/measurement.h"
#include "profiler/option_list.h"
#include "roofline/estimate.h"
#include "roofline/model.h"

enum { PREDICTION_DTYPES_MAX = 16, PREDICTION_CELLS_MAX = 16384, PREDICTION_MACHINES_MAX = 8192 };

/** What to compute, the same for all machines. */
struct prediction_request {
    size_t dtype_count; /**< at least 1; DTYPE_STORED: the model's own */
    enum dtype_id dtypes[PREDICTION_DTYPES_MAX];
    enum dtype_id kv_dtype;
    struct option_counts batch;
    struct option_counts context; /**< decode */
    struct option_counts prompt;  /**< prefill, from empty */
};

/** A step on a machine. NaN where the machine has no roof for it. */
struct prediction_cell {
    double bound_seconds; /**< no kernel is faster under these roofs */
    double seconds;       /**< estimate; of a data sheet: the median of the band */
    double seconds_low;   /**< fast end: upper ends of the roofs, or of the band */
    double seconds_high;  /**< slow end */
    bool compute_bound;   /**< the bound is that of arithmetic */
};

struct prediction_crossover {
    enum dtype_id dtype;
    uint64_t context;
    double ridge_flop_per_byte; /**< NaN: a roof is missing */
    struct estimate_crossover crossover;
};

struct prediction_machine {
    const struct machine_source *source; /**< borrowed */
    struct measurement_band decode;      /**< of a data sheet; count 0 else */
    struct measurement_band prefill[2];  /**< by enum dtype_kind */
    double price_per_hour;               /**< NaN: not given */
    unsigned rank;                       /**< 1 is best; by the bound of the first decode step */
    struct prediction_cell *cells;       /**< one a step; owned */
    struct prediction_crossover *crossovers; /**< crossover_count; owned */
};

struct prediction {
    const struct model *model; /**< borrowed */
    struct prediction_request request;
    struct step
        *steps; /**< decode: dtypes x batches x contexts; prefill: dtypes x batches x prompts */
    enum dtype_id *step_dtypes; /**< as asked for, one a step */
    size_t step_count;
    struct prediction_machine *machines; /**< in the order given */
    size_t machine_count;
    size_t crossover_count; /**< dtypes x contexts */
    size_t *order;          /**< indices of machines by rank */
};

/** Computes all. prices is NULL or one a machine (NaN: none). The caller frees out in either case.
 *  Errors: INVALID for too many steps, a model without weights, a step that cannot be; SYSTEM. */
CHECKED struct status prediction_compute(struct prediction *out, const struct model *model,
                                         const struct prediction_request *request,
                                         const struct machine_source *machines, size_t count,
                                         const double *prices);

/** Releases what it owns and zeroes it. */
void prediction_free(struct prediction *prediction);

/** Tokens that a step makes: batch in decode, batch x prompt in prefill. */
double prediction_tokens(const struct step *step);

/** Tokens for one unit of money at the predicted rate; NaN without a price. */
double prediction_tokens_per_price(const struct prediction_machine *machine,
                                   const struct step *step, const struct prediction_cell *cell);

#endif
