#ifndef WORKLOADS_SIMD_QUANTISE_H
#define WORKLOADS_SIMD_QUANTISE_H

/** Activations as the block formats multiply them (linear_quantise_fn); included after a
 *  simd_<isa>.h with v16_store_i8(). */

#include "workloads/linear_kernel.h"
#include "workloads/simd/lines.h"

#include <string.h>

// Words of a block, of four k each.
#define BLOCKS_STEPS (LINE_BLOCK_KS / 4)

// To the nearest integer, ties to even, as a float; |v| < 2^22.
SIMD_INLINE v16 blocks_round(v16 v)
{
    return v16_add(v16_add(v, v16_set1(0x1.8p23F)), v16_set1(-0x1.8p23F));
}

SIMD_INLINE v16 blocks_magnitude(v16 v)
{
    return v16_max(v, v16_mul(v, v16_set1(-1)));
}

// The words that follow a block's integers, whose two halves sum up to first and second.
SIMD_INLINE void blocks_words(uint32_t *words, size_t columns, float scale, float first,
                              float second, const struct line_layout *layout)
{
    const int32_t starts[] = {-layout->offset * (int32_t)(first + second),
                              -layout->offset * (int32_t)first, -layout->offset * (int32_t)second};
    const float sum = scale * (first + second);
    memcpy(words + LINEAR_WORD_START * columns, &starts[0], sizeof *starts);
    memcpy(words + LINEAR_WORD_SCALE * columns, &scale, sizeof scale);
    memcpy(words + LINEAR_WORD_FIRST * columns, &starts[1], sizeof *starts);
    memcpy(words + LINEAR_WORD_SECOND * columns, &starts[2], sizeof *starts);
    if (layout->minimums) {
        memcpy(words + LINEAR_WORD_SUM * columns, &sum, sizeof sum);
    }
}

SIMD_INLINE void blocks_quantise_one(uint32_t *words, const struct linear_packed *to,
                                     const float *x, const struct line_layout *layout)
{
    const v16 first = v16_load(x);
    const v16 second = v16_load(x + 16);
    float largest = v16_reduce_max(v16_max(blocks_magnitude(first), blocks_magnitude(second)));
    largest = largest < 0x1p-100F ? 0 : largest; // its reciprocal would be none
    const v16 per_step = v16_set1(largest > 0 ? 127 / largest : 0);
    const v16 low = blocks_round(v16_mul(first, per_step));
    const v16 high = blocks_round(v16_mul(second, per_step));
    int8_t values[LINE_BLOCK_KS];
    v16_store_i8(values, low);
    v16_store_i8(values + 16, high);
    if (to->by_column) {
        memcpy(words + to->column * BLOCKS_STEPS, values, sizeof values);
    } else {
        UNROLL
        for (size_t i = 0; i < BLOCKS_STEPS; i++) {
            memcpy(words + i * to->columns + to->column, values + 4 * i, 4);
        }
    }
    blocks_words(words + to->column, to->columns, largest / 127, v16_reduce_add(low),
                 v16_reduce_add(high), layout);
}

static void blocks_quantise(const struct linear_packed *to, const float *x, size_t blocks,
                            const struct line_layout *layout)
{
    uint32_t *words = to->words;
    for (size_t block = 0; block < blocks; block++) {
        blocks_quantise_one(words, to, x, layout);
        words += LINEAR_BLOCK_WORDS * to->columns;
        x += LINE_BLOCK_KS;
    }
}

#endif
