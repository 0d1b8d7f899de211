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

#define BLOCKS_LIST(name, p) BLOCKS_TABLE(name, p)

/** The tile functions of one block format: one variant, which prefetches what it reads where no
 *  prefetching is asked for. Where there is little arithmetic to a line, a second without. */
#define BLOCKS_TILES(name, format) BLOCKS_ALL(name, format, 1)
#ifdef SIMD_ROLLED // for correctness alone: half the compiler's time, which sanitizers multiply
#define BLOCKS_TILES_LEAN(name, format) BLOCKS_TILES(name, format)
#define BLOCKS_LEAN 1
#else
#define BLOCKS_TILES_LEAN(name, format) \
    BLOCKS_ALL(name, format, 0)         \
    BLOCKS_ALL(name, format, 1)
#define BLOCKS_LEAN 0
#endif

/** Types that stand in where rows are no whole super-blocks: tiles of up to four columns. */
enum { BLOCKS_NARROW = 4 };
#define BLOCKS_TILES_NARROW(name, format) BLOCKS_1_TO_4(name, format, 1)

/** Their row in the ISA's table; columns: of the widest; then its tiles. */
#define BLOCKS_ROW_OF(name, format_, needs_, isa, class_text, columns, ...)              \
    {                                                                                    \
        .format = (format_), .class_ = LINEAR_DOT, .needs = (needs_), .isa_name = (isa), \
        .class_name = (class_text), .tile = (columns), .tall = 1, .tiles = __VA_ARGS__,  \
        .touch = {touch_1}, .quantise = blocks_quantise,                                 \
    }
#define BLOCKS_ROW_TABLE(name, format, needs, isa, text, plain) \
    BLOCKS_ROW_OF(name, format, needs, isa, text, SIMD_TILE,    \
                  {{{BLOCKS_LIST(name, plain)}}, {{BLOCKS_TABLE(name, 1)}}})
#define BLOCKS_ROW_NARROW(name, format, needs, isa, text)        \
    BLOCKS_ROW_OF(name, format, needs, isa, text, BLOCKS_NARROW, \
                  {{{TABLE_1_TO_4(name, 1)}}, {{TABLE_1_TO_4(name, 1)}}})
#define BLOCKS_ROW(name, format, needs, isa, text) \
    BLOCKS_ROW_TABLE(name, format, needs, isa, text, 1)
#define BLOCKS_ROW_LEAN(name, format, needs, isa, text) \
    BLOCKS_ROW_TABLE(name, format, needs, isa, text, BLOCKS_LEAN)

/** All block formats on one ISA. */
#define BLOCKS_EVERY_TILE                \
    BLOCKS_TILES_LEAN(q8_0, LINE_Q8_0)   \
    BLOCKS_TILES_LEAN(q4_0, LINE_Q4_0)   \
    BLOCKS_TILES_NARROW(q4_1, LINE_Q4_1) \
    BLOCKS_TILES_NARROW(q5_0, LINE_Q5_0) \
    BLOCKS_TILES_NARROW(q5_1, LINE_Q5_1) \
    BLOCKS_TILES(q4_k, LINE_Q4_K)        \
    BLOCKS_TILES(q5_k, LINE_Q5_K)        \
    BLOCKS_TILES(q6_k, LINE_Q6_K)        \
    BLOCKS_TILES(int8, LINE_INT8)        \
    BLOCKS_TILES(int4, LINE_INT4_G128)   \
    BLOCKS_TILES(mxfp4, LINE_MXFP4)
#define BLOCKS_EVERY_ROW(needs, isa, text)                    \
    BLOCKS_ROW_LEAN(q8_0, LINE_Q8_0, needs, isa, text),       \
        BLOCKS_ROW_LEAN(q4_0, LINE_Q4_0, needs, isa, text),   \
        BLOCKS_ROW_NARROW(q4_1, LINE_Q4_1, needs, isa, text), \
        BLOCKS_ROW_NARROW(q5_0, LINE_Q5_0, needs, isa, text), \
        BLOCKS_ROW_NARROW(q5_1, LINE_Q5_1, needs, isa, text), \
        BLOCKS_ROW(q4_k, LINE_Q4_K, needs, isa, text),        \
        BLOCKS_ROW(q5_k, LINE_Q5_K, needs, isa, text),        \
        BLOCKS_ROW(q6_k, LINE_Q6_K, needs, isa, text),        \
        BLOCKS_ROW(int8, LINE_INT8, needs, isa, text),        \
        BLOCKS_ROW(int4, LINE_INT4_G128, needs, isa, text),   \
        BLOCKS_ROW(mxfp4, LINE_MXFP4, needs, isa, text)
