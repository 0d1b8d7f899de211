/** Products of a tile in the block formats (line.h): integer sums over blocks of 32 k, scaled and
 *  added in f32. Included after a simd_<isa>.h that defines SIMD_BLOCKS. Every `const` parameter is
 *  a literal at each call. BLOCKS_PART_ELSEWHERE: who includes it defines blocks_part(). */

#include "workloads/linear_kernel.h"
#include "workloads/simd/quantise.h"

/** How a tile is computed; all fields are literals. */
struct blocks_form {
    enum line_format format;
    int columns;
    int prefetching;
};

// Bits of an integer as it is multiplied.
SIMD_INLINE int blocks_bits(const enum line_format format)
{
    return format == LINE_Q8_0 || format == LINE_INT8 ? 8
           : format == LINE_Q6_K                      ? 6
           : format == LINE_Q5_0 || format == LINE_Q5_1 || format == LINE_Q5_K ||
                   format == LINE_MXFP4
               ? 5
               : 4;
}

// Bits of it that a line of high bits holds.
SIMD_INLINE int blocks_high_bits(const enum line_format format)
{
    return format == LINE_Q6_K                                                 ? 2
           : format == LINE_Q5_0 || format == LINE_Q5_1 || format == LINE_Q5_K ? 1
                                                                               : 0;
}

// One column of bytes as they are: little arithmetic to a line. Their loops stay loops and load by
// 256 bits: a core whose prefetcher follows each load instruction by its stride goes astray in a
// unit all unrolled. On a Zen 4 q8_0 became 1.04 to 1.15 times as fast with 512-bit vectors, 1.05
// to 1.7 times with 256-bit ones (2026-11-30, medians of 150 paired rounds, all intervals above 1;
// with fetch_x() of linear.c). With 4 bits nothing was gained.
SIMD_INLINE int blocks_stream(const struct blocks_form f)
{
    return f.columns == 1 && blocks_bits(f.format) == 8;
}

SIMD_INLINE v_line blocks_load(const unsigned char *at, size_t prefetch_bytes,
                               const struct blocks_form f)
{
    if (f.prefetching) {
        simd_prefetch(at + prefetch_bytes);
    }
    return blocks_stream(f) ? v_line_stream(at) : v_line_load(at);
}

// Twice the e2m1 values, plus 12.
static const uint8_t blocks_fp4[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

// The integers [16 rows][4 k] of a step from the line that holds them, and their high bits.
SIMD_INLINE v_line blocks_integers(v_line line, v_line high, const int step,
                                   const struct blocks_form f)
{
    const int high_bits = blocks_high_bits(f.format);
    if (blocks_bits(f.format) == 8) {
        return line;
    }
    const v_line low = step % 2 == 0 ? v_line_low_nibbles(line) : v_line_high_nibbles(line);
    if (f.format == LINE_MXFP4) {
        return v_line_lookup(low, blocks_fp4);
    }
    if (high_bits == 0) {
        return low;
    }
    const uint32_t mask = high_bits == 1 ? 0x10101010U : 0x30303030U;
    return v_line_or(low, v_line_mask(v_line_shift(high, 4 - high_bits * step), mask));
}

// sums[columns] += the integers of `steps` steps times x; returns the line after them.
#ifdef SIMD_MMLA_I8
// Two steps and two columns at a time.
SIMD_INLINE const unsigned char *blocks_sum(v_sum *sums, const unsigned char *lines,
                                            const uint32_t *x, const int steps,
                                            size_t prefetch_bytes, const struct blocks_form f)
{
    const int bits = blocks_bits(f.format);
    const int last = f.columns - 1;
    v_line high = v_line_zero();
    v_sum_pair pairs[LINEAR_TILE_MAX / 2];
    if (blocks_high_bits(f.format) > 0) {
        high = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
    }
    UNROLL
    for (int b = 0; b < last; b += 2) {
        pairs[b / 2] = v_sum_pair_start(sums[b], sums[b + 1]);
    }
    UNROLL
    for (int step = 0; step < steps; step += 2) {
        v_line line = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
        const v_line first = blocks_integers(line, high, step, f);
        if (bits == 8) {
            line = blocks_load(lines, prefetch_bytes, f);
            lines += LINE_BYTES;
        }
        const v_line second = blocks_integers(line, high, step + 1, f);
        const uint32_t *at = x + step * f.columns;
        const v_rows rows = v_rows_of(first, second);
        UNROLL
        for (int b = 0; b < last; b += 2) {
            pairs[b / 2] = v_sum_pair_add(pairs[b / 2], rows, at + b, (size_t)f.columns, bits);
        }
        if (f.columns % 2 == 1) {
            sums[last] = v_sum_add(sums[last], first, at[last], bits);
            sums[last] = v_sum_add(sums[last], second, at[last + f.columns], bits);
        }
    }
    UNROLL
    for (int b = 0; b < last; b += 2) {
        sums[b] = v_sum_pair_first(pairs[b / 2]);
        sums[b + 1] = v_sum_pair_second(pairs[b / 2]);
    }
    return lines;
}
#else
SIMD_INLINE const unsigned char *blocks_steps(v_sum *sums, const unsigned char *lines, v_line high,
                                              const uint32_t *x, const int steps,
                                              size_t prefetch_bytes, const struct blocks_form f)
{
    const int bits = blocks_bits(f.format);
    const int per_line = bits == 8 ? 1 : 2;
    UNROLL
    for (int step = 0; step < steps; step += per_line) {
        const v_line line = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
        UNROLL
        for (int i = step; i < step + per_line; i++) {
            const v_line w = blocks_integers(line, high, i, f);
            UNROLL
            for (int b = 0; b < f.columns; b++) {
                sums[b] = v_sum_add(sums[b], w, x[i * f.columns + b], bits);
            }
        }
    }
    return lines;
}

SIMD_INLINE const unsigned char *blocks_sum(v_sum *sums, const unsigned char *lines,
                                            const uint32_t *x, const int steps,
                                            size_t prefetch_bytes, const struct blocks_form f)
{
    v_line high = v_line_zero();
    if (blocks_high_bits(f.format) > 0) {
        high = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
    }
    if (!blocks_stream(f)) {
        return blocks_steps(sums, lines, high, x, steps, prefetch_bytes, f);
    }
    ROLLED
    for (int half = 0; half < 2; half++) {
        lines = blocks_steps(sums, lines, high, x, steps / 2, prefetch_bytes, f);
        x += steps / 2;
    }
    return lines;
}
#endif

// acc[columns] += scales times the sums of `steps` steps times the scales of x; their words start
// at x, the sums at `start` of the block's words.
#ifdef BLOCKS_PART_ELSEWHERE
SIMD_INLINE const unsigned char *blocks_part(v16 *acc, const unsigned char *lines, v16 scales,
                                             const uint32_t *x, const float *x_scales,
                                             const int32_t *start, const int steps,
                                             size_t prefetch_bytes, const struct blocks_form f);
#else
SIMD_INLINE const unsigned char *blocks_part(v16 *acc, const unsigned char *lines, v16 scales,
                                             const uint32_t *x, const float *x_scales,
                                             const int32_t *start, const int steps,
                                             size_t prefetch_bytes, const struct blocks_form f)
{
    const int bits = blocks_bits(f.format);
    v_sum sums[LINEAR_WIDE_MAX];
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        sums[b] = v_sum_start(start[b], bits);
    }
    lines = blocks_sum(sums, lines, x, steps, prefetch_bytes, f);
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_fma(acc[b], v16_of_sum(sums[b], start[b], bits),
                         v16_mul(scales, v16_set1(x_scales[b])));
    }
    return lines;
}
#endif

SIMD_INLINE const float *blocks_scales_of(const uint32_t *x, const struct blocks_form f)
{
    return (const float *)(const void *)x + LINEAR_WORD_SCALE * f.columns;
}

// One block of 32 k.
SIMD_INLINE const unsigned char *blocks_block(v16 *acc, const unsigned char *lines, v16 scales,
                                              const uint32_t *x, size_t prefetch_bytes,
                                              const struct blocks_form f)
{
    const int32_t *start = (const int32_t *)x + LINEAR_WORD_START * f.columns;
    return blocks_part(acc, lines, scales, x, blocks_scales_of(x, f), start, BLOCKS_STEPS,
                       prefetch_bytes, f);
}

// acc[columns] += minimums times the sum of the block's x.
SIMD_INLINE void blocks_minimums(v16 *acc, v16 minimums, const uint32_t *x,
                                 const struct blocks_form f)
{
    const float *sums = (const float *)(const void *)x + LINEAR_WORD_SUM * f.columns;
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_fma(acc[b], minimums, v16_set1(sums[b]));
    }
}

// Blocks that share a scale.
SIMD_INLINE const unsigned char *blocks_run(v16 *acc, const unsigned char *lines, v16 scales,
                                            const uint32_t *x, const int blocks,
                                            size_t prefetch_bytes, const struct blocks_form f)
{
    for (int i = 0; i < blocks; i++) {
        lines = blocks_block(acc, lines, scales, x, prefetch_bytes, f);
        x += LINEAR_BLOCK_WORDS * f.columns;
    }
    return lines;
}

// Two groups of `blocks` blocks with a scale each.
SIMD_INLINE const unsigned char *blocks_pair(v16 *acc, const unsigned char *lines,
                                             const uint32_t *x, const int blocks,
                                             size_t prefetch_bytes, const struct blocks_form f)
{
    const size_t words = (size_t)LINEAR_BLOCK_WORDS * (size_t)f.columns;
    const v_line head = blocks_load(lines, prefetch_bytes, f);
    const v16 second = v16_of_f16_high(head);
    v16 scales = v16_of_f16_low(head);
    lines += LINE_BYTES;
    if (blocks_stream(f)) {
        ROLLED
        for (int half = 0; half < 2; half++) {
            lines = blocks_run(acc, lines, scales, x, blocks, prefetch_bytes, f);
            x += words * (size_t)blocks;
            scales = second;
        }
        return lines;
    }
    lines = blocks_run(acc, lines, scales, x, blocks, prefetch_bytes, f);
    return blocks_run(acc, lines, second, x + words * (size_t)blocks, blocks, prefetch_bytes, f);
}

// A block with a scale and a minimum.
SIMD_INLINE const unsigned char *blocks_with_minimum(v16 *acc, const unsigned char *lines,
                                                     const uint32_t *x, size_t prefetch_bytes,
                                                     const struct blocks_form f)
{
    const v_line head = blocks_load(lines, prefetch_bytes, f);
    blocks_minimums(acc, v16_of_f16_high(head), x, f);
    return blocks_block(acc, lines + LINE_BYTES, v16_of_f16_low(head), x, prefetch_bytes, f);
}

// Four blocks of a super-block, whose 6-bit scales and minimums are the bytes of two lines.
SIMD_INLINE const unsigned char *blocks_four(v16 *acc, const unsigned char *lines, v_line scales,
                                             v_line minimums, v_line head, const uint32_t *x,
                                             size_t prefetch_bytes, const struct blocks_form f)
{
    const v16 d = v16_of_f16_low(head);
    const v16 d_minimum = v16_mul(v16_of_f16_high(head), v16_set1(-1));
    for (int i = 0; i < 4; i++) {
        blocks_minimums(acc, v16_mul(d_minimum, v16_of_u8(minimums)), x, f);
        lines = blocks_block(acc, lines, v16_mul(d, v16_of_u8(scales)), x, prefetch_bytes, f);
        scales = v_line_shift(scales, -8);
        minimums = v_line_shift(minimums, -8);
        x += LINEAR_BLOCK_WORDS * f.columns;
    }
    return lines;
}

// Q4_K, Q5_K: ggml, ggml-quants.c, get_scale_min_k4(), for four scales at once.
SIMD_INLINE const unsigned char *blocks_super(v16 *acc, const unsigned char *lines,
                                              const uint32_t *x, size_t prefetch_bytes,
                                              const struct blocks_form f)
{
    const v_line head = blocks_load(lines, prefetch_bytes, f);
    const v_line first = blocks_load(lines + LINE_BYTES, prefetch_bytes, f);
    const v_line second = blocks_load(lines + 2 * LINE_BYTES, prefetch_bytes, f);
    const v_line third = blocks_load(lines + 3 * LINE_BYTES, prefetch_bytes, f);
    lines = blocks_four(acc, lines + 4 * LINE_BYTES, v_line_mask(first, 0x3f3f3f3fU),
                        v_line_mask(second, 0x3f3f3f3fU), head, x, prefetch_bytes, f);
    const v_line scales =
        v_line_or(v_line_low_nibbles(third), v_line_mask(v_line_shift(first, -2), 0x30303030U));
    const v_line minimums =
        v_line_or(v_line_high_nibbles(third), v_line_mask(v_line_shift(second, -2), 0x30303030U));
    return blocks_four(acc, lines, scales, minimums, head, x + 4 * LINEAR_BLOCK_WORDS * f.columns,
                       prefetch_bytes, f);
}

// Two super-blocks of sixteen half blocks with an int8 scale each.
SIMD_INLINE const unsigned char *blocks_halves(v16 *acc, const unsigned char *lines, v16 d,
                                               const uint32_t *x, size_t prefetch_bytes,
                                               const struct blocks_form f)
{
    const unsigned char *scale_lines = lines;
    const int steps = BLOCKS_STEPS / 2;
    lines += 4 * LINE_BYTES;
    for (int i = 0; i < 8; i++) {
        const v_line scales = v_line_shift(
            blocks_load(scale_lines + i / 2 * LINE_BYTES, prefetch_bytes, f), i % 2 == 0 ? 0 : -16);
        const int32_t *starts = (const int32_t *)x + LINEAR_WORD_FIRST * f.columns;
        lines = blocks_part(acc, lines, v16_mul(d, v16_of_i8(scales)), x, blocks_scales_of(x, f),
                            starts, steps, prefetch_bytes, f);
        lines = blocks_part(acc, lines, v16_mul(d, v16_of_i8(v_line_shift(scales, -8))),
                            x + steps * f.columns, blocks_scales_of(x, f), starts + f.columns,
                            steps, prefetch_bytes, f);
        x += LINEAR_BLOCK_WORDS * f.columns;
    }
    return lines;
}

SIMD_INLINE const unsigned char *blocks_q6(v16 *acc, const unsigned char *lines, const uint32_t *x,
                                           size_t prefetch_bytes, const struct blocks_form f)
{
    const v_line head = blocks_load(lines, prefetch_bytes, f);
    lines = blocks_halves(acc, lines + LINE_BYTES, v16_of_f16_low(head), x, prefetch_bytes, f);
    return blocks_halves(acc, lines, v16_of_f16_high(head), x + 8 * LINEAR_BLOCK_WORDS * f.columns,
                         prefetch_bytes, f);
}

// Four blocks with an e8m0 scale each, halved because the integers are doubled. 2^-127 is taken
// for 0.
SIMD_INLINE const unsigned char *blocks_mxfp4(v16 *acc, const unsigned char *lines,
                                              const uint32_t *x, size_t prefetch_bytes,
                                              const struct blocks_form f)
{
    v_line exponents = blocks_load(lines, prefetch_bytes, f);
    lines += LINE_BYTES;
    for (int i = 0; i < 4; i++) {
        const v_line bits = v_line_shift(v_line_mask(exponents, 255), 23);
        lines = blocks_block(acc, lines, v16_mul(v16_of_f32(bits), v16_set1(0.5F)), x,
                             prefetch_bytes, f);
        exponents = v_line_shift(exponents, -8);
        x += LINEAR_BLOCK_WORDS * f.columns;
    }
    return lines;
}

SIMD_INLINE const unsigned char *blocks_unit(v16 *acc, const unsigned char *lines,
                                             const uint32_t *x, size_t prefetch_bytes,
                                             const struct blocks_form f)
{
    if (f.format == LINE_Q4_1 || f.format == LINE_Q5_1) {
        return blocks_with_minimum(acc, lines, x, prefetch_bytes, f);
    }
    if (f.format == LINE_Q4_K || f.format == LINE_Q5_K) {
        return blocks_super(acc, lines, x, prefetch_bytes, f);
    }
    if (f.format == LINE_Q6_K) {
        return blocks_q6(acc, lines, x, prefetch_bytes, f);
    }
    if (f.format == LINE_MXFP4) {
        return blocks_mxfp4(acc, lines, x, prefetch_bytes, f);
    }
    if (f.format == LINE_INT8) { // the rows' scales come last: linear.c
        return blocks_block(acc, lines, v16_set1(1), x, prefetch_bytes, f);
    }
    return blocks_pair(acc, lines, x, f.format == LINE_INT4_G128 ? 4 : 1, prefetch_bytes, f);
}

SIMD_INLINE void blocks_tile(float *out, const unsigned char *weights, size_t units, const void *x,
                             size_t prefetch_bytes, const struct blocks_form f)
{
    const size_t blocks = line_layout(f.format)->unit_ks / LINE_BLOCK_KS;
    const size_t words = blocks * LINEAR_BLOCK_WORDS * (size_t)f.columns;
    const uint32_t *at = x;
    v16 acc[LINEAR_WIDE_MAX];
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_load(out + 16 * b);
    }
    for (size_t unit = 0; unit < units; unit++) {
        weights = blocks_unit(acc, weights, at, prefetch_bytes, f);
        at += words;
    }
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        v16_store(out + 16 * b, acc[b]);
    }
}
