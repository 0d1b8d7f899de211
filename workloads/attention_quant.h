#ifndef WORKLOADS_ATTENTION_QUANT_H
#define WORKLOADS_ATTENTION_QUANT_H

/** A KV cache of integers: each token's key and value of a KV head is quantised as it is appended,
 *  x = s q / 128 with q in -127..127. q8_0: a scale for every 32 values of the row, f16 (ggml,
 *  src/ggml-quants.c, quantize_row_q8_0_ref: d = max|x| / 127, q = round(x / d); s = 128 d is
 *  stored, which only moves the exponent); the dimensions are multiples of 32. int8: one scale for
 * the whole row, f32 (symmetric, per token and head, as in vLLM's and TensorRT-LLM's int8 caches).
 *
 *  A page of 64 tokens: integers of the keys, [4 groups][k_dim][16 tokens], their scales,
 *  [blocks][64 tokens]; integers of the values, [groups of 16][64 tokens][16 values], their
 *  scales likewise. A row takes the bytes that roofline/dtype.h says: no padding but that of an odd
 *  v_dim to 16. The products are of f32, widened in registers; a block's sum
 *  of keys, and the weights of its values, are scaled. */

#include "workloads/line.h"

struct attention_quant {
    bool half;       /**< scales are f16 per 32 values, else f32 per row */
    unsigned k_dim;  /**< of a key */
    size_t v_groups; /**< of 16 values */
    size_t k_scales; /**< byte offsets in a page */
    size_t v_values;
    size_t v_scales;
    size_t page_bytes;
};

/** True for q8_0 and int8. */
bool attention_is_quant(enum line_format format);

/** The shape of a page. */
struct attention_quant attention_quant_shape(enum line_format format, unsigned k_dim,
                                             unsigned v_dim);

/** Quantises a token's key and value into its page. */
void attention_quant_put(const struct attention_quant *shape, unsigned char *page, unsigned token,
                         const float *key, const float *value, unsigned v_dim);

/** Element d of a token's key or value: exact. */
double attention_quant_get(const struct attention_quant *shape, const unsigned char *page,
                           unsigned token, unsigned d, bool value);

/** Fills pages with values spread over +-amplitude, reproducibly. */
void attention_quant_fill(const struct attention_quant *shape, unsigned char *pages, size_t size,
                          float amplitude, uint64_t seed);

#endif
