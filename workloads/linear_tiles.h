/** The inner loops of the linears, written once over the vector layer and compiled per ISA:
 *  included by linear_<isa>.c, which names its vector layer in LINEAR_SIMD. Every `const` parameter
 * below is a literal at each call, so that loops over it unroll and the accumulators stay in
 * registers. */

#include "workloads/linear_kernel.h"

#include LINEAR_SIMD
#include "workloads/simd/lines.h"

// One k of `tall` groups times all columns. Each activation is broadcast once and used at once:
// the other loop order lets compilers keep all broadcasts alive and spill.
SIMD_INLINE void tile_k(v16 *acc, const v16 *w, const float *x, const int columns, const int tall)
{
    UNROLL
    for (int b = 0; b < columns; b++) {
        const v16 value = v16_set1(x[b]);
        UNROLL
        for (int j = 0; j < tall; j++) {
            acc[j * columns + b] = v16_fma(acc[j * columns + b], w[j], value);
        }
    }
}

SIMD_INLINE void tile_lines_fma(v16 *acc, const enum line_format format, const v_line *lines,
                                const float *x, const int columns, const int tall)
{
    v16 w[LINEAR_TALL_MAX];
    UNROLL
    for (int j = 0; j < tall; j++) {
        w[j] = line_first(format, lines[j]);
    }
    tile_k(acc, w, x, columns, tall);
    if (format != LINE_F32) {
        UNROLL
        for (int j = 0; j < tall; j++) {
            w[j] = line_second(format, lines[j]);
        }
        tile_k(acc, w, x + columns, columns, tall);
    }
}

#ifdef SIMD_DOT
SIMD_INLINE void tile_lines_dot(v16 *acc, const v_line *lines, const uint32_t *x, const int columns,
                                const int tall)
{
    UNROLL
    for (int b = 0; b < columns; b++) {
        UNROLL
        for (int j = 0; j < tall; j++) {
            acc[j * columns + b] = v16_dot_bf16(acc[j * columns + b], lines[j], x[b]);
        }
    }
}
#endif

// The same line of each of `tall` groups.
SIMD_INLINE void tile_line(v16 *acc, const enum line_format format, const enum linear_class class_,
                           const unsigned char *weights, size_t group_step, const uint32_t *x,
                           const int columns, const int tall)
{
    v_line lines[LINEAR_TALL_MAX];
    UNROLL
    for (int j = 0; j < tall; j++) {
        lines[j] = v_line_load(weights + (size_t)j * group_step);
    }
#ifdef SIMD_DOT
    if (class_ == LINEAR_DOT) {
        tile_lines_dot(acc, lines, x, columns, tall);
        return;
    }
#endif
    (void)class_;
    tile_lines_fma(acc, format, lines, (const float *)(const void *)x, columns, tall);
}

SIMD_INLINE void tile_prefetch(const unsigned char *at, size_t group_step, const int tall)
{
    UNROLL
    for (int j = 0; j < tall; j++) {
        simd_prefetch(at + (size_t)j * group_step);
    }
}

// chains: lines taken in turn into separate accumulators, so that few columns do not wait for
// the latency of one addition after the other.
SIMD_INLINE void tile(float *out, const unsigned char *weights, size_t group_step, size_t lines,
                      const void *x_packed, size_t prefetch_bytes, const enum line_format format,
                      const enum linear_class class_, const int columns, const int tall,
                      const int chains, const int prefetching)
{
    const int words = columns * (format != LINE_F32 && class_ == LINEAR_FMA ? 2 : 1);
    const uint32_t *x = x_packed;
    v16 acc[4 * LINEAR_TALL_MAX * LINEAR_TILE_MAX];
    UNROLL
    for (int i = 0; i < chains * tall * columns; i++) {
        acc[i] = v16_zero();
    }
    size_t line = 0;
    for (; line + (size_t)chains <= lines; line += (size_t)chains) {
        UNROLL
        for (int c = 0; c < chains; c++) {
            if (prefetching) {
                tile_prefetch(weights + prefetch_bytes, group_step, tall);
            }
            tile_line(acc + c * tall * columns, format, class_, weights, group_step, x, columns,
                      tall);
            weights += LINE_BYTES;
            x += words;
        }
    }
    for (; line < lines; line++) {
        tile_line(acc, format, class_, weights, group_step, x, columns, tall);
        weights += LINE_BYTES;
        x += words;
    }
    UNROLL
    for (int i = 0; i < tall * columns; i++) {
        v16 sum = acc[i];
        UNROLL
        for (int c = 1; c < chains; c++) {
            sum = v16_add(sum, acc[c * tall * columns + i]);
        }
        v16_store(out + 16 * i, v16_add(v16_load(out + 16 * i), sum));
    }
}

SIMD_INLINE void touch(unsigned char *sink, const unsigned char *weights, size_t group_step,
                       size_t lines, size_t prefetch_bytes, const int tall)
{
    v_line seen[4] = {v_line_zero(), v_line_zero(), v_line_zero(), v_line_zero()};
    size_t line = 0;
    for (; line + 4 <= lines; line += 4) {
        UNROLL
        for (int c = 0; c < 4; c++) {
            UNROLL
            for (int j = 0; j < tall; j++) {
                const unsigned char *at = weights + (size_t)j * group_step + c * LINE_BYTES;
                simd_prefetch(at + prefetch_bytes);
                seen[c] = v_line_or(seen[c], v_line_load(at));
            }
        }
        weights += 4 * LINE_BYTES;
    }
    for (; line < lines; line++) {
        for (int j = 0; j < tall; j++) {
            seen[0] = v_line_or(seen[0], v_line_load(weights + (size_t)j * group_step));
        }
        weights += LINE_BYTES;
    }
    seen[0] = v_line_or(v_line_or(seen[0], seen[1]), v_line_or(seen[2], seen[3]));
    v_line_store(sink, v_line_or(v_line_load(sink), seen[0]));
}

#define TOUCH(tall)                                                                                \
    static void touch_##tall(unsigned char *sink, const unsigned char *weights, size_t group_step, \
                             size_t lines, size_t prefetch_bytes)                                  \
    {                                                                                              \
        touch(sink, weights, group_step, lines, prefetch_bytes, tall);                             \
    }

#define TILE(name, format, class_, columns, tall, chains, prefetching)                            \
    static void name##_##tall##_##columns##_##prefetching(                                        \
        float *acc, const unsigned char *weights, size_t group_step, size_t lines, const void *x, \
        size_t prefetch_bytes)                                                                    \
    {                                                                                             \
        tile(acc, weights, group_step, lines, x, prefetch_bytes, format, class_, columns, tall,   \
             chains, prefetching);                                                                \
    }

#define TILES_1_TO_4(name, format, class_, p) \
    TILE(name, format, class_, 1, 1, 4, p)    \
    TILE(name, format, class_, 2, 1, 2, p)    \
    TILE(name, format, class_, 3, 1, 2, p)    \
    TILE(name, format, class_, 4, 1, 1, p)
#define TILES_5_TO_6(name, format, class_, tall, p) \
    TILE(name, format, class_, 5, tall, 1, p)       \
    TILE(name, format, class_, 6, tall, 1, p)
#define TILES_7_TO_12(name, format, class_, tall, p) \
    TILE(name, format, class_, 7, tall, 1, p)        \
    TILE(name, format, class_, 8, tall, 1, p)        \
    TILE(name, format, class_, 9, tall, 1, p)        \
    TILE(name, format, class_, 10, tall, 1, p)       \
    TILE(name, format, class_, 11, tall, 1, p)       \
    TILE(name, format, class_, 12, tall, 1, p)

#define TABLE_1_TO_4(name, p) name##_1_1_##p, name##_1_2_##p, name##_1_3_##p, name##_1_4_##p
#define TABLE_5_TO_6(name, tall, p) name##_##tall##_5_##p, name##_##tall##_6_##p
#define TABLE_7_TO_12(name, tall, p)                                                             \
    name##_##tall##_7_##p, name##_##tall##_8_##p, name##_##tall##_9_##p, name##_##tall##_10_##p, \
        name##_##tall##_11_##p, name##_##tall##_12_##p

#if SIMD_TILE == 12 && SIMD_TALL == 2
#define TILES_ALL(name, format, class_, p)    \
    TILES_1_TO_4(name, format, class_, p)     \
    TILES_5_TO_6(name, format, class_, 1, p)  \
    TILES_7_TO_12(name, format, class_, 1, p) \
    TILES_5_TO_6(name, format, class_, 2, p)  \
    TILES_7_TO_12(name, format, class_, 2, p)
#define TABLE_ALL(name, p)                                                                 \
    {                                                                                      \
        {TABLE_1_TO_4(name, p), TABLE_5_TO_6(name, 1, p), TABLE_7_TO_12(name, 1, p)},      \
            {NULL, NULL, NULL, NULL, TABLE_5_TO_6(name, 2, p), TABLE_7_TO_12(name, 2, p)}, \
    }
#define TOUCH_ALL TOUCH(1) TOUCH(2)
#define TOUCH_TABLE      \
    {                    \
        touch_1, touch_2 \
    }
#elif SIMD_TILE == 6 && SIMD_TALL == 1
#define TILES_ALL(name, format, class_, p) \
    TILES_1_TO_4(name, format, class_, p) TILES_5_TO_6(name, format, class_, 1, p)
#define TABLE_ALL(name, p)                                 \
    {                                                      \
        {TABLE_1_TO_4(name, p), TABLE_5_TO_6(name, 1, p)}, \
    }
#define TOUCH_ALL TOUCH(1)
#define TOUCH_TABLE \
    {               \
        touch_1     \
    }
#elif SIMD_TILE == 4 && SIMD_TALL == 1
#define TILES_ALL(name, format, class_, p) TILES_1_TO_4(name, format, class_, p)
#define TABLE_ALL(name, p)       \
    {                            \
        {TABLE_1_TO_4(name, p)}, \
    }
#define TOUCH_ALL TOUCH(1)
#define TOUCH_TABLE \
    {               \
        touch_1     \
    }
#else
#error "no tile table for this SIMD_TILE and SIMD_TALL"
#endif

/** The tile functions of one format and class, with and without prefetch. */
#define LINEAR_TILES(name, format, class_) \
    TILES_ALL(name, format, class_, 0)     \
    TILES_ALL(name, format, class_, 1)

/** Their row in the ISA's table. */
#define LINEAR_ROW(name, format_, class__, needs_, isa, class_text)                     \
    {                                                                                   \
        .format = (format_), .class_ = (class__), .needs = (needs_), .isa_name = (isa), \
        .class_name = (class_text), .tile = SIMD_TILE, .tall = SIMD_TALL,               \
        .tiles = {TABLE_ALL(name, 0), TABLE_ALL(name, 1)}, .touch = TOUCH_TABLE,        \
    }
