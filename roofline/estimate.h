#ifndef ROOFLINE_ESTIMATE_H
#define ROOFLINE_ESTIMATE_H

/** What follows from a step and a machine's measured rates: time, and where the batch crosses
 *  the ridge. */

#include "roofline/model.h"
#include "roofline/status.h"
#include "roofline/step.h"

/** Rates of a machine, for one dtype and kernel class. A rate of 0 is not known and makes the
 *  results NaN. */
struct estimate_rates {
    double flop_per_s;
    double bytes_per_s;                           /**< of reading from DRAM */
    double operator_flop_per_s[MODEL_OPERATORS];  /**< 0: flop_per_s */
    double operator_bytes_per_s[MODEL_OPERATORS]; /**< 0: bytes_per_s */
    double operator_seconds[MODEL_OPERATORS];     /**< of the step, beside FLOPs and bytes; also of
                                                       operators that have neither */
    double barrier_seconds;                       /**< of one parallel region */
};

/** Seconds of a step. */
struct estimate_time {
    double bound_seconds;    /**< max(sum F / P, sum Q / BW): no step is faster */
    double estimate_seconds; /**< sum over operators of max(F/P, Q/BW), one barrier per call, and
                                  what the rates say beside these */
    double operator_seconds[MODEL_OPERATORS]; /**< of the estimate; 0 where not done */
};

/** Times of a step (METHOD.md, A point). */
void estimate_time(struct estimate_time *out, const struct step *step,
                   const struct estimate_rates *rates);

/** Seconds to decode `tokens` tokens one after the other from request->context on: the sum of
 *  TPOT(c + i), i < tokens, never tokens x TPOT(c).
 *  Errors: as step_compute(). */
CHECKED struct status estimate_generation_seconds(double *out, const struct model *model,
                                                  const struct step_request *request,
                                                  const struct estimate_rates *rates,
                                                  uint64_t tokens);

/** True of products with a model's matrices; not of attention and element-wise work. */
bool estimate_reads_weights(enum model_operator op);

/** Where decode turns from bandwidth-bound to compute-bound as the batch grows. */
struct estimate_crossover {
    bool linears_never; /**< no batch reaches the ridge */
    bool step_never;
    double linears_batch;               /**< smallest integer batch; NaN if never */
    double step_batch;                  /**< smallest integer batch; NaN if never */
    double linears_limit_flop_per_byte; /**< AI for an infinite batch */
    double step_limit_flop_per_byte;
};

/** Smallest B whose flop / dram_lower_bound >= ridge, for the linear operators alone and for the
 *  whole decode step at request->context (METHOD.md, A point). ridge in FLOP/byte. */
CHECKED struct status estimate_crossover(struct estimate_crossover *out, const struct model *model,
                                         const struct step_request *request,
                                         double ridge_flop_per_byte);

#endif
