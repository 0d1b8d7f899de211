#ifndef ROOFLINE_TRAINING_H
#define ROOFLINE_TRAINING_H

/** FLOPs of training, analytic only (MODEL.md, What follows). */

#include "roofline/model.h"
#include "roofline/status.h"

struct training_request {
    double tokens;            /**< D, of the whole training */
    uint64_t sequence;        /**< S */
    double devices;           /**< 0 = not told: days are NaN */
    double device_flop_per_s; /**< dense peak of one */
    double mfu_fraction;      /**< model FLOP utilisation, 0..1 */
};

struct training {
    double linear_parameters;               /**< P: multiplied per token (MoE: active) */
    double linear_flop_per_token;           /**< 6 P */
    double attention_flop_per_token_full;   /**< full square: 6 L h_q (k + k_v) S */
    double attention_flop_per_token_causal; /**< half of it */
    double attention_share_full;            /**< of 6 P */
    double attention_share_causal;
    double flop;             /**< (6 P + causal attention) D */
    double flop_linear;      /**< 6 P D */
    double flop_full_square; /**< (6 P + full attention) D */
    double flop_recomputed;  /**< (8 P + 4/3 causal attention) D: full recomputation */
    double days;             /**< NaN if devices are not told */
    double days_recomputed;
};

/** Errors: INVALID for tokens or sequence of 0 or a utilisation outside (0, 1]. */
CHECKED struct status training_compute(struct training *out, const struct model *model,
                                       const struct training_request *request);

#endif
