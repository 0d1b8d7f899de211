#ifndef ROOFLINE_STEP_WORK_H
#define ROOFLINE_STEP_WORK_H

/** What step.c and step_attention.c share: the sizes of the step at hand. Not for others. */

#include "roofline/step.h"

struct step_work {
    const struct model *model;
    const struct step_request *request;
    double batch;            /**< B */
    double context;          /**< c */
    double tokens;           /**< n */
    double rows;             /**< T = B n */
    double head_rows;        /**< R */
    unsigned passes;         /**< over the weights */
    double activation_bytes; /**< of one value */
};

/** Adds the attention of one block: useful and executed FLOPs, cache bytes; and what it is made of.
 */
void step_add_attention(struct step_cost *cost, struct step_attention *parts,
                        const struct step_work *work, const struct model_block *block);

/** Rows that the up-projection of a latent cache (KV_B) multiplies: the new ones, or in the naive
 *  form every visible position. */
double step_latent_rows(const struct step_work *work);

/** True if the block's attention is latent and computed in the absorbed form. */
bool step_is_absorbed(const struct step_work *work, const struct model_block *block);

#endif
