#ifndef WORKLOADS_ROUTER_H
#define WORKLOADS_ROUTER_H

/** Which experts a token is sent to, and with what weights, from the router's logits. */

#include <stdint.h>

/** How logits become weights, as the families' reference implementations do it. */
enum router_scores {
    ROUTER_CHOSEN, /**< softmax over the chosen alone: sums to 1 (Mixtral, gpt-oss, Granite; the
                        same as over all and renormalised: Qwen3) */
    ROUTER_ALL,    /**< softmax over all experts, not renormalised (Qwen2, OLMoE, DeepSeek-V2) */
    ROUTER_SIGMOID /**< sigmoids, renormalised to the sum 1 (DeepSeek-V3) */
};

struct router {
    enum router_scores scores;
    uint32_t experts;
    uint32_t used;
    float scale; /**< of the weights; 0: 1 */
};

/** The `used` largest of logits[experts], the first of equal ones, in falling order, into ids and
 *  weights. bias[experts] is added for the choice (to the sigmoids where those are the scores);
 *  NULL: none. turn is added to every id, modulo `experts`: random routers are less even than
 *  trained ones, and turning each token's choice by a random offset spreads the tokens evenly and
 *  independently. */
void router_choose(uint32_t *ids, float *weights, const struct router *router, const float *logits,
                   const float *bias, uint32_t turn);

/** A reproducible offset below `experts` for a row of a layer in a step. */
uint32_t router_turn(uint64_t step, uint64_t layer, uint64_t row, uint32_t experts);

#endif
