#include "workloads/router.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static float score_of(const struct router *router, const float *logits, const float *bias,
                      uint32_t i)
{
    float score = logits[i];
    if (bias != NULL) {
        score = router->scores == ROUTER_SIGMOID ? 1 / (1 + expf(-score)) : score;
        score += bias[i];
    }
    return score;
}

static bool is_taken(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

static void choose(uint32_t *ids, const struct router *router, const float *logits,
                   const float *bias)
{
    for (uint32_t j = 0; j < router->used; j++) {
        uint32_t best = UINT32_MAX;
        float most = 0;
        for (uint32_t i = 0; i < router->experts; i++) {
            float score = score_of(router, logits, bias, i);
            if ((best == UINT32_MAX || score > most) && !is_taken(ids, j, i)) {
                best = i;
                most = score;
            }
        }
        ids[j] = best;
    }
}

static float largest_of(const float *logits, uint32_t count)
{
    float largest = logits[0];
    for (uint32_t i = 1; i < count; i++) {
        largest = logits[i] > largest ? logits[i] : largest;
    }
    return largest;
}

static float sum_of_exponentials(const float *logits, uint32_t count, float largest)
{
    float sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += expf(logits[i] - largest);
    }
    return sum;
}

void router_choose(uint32_t *ids, float *weights, const struct router *router, const float *logits,
                   const float *bias, uint32_t turn)
{
    float largest = largest_of(logits, router->experts);
    float scale = router->scale > 0 ? router->scale : 1;
    bool sigmoid = router->scores == ROUTER_SIGMOID;
    float sum = 0;
    choose(ids, router, logits, bias);
    for (uint32_t j = 0; j < router->used; j++) {
        float logit = logits[ids[j]];
        weights[j] = sigmoid ? 1 / (1 + expf(-logit)) : expf(logit - largest);
        sum += weights[j];
        ids[j] = (ids[j] + turn) % router->experts;
    }
    if (router->scores == ROUTER_ALL) {
        sum = sum_of_exponentials(logits, router->experts, largest);
    }
    for (uint32_t j = 0; j < router->used; j++) {
        weights[j] *= scale / sum;
    }
}

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

uint32_t router_turn(uint64_t step, uint64_t layer, uint64_t row, uint32_t experts)
{
    return (uint32_t)(mix(mix(mix(step) + layer) + row) % experts);
}
