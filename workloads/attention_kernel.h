#ifndef WORKLOADS_ATTENTION_KERNEL_H
#define WORKLOADS_ATTENTION_KERNEL_H

/** Between attention.c (split, merge, masks) and attention_<isa>.c (the inner loops). */

#include "workloads/attention.h"
#include "workloads/attention_quant.h"
#include "workloads/linear_kernel.h"

/** scores[column][ATTENTION_PAGE] = K page times columns of q, packed [k][columns]. */
typedef void attention_scores_fn(float *scores, const unsigned char *k_page, size_t group_bytes,
                                 size_t lines, const float *q, size_t prefetch_bytes);

/** out[group][column][16] = out * alpha[column] + V page times scores[column][ATTENTION_PAGE]. */
typedef void attention_values_fn(float *out, const float *alpha, const unsigned char *v_page,
                                 size_t groups, const float *scores, size_t prefetch_bytes);

/** Streaming softmax of one page: scores become exp(score - new maximum); maximum, sum (per
 *  column) are carried on; alpha[column] is what earlier results are to be scaled by. */
typedef void attention_softmax_fn(float *scores, float *maximum, float *sum, float *alpha,
                                  unsigned columns);

/** The same of a page of integers (attention_quant.h). */
typedef void attention_quant_scores_fn(float *scores, const unsigned char *page,
                                       const struct attention_quant *shape, const float *q,
                                       size_t prefetch_bytes);
typedef void attention_quant_values_fn(float *out, const float *alpha, const unsigned char *page,
                                       const struct attention_quant *shape, const float *scores,
                                       size_t prefetch_bytes);

struct attention_kernel {
    enum line_format format;
    uint32_t needs;
    const char *isa_name;
    const char *class_name;
    unsigned tile; /**< most columns */
    attention_scores_fn *scores[LINEAR_TILE_MAX];
    attention_values_fn *values[LINEAR_TILE_MAX];
    attention_quant_scores_fn *quant_scores[LINEAR_TILE_MAX]; /**< NULL: the cache is of floats */
    attention_quant_values_fn *quant_values[LINEAR_TILE_MAX];
    attention_softmax_fn *softmax;
    linear_touch_fn *touch;
};

extern const struct attention_kernel attention_kernels_avx512[];
extern const struct attention_kernel attention_kernels_avx2[];
extern const struct attention_kernel attention_kernels_neon[];
extern const struct attention_kernel attention_kernels_portable[];

#endif
