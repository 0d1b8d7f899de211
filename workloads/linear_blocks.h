/** The inner loops of the linears in block formats, compiled per ISA like linear_tiles.h, which
 *  this includes: LINEAR_SIMD names the vector layer. */

#include "workloads/linear_tiles.h"
#include "workloads/simd/blocks.h"

#define BLOCKS(name, format, columns, prefetching)                                                 \
    static void name##_1_##columns##_##prefetching(float *acc, const unsigned char *weights,       \
                                                   size_t group_step, size_t units, const void *x, \
                                                   size_t prefetch_bytes)                          \
    {                                                                                              \
        const struct blocks_form form = {format, columns, prefetching};                            \
        (void)group_step;                                                                          \
        blocks_tile(acc, weights, units, x, prefetch_bytes, form);                                 \
    }

#define BLOCKS_1_TO_4(name, format, p) \
    BLOCKS(name, format, 1, p)         \
    BLOCKS(name, format, 2, p)         \
    BLOCKS(name, format, 3, p)         \
    BLOCKS(name, format, 4, p)
#define BLOCKS_5_TO_6(name, format, p) \
    BLOCKS(name, format, 5, p)         \
    BLOCKS(name, format, 6, p)
#define BLOCKS_7_TO_12(name, format, p) \
    BLOCKS(name, format, 7, p)          \
    BLOCKS(name, format, 8, p)          \
    BLOCKS(name, format, 9, p)          \
    BLOCKS(name, format, 10, p)         \
    BLOCKS(name, format, 11, p)         \
    BLOCKS(name, format, 12, p)

#if SIMD_TILE == 12
#define BLOCKS_ALL(name, format, p) \
    BLOCKS_1_TO_4(name, format, p) BLOCKS_5_TO_6(name, format, p) BLOCKS_7_TO_12(name, format, p)
#define BLOCKS_TABLE(name, p) \
    TABLE_1_TO_4(name, p), TABLE_5_TO_6(name, 1, p), TABLE_7_TO_12(name, 1, p)
#elif SIMD_TILE == 6
#define BLOCKS_ALL(name, format, p) BLOCKS_1_TO_4(name, format, p) BLOCKS_5_TO_6(name, format, p)
#define BLOCKS_TABLE(name, p) TABLE_1_TO_4(name, p), TABLE_5_TO_6(name, 1, p)
#else
#define BLOCKS_ALL(name, format, p) BLOCKS_1_TO_4(name, format, p)
#define BLOCKS_TABLE(name, p) TABLE_1_TO_4(name, p)
#endif

/** The tile functions of one block format, with and without prefetch. */
#ifdef SIMD_ROLLED // one variant: half the compiler's time, which sanitizers multiply
#define BLOCKS_TILES(name, format) BLOCKS_ALL(name, format, 1)
#define BLOCKS_PLAIN 1
#else
#define BLOCKS_TILES(name, format) \
    BLOCKS_ALL(name, format, 0)    \
    BLOCKS_ALL(name, format, 1)
#define BLOCKS_PLAIN 0
#endif
#define BLOCKS_LIST(name, p) BLOCKS_TABLE(name, p)

/** Their row in the ISA's table. */
#define BLOCKS_ROW(name, format_, needs_, isa, class_text)                               \
    {                                                                                    \
        .format = (format_), .class_ = LINEAR_DOT, .needs = (needs_), .isa_name = (isa), \
        .class_name = (class_text), .tile = SIMD_TILE, .tall = 1,                        \
        .tiles = {{{BLOCKS_LIST(name, BLOCKS_PLAIN)}}, {{BLOCKS_TABLE(name, 1)}}},       \
        .touch = {touch_1}, .quantise = blocks_quantise,                                 \
    }
