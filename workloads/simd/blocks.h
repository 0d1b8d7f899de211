/** Products of a tile in the block formats (line.h): integer sums over blocks of 32 k, scaled and
 *  added in f32. Included after a simd_<isa>.h that defines SIMD_BLOCKS. Every `const` parameter is
 *  a literal at each call. */

#include "workloads/linear_kernel.h"
#include "workloads/simd/lines.h"

#include <string.h>

/** How a tile is computed; all fields are literals. */
struct blocks_form {
    enum line_format format;
    int columns;
    int prefetching;
};

// Lines of a block, the two halves of a 4-bit line being one each after the other.
#define BLOCKS_STEPS (LINE_BLOCK_KS / 4)

SIMD_INLINE v_line blocks_load(const unsigned char *at, size_t prefetch_bytes,
                               const struct blocks_form f)
{
    if (f.prefetching) {
        simd_prefetch(at + prefetch_bytes);
    }
    return v_line_load(at);
}

SIMD_INLINE void blocks_step(v_sum *sums, v_line w, const uint32_t *x, const struct blocks_form f)
{
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        sums[b] = v_sum_add(sums[b], w, x[b], f.format == LINE_Q4_0 ? 4 : 8);
    }
}

// acc[columns] += scales times the sums of one block times the scales of x.
SIMD_INLINE void blocks_block(v16 *acc, const unsigned char *lines, v16 scales, const uint32_t *x,
                              size_t prefetch_bytes, const struct blocks_form f)
{
    const int bits = f.format == LINE_Q4_0 ? 4 : 8;
    const int32_t *start = (const int32_t *)x + LINEAR_WORD_START * f.columns;
    const float *scale = (const float *)(const void *)x + LINEAR_WORD_SCALE * f.columns;
    v_sum sums[LINEAR_TILE_MAX];
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        sums[b] = v_sum_start(start[b], bits);
    }
    UNROLL
    for (int step = 0; step < BLOCKS_STEPS; step += 8 / bits) {
        const v_line line = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
        if (bits == 4) {
            blocks_step(sums, v_line_low_nibbles(line), x + step * f.columns, f);
            blocks_step(sums, v_line_high_nibbles(line), x + (step + 1) * f.columns, f);
        } else {
            blocks_step(sums, line, x + step * f.columns, f);
        }
    }
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_fma(acc[b], v16_of_sum(sums[b], start[b], bits),
                         v16_mul(scales, v16_set1(scale[b])));
    }
}

SIMD_INLINE void blocks_tile(float *out, const unsigned char *weights, size_t units, const void *x,
                             size_t prefetch_bytes, const struct blocks_form f)
{
    const size_t block_bytes = (size_t)LINE_BYTES * (f.format == LINE_Q4_0 ? 4 : 8);
    const uint32_t *words = x;
    v16 acc[LINEAR_TILE_MAX];
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_load(out + 16 * b);
    }
    for (size_t unit = 0; unit < units; unit++) {
        const v_line scales = blocks_load(weights, prefetch_bytes, f);
        weights += LINE_BYTES;
        blocks_block(acc, weights, v16_of_f16_low(scales), words, prefetch_bytes, f);
        blocks_block(acc, weights + block_bytes, v16_of_f16_high(scales),
                     words + LINEAR_BLOCK_WORDS * f.columns, prefetch_bytes, f);
        weights += 2 * block_bytes;
        words += 2 * LINEAR_BLOCK_WORDS * f.columns;
    }
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        v16_store(out + 16 * b, acc[b]);
    }
}

// To the nearest integer, ties to even, as a float; |v| < 2^22.
SIMD_INLINE v16 blocks_round(v16 v)
{
    return v16_add(v16_add(v, v16_set1(0x1.8p23F)), v16_set1(-0x1.8p23F));
}

SIMD_INLINE v16 blocks_magnitude(v16 v)
{
    return v16_max(v, v16_mul(v, v16_set1(-1)));
}

SIMD_INLINE void blocks_quantise_one(uint32_t *words, size_t columns, const float *x, int offset)
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
    UNROLL
    for (size_t i = 0; i < BLOCKS_STEPS; i++) {
        memcpy(words + i * columns, values + 4 * i, 4);
    }
    const int32_t start = -offset * (int32_t)v16_reduce_add(v16_add(low, high));
    const float scale = largest / 127;
    memcpy(words + LINEAR_WORD_START * columns, &start, sizeof start);
    memcpy(words + LINEAR_WORD_SCALE * columns, &scale, sizeof scale);
}

static void blocks_quantise(uint32_t *words, size_t columns, const float *x, size_t blocks,
                            int offset)
{
    for (size_t block = 0; block < blocks; block++) {
        blocks_quantise_one(words, columns, x, offset);
        words += LINEAR_BLOCK_WORDS * columns;
        x += LINE_BLOCK_KS;
    }
}
