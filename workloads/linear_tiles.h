/** The inner loops of the linears, written once over the vector layer and compiled per ISA:
 *  included by linear_<isa>.c, which names its vector layer in LINEAR_SIMD. Every `const` parameter
 * below is a literal at each call, so that loops over it unroll and the accumulators stay in
 * registers. */

#include "workloads/linear_kernel.h"

#include LINEAR_SIMD
#include "workloads/simd/tiles.h"
#include "workloads/simd/touch.h"

SIMD_INLINE void tile(float *out, const unsigned char *weights, size_t group_step, size_t lines,
                      const void *x, size_t prefetch_bytes, const struct tile_form f)
{
    v16 acc[TILE_ACC_MAX];
    tile_sum(acc, weights, group_step, lines, x, prefetch_bytes, f);
    UNROLL
    for (int i = 0; i < f.tall * f.columns; i++) {
        v16_store(out + 16 * i, v16_add(v16_load(out + 16 * i), acc[i]));
    }
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
        const struct tile_form form = {format, class_,      columns, tall,                        \
                                       chains, prefetching, columns, 1};                          \
        tile(acc, weights, group_step, lines, x, prefetch_bytes, form);                           \
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

#define TILES_13_TO_16(name, format, class_, p) \
    TILE(name, format, class_, 13, 1, 1, p)     \
    TILE(name, format, class_, 14, 1, 1, p)     \
    TILE(name, format, class_, 15, 1, 1, p)     \
    TILE(name, format, class_, 16, 1, 1, p)

#define TABLE_1_TO_4(name, p) name##_1_1_##p, name##_1_2_##p, name##_1_3_##p, name##_1_4_##p
#define TABLE_5_TO_6(name, tall, p) name##_##tall##_5_##p, name##_##tall##_6_##p
#define TABLE_7_TO_12(name, tall, p)                                                             \
    name##_##tall##_7_##p, name##_##tall##_8_##p, name##_##tall##_9_##p, name##_##tall##_10_##p, \
        name##_##tall##_11_##p, name##_##tall##_12_##p

#define TABLE_13_TO_16(name, p) name##_1_13_##p, name##_1_14_##p, name##_1_15_##p, name##_1_16_##p

#if SIMD_TILE == 12 && SIMD_TALL == 2 && SIMD_WIDE == 16
#define TILES_ALL(name, format, class_, p)    \
    TILES_1_TO_4(name, format, class_, p)     \
    TILES_5_TO_6(name, format, class_, 1, p)  \
    TILES_7_TO_12(name, format, class_, 1, p) \
    TILES_13_TO_16(name, format, class_, p)   \
    TILES_5_TO_6(name, format, class_, 2, p)  \
    TILES_7_TO_12(name, format, class_, 2, p)
#define TABLE_ALL(name, p)                                                                 \
    {                                                                                      \
        {TABLE_1_TO_4(name, p), TABLE_5_TO_6(name, 1, p), TABLE_7_TO_12(name, 1, p),       \
         TABLE_13_TO_16(name, p)},                                                         \
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
#define LINEAR_ROW(name, format_, class__, needs_, isa, class_text)                          \
    {                                                                                        \
        .format = (format_), .class_ = (class__), .needs = (needs_), .isa_name = (isa),      \
        .class_name = (class_text), .tile = SIMD_TILE, .wide = SIMD_WIDE, .tall = SIMD_TALL, \
        .tiles = {TABLE_ALL(name, 0), TABLE_ALL(name, 1)}, .touch = TOUCH_TABLE,             \
    }
