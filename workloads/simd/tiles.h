/** Products of a tile: columns of activations times groups of stored lines, summed in registers.
 *  Included after a simd_<isa>.h. Every `const` parameter is a literal at each call, so that loops
 *  over it unroll and the accumulators stay in registers. */

#include "workloads/linear_kernel.h"
#include "workloads/simd/lines.h"

/** How a tile is computed; all fields are literals. */
struct tile_form {
    enum line_format format;
    enum linear_class class_;
    int columns;
    int tall;   /**< groups at once */
    int chains; /**< lines taken in turn into separate accumulators, so that few columns do
                     not wait for the latency of one addition after the other */
    int prefetching;
    int k_stride;      /**< 32-bit words from one k of x to the next (dot class: from one pair) */
    int column_stride; /**< from one column to the next */
};

enum { TILE_ACC_MAX = 4 * LINEAR_TALL_MAX * LINEAR_TILE_MAX };

// One k of `tall` groups times all columns. Each activation is broadcast once and used at once:
// the other loop order lets compilers keep all broadcasts alive and spill.
SIMD_INLINE void tile_k(v16 *acc, const v16 *w, const float *x, const struct tile_form f)
{
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        const v16 value = v16_set1(x[b * f.column_stride]);
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            acc[j * f.columns + b] = v16_fma(acc[j * f.columns + b], w[j], value);
        }
    }
}

SIMD_INLINE void tile_lines_fma(v16 *acc, const v_line *lines, const float *x,
                                const struct tile_form f)
{
    v16 w[LINEAR_TALL_MAX];
    UNROLL
    for (int j = 0; j < f.tall; j++) {
        w[j] = line_first(f.format, lines[j]);
    }
    tile_k(acc, w, x, f);
    if (f.format != LINE_F32) {
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            w[j] = line_second(f.format, lines[j]);
        }
        tile_k(acc, w, x + f.k_stride, f);
    }
}

#ifdef SIMD_DOT
SIMD_INLINE void tile_lines_dot(v16 *acc, const v_line *lines, const uint32_t *x,
                                const struct tile_form f)
{
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            acc[j * f.columns + b] =
                v16_dot_bf16(acc[j * f.columns + b], lines[j], x[b * f.column_stride]);
        }
    }
}
#endif

#ifdef SIMD_LOAD_F16
// Halves are converted as they are loaded, which needs fewer instructions than taking a line in a
// register apart: 1.05 (512-bit vectors) to 1.2 times as fast on a Zen 4 (2026-11-30, medians of
// 200 paired rounds, intervals above 1).
SIMD_INLINE void tile_line_f16(v16 *acc, const unsigned char *weights, size_t group_step,
                               const float *x, const struct tile_form f)
{
    v16 w[LINEAR_TALL_MAX];
    UNROLL
    for (int half = 0; half < 2; half++) {
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            w[j] = v16_load_f16(weights + (size_t)j * group_step + half * (LINE_BYTES / 2));
        }
        tile_k(acc, w, x + half * f.k_stride, f);
    }
}
#endif

// The same line of each of `tall` groups.
SIMD_INLINE void tile_line(v16 *acc, const unsigned char *weights, size_t group_step,
                           const uint32_t *x, const struct tile_form f)
{
    v_line lines[LINEAR_TALL_MAX];
#ifdef SIMD_LOAD_F16
    if (f.format == LINE_F16 && f.columns <= LINES_STREAM_COLUMNS) {
        tile_line_f16(acc, weights, group_step, (const float *)(const void *)x, f);
        return;
    }
#endif
    UNROLL
    for (int j = 0; j < f.tall; j++) {
        lines[j] = line_load(weights + (size_t)j * group_step, f.columns);
    }
#ifdef SIMD_DOT
    if (f.class_ == LINEAR_DOT) {
        tile_lines_dot(acc, lines, x, f);
        return;
    }
#endif
    tile_lines_fma(acc, lines, (const float *)(const void *)x, f);
}

SIMD_INLINE void tile_prefetch(const unsigned char *at, size_t group_step, const int tall)
{
    UNROLL
    for (int j = 0; j < tall; j++) {
        simd_prefetch(at + (size_t)j * group_step);
    }
}

#ifdef SIMD_MMLA_BF16
// Two lines of a group and two columns at a time; an odd last line or column by dot products.
SIMD_INLINE void tile_sum_mmla(v16 *acc, const unsigned char *weights, size_t lines,
                               const uint32_t *x, size_t prefetch_bytes, const struct tile_form f)
{
    const int last = f.columns - 1;
    v16_pair pairs[LINEAR_TILE_MAX / 2];
    UNROLL
    for (int b = 0; b < f.columns; b++) {
        acc[b] = v16_zero();
        pairs[b / 2] = v16_pair_zero();
    }
    for (; lines >= 2; lines -= 2) {
        if (f.prefetching) {
            simd_prefetch(weights + prefetch_bytes);
            simd_prefetch(weights + prefetch_bytes + LINE_BYTES);
        }
        const v_line first = v_line_load(weights);
        const v_line second = v_line_load(weights + LINE_BYTES);
        const v_rows rows = v_rows_of(first, second);
        UNROLL
        for (int b = 0; b < last; b += 2) {
            pairs[b / 2] = v16_pair_add(pairs[b / 2], rows, x + b, (size_t)f.columns);
        }
        if (f.columns % 2 == 1) {
            acc[last] = v16_dot_bf16(acc[last], first, x[last]);
            acc[last] = v16_dot_bf16(acc[last], second, x[last + f.columns]);
        }
        weights += 2 * LINE_BYTES;
        x += 2 * f.columns;
    }
    UNROLL
    for (int b = 0; b < last; b += 2) {
        acc[b] = v16_pair_first(pairs[b / 2]);
        acc[b + 1] = v16_pair_second(pairs[b / 2]);
    }
    if (lines > 0) {
        tile_line(acc, weights, 0, x, f);
    }
}
#endif

/** acc[tall][columns] = the sums over `lines` lines; acc has TILE_ACC_MAX elements. */
SIMD_INLINE void tile_sum(v16 *acc, const unsigned char *weights, size_t group_step, size_t lines,
                          const void *x_words, size_t prefetch_bytes, const struct tile_form f)
{
    const int words = f.k_stride * (f.format != LINE_F32 && f.class_ == LINEAR_FMA ? 2 : 1);
    const int size = f.tall * f.columns;
    const uint32_t *x = x_words;
#ifdef SIMD_MMLA_BF16
    if (f.class_ == LINEAR_DOT && f.columns > 1) {
        tile_sum_mmla(acc, weights, lines, x, prefetch_bytes, f);
        return;
    }
#endif
    UNROLL
    for (int i = 0; i < f.chains * size; i++) {
        acc[i] = v16_zero();
    }
    size_t line = 0;
    for (; line + (size_t)f.chains <= lines; line += (size_t)f.chains) {
        UNROLL
        for (int c = 0; c < f.chains; c++) {
            if (f.prefetching) {
                tile_prefetch(weights + prefetch_bytes, group_step, f.tall);
            }
            tile_line(acc + c * size, weights, group_step, x, f);
            weights += LINE_BYTES;
            x += words;
        }
    }
    for (; line < lines; line++) {
        tile_line(acc, weights, group_step, x, f);
        weights += LINE_BYTES;
        x += words;
    }
    UNROLL
    for (int i = 0; i < size; i++) {
        UNROLL
        for (int c = 1; c < f.chains; c++) {
            acc[i] = v16_add(acc[i], acc[c * size + i]);
        }
    }
}
