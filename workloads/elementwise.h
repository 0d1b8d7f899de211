#ifndef WORKLOADS_ELEMENTWISE_H
#define WORKLOADS_ELEMENTWISE_H

/** The element-wise work between a model's products: norms, rotary embedding, activation functions,
 *  residuals. Plain C compiled once per instruction set; all in f32, on values in cache. */

#include "workloads/isa.h"

#include <stddef.h>
#include <stdint.h>

/** Activation function of an MLP. Gated: out = f(gate) up; else out = f(gate). */
enum elementwise_activation {
    ELEMENTWISE_SILU, /**< x / (1 + exp(-x)) */
    ELEMENTWISE_GELU, /**< x / (1 + exp(-2 z)), z = sqrt(2 / pi) (x + 0.044715 x^3): Hendrycks &
                         Gimpel, arXiv:1606.08415, the tanh form */
    ELEMENTWISE_RELU,
    ELEMENTWISE_CLAMPED, /**< g / (1 + exp(-1.702 g)) (u + 1), g = min(gate, 7), u = up within +-7:
                            gpt-oss; not gated: as SiLU */
    ELEMENTWISE_ACTIVATIONS
};

/** Added to the mean square or variance before the root: 10^-5, as most models have it. */
#define ELEMENTWISE_EPSILON 1e-5F

struct elementwise {
    uint32_t needs;
    const char *isa_name;
    /** x[n] += y[n] */
    void (*add)(float *x, const float *y, size_t n);
    /** out[n] = x[n] weight[n] / sqrt(mean x^2 + epsilon) */
    void (*rms_norm)(float *out, const float *x, const float *weight, size_t n);
    /** out[n] = (x[n] - mean) weight[n] / sqrt(variance + epsilon) + bias[n] */
    void (*layer_norm)(float *out, const float *x, const float *weight, const float *bias,
                       size_t n);
    /** Rotates the pairs (x[i], x[half + i]) by the angles whose cosines are turn[i] and whose
     *  sines are turn[half + i], i < half. */
    void (*rotate)(float *x, const float *turn, size_t half);
    /** [activation][gated](out[n], gate[n], up[n]); up is not read where not gated. */
    void (*activate[ELEMENTWISE_ACTIVATIONS][2])(float *out, const float *gate, const float *up,
                                                 size_t n);
};

// One file each, compiled for its instruction set.
extern const struct elementwise elementwise_avx512;
extern const struct elementwise elementwise_avx2;
extern const struct elementwise elementwise_portable;

/** The widest that the set has. Static. */
const struct elementwise *elementwise_find(struct isa_set isa);

#endif
