// SVE vectors of any length. They have no size that a struct or an array could have, so these loops
// are not written over the vector layer: a slab of rows as long as a vector at a time, sixteen at
// most, over all lines of a piece, which the first slab brings into the L1.
#include <arm_sve.h>

#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include LINEAR_SIMD
#include "workloads/simd/quantise.h"

enum { SVE_TILE = 8 };

// M(chain, column) for each column.
#define FOR_1(M, c) M(c, 0)
#define FOR_2(M, c) FOR_1(M, c) M(c, 1)
#define FOR_3(M, c) FOR_2(M, c) M(c, 2)
#define FOR_4(M, c) FOR_3(M, c) M(c, 3)
#define FOR_5(M, c) FOR_4(M, c) M(c, 4)
#define FOR_6(M, c) FOR_5(M, c) M(c, 5)
#define FOR_7(M, c) FOR_6(M, c) M(c, 6)
#define FOR_8(M, c) FOR_7(M, c) M(c, 7)

#define FOR_CHAINS_1(M, n) M(0, n)
#define FOR_CHAINS_2(M, n) M(0, n) M(1, n)
#define FOR_CHAINS_4(M, n) M(0, n) M(1, n) M(2, n) M(3, n)

SIMD_INLINE const uint32_t *sve_words(const unsigned char *line)
{
    return (const uint32_t *)(const void *)line;
}

// Sixteen halves of a line from `half` on, the slab's rows of them.
SIMD_INLINE svfloat32_t sve_f16(svbool_t p, const unsigned char *line, size_t half, size_t row)
{
    const uint16_t *at = (const uint16_t *)(const void *)line + half + row;
    return svcvt_f32_f16_x(p, svreinterpret_f16_u32(svld1uh_u32(p, at)));
}

// The weights of a line's first and second k.
SIMD_INLINE svfloat32_t sve_first(const enum line_format format, svbool_t p,
                                  const unsigned char *line, size_t row)
{
    if (format == LINE_F16) {
        return sve_f16(p, line, 0, row);
    }
    const svuint32_t words = svld1_u32(p, sve_words(line) + row);
    return svreinterpret_f32_u32(format == LINE_F32 ? words : svlsl_n_u32_x(p, words, 16));
}
SIMD_INLINE svfloat32_t sve_second(const enum line_format format, svbool_t p,
                                   const unsigned char *line, size_t row)
{
    if (format == LINE_F16) {
        return sve_f16(p, line, LINE_ROWS, row);
    }
    const svuint32_t words = svld1_u32(p, sve_words(line) + row);
    return svreinterpret_f32_u32(svand_n_u32_x(p, words, 0xffff0000U));
}

SIMD_INLINE void sve_prefetch(const unsigned char *at, size_t row, size_t prefetch_bytes)
{
    if (row == 0 && prefetch_bytes > 0) {
        simd_prefetch(at + prefetch_bytes);
    }
}

#define DECLARE(c, b) svfloat32_t acc##c##b = svdup_n_f32(0);
#define DECLARE_CHAIN(c, n) FOR_##n(DECLARE, c)
#define FMA_FIRST(c, b) acc##c##b = svmla_n_f32_x(p, acc##c##b, first, x[b]);
#define FMA_SECOND(c, b) acc##c##b = svmla_n_f32_x(p, acc##c##b, second, x[columns + b]);
#define LINE_OF_CHAIN(c, n)                                            \
    if (line + c < lines) {                                            \
        sve_prefetch(at, row, prefetch_bytes);                         \
        const svfloat32_t first = sve_first(format, p, at, row);       \
        FOR_##n(FMA_FIRST, c) if (ks == 2)                             \
        {                                                              \
            const svfloat32_t second = sve_second(format, p, at, row); \
            FOR_##n(FMA_SECOND, c)                                     \
        }                                                              \
        x += ks * columns;                                             \
        at += LINE_BYTES;                                              \
    }
#define STORE(c, b)                         \
    svst1_f32(p, out + LINE_ROWS * b + row, \
              svadd_f32_x(p, svld1_f32(p, out + LINE_ROWS * b + row), acc##c##b));
#define STORE_CHAIN(c, n) FOR_##n(STORE, c)

// Lines are taken in turn by `chains` sets of sums.
#define FLOATS_TILE(name, format_, n, chains)                                              \
    static void name##_##n(float *out, const unsigned char *weights, size_t group_step,    \
                           size_t lines, const void *x_words, size_t prefetch_bytes)       \
    {                                                                                      \
        const enum line_format format = format_;                                           \
        const size_t ks = format == LINE_F32 ? 1 : 2;                                      \
        const size_t columns = n;                                                          \
        (void)group_step;                                                                  \
        for (size_t row = 0; row < LINE_ROWS; row += svcntw()) {                           \
            const svbool_t p = svwhilelt_b32_u64(row, LINE_ROWS);                          \
            const unsigned char *at = weights;                                             \
            const float *x = x_words;                                                      \
            FOR_CHAINS_##chains(DECLARE_CHAIN, n) for (size_t line = 0; line < lines;      \
                                                       line += chains){                    \
                FOR_CHAINS_##chains(LINE_OF_CHAIN, n)} FOR_CHAINS_##chains(STORE_CHAIN, n) \
        }                                                                                  \
    }

#define FLOATS_TILES(name, format)  \
    FLOATS_TILE(name, format, 1, 4) \
    FLOATS_TILE(name, format, 2, 4) \
    FLOATS_TILE(name, format, 3, 2) \
    FLOATS_TILE(name, format, 4, 2) \
    FLOATS_TILE(name, format, 5, 1) \
    FLOATS_TILE(name, format, 6, 1) \
    FLOATS_TILE(name, format, 7, 1) \
    FLOATS_TILE(name, format, 8, 1)

// SDOT takes signed weights: those of four bits are signed with their offset too, those of eight
// lose it.
SIMD_INLINE svint8_t sve_signed(svbool_t p, svuint32_t words, const unsigned bits)
{
    return svreinterpret_s8_u32(bits == 8 ? sveor_n_u32_x(p, words, 0x80808080U)
                                          : svand_n_u32_x(p, words, 0x0f0f0f0fU));
}

#define SUM_START(c, b) \
    svint32_t sum##b =  \
        svdup_n_s32(bits == 8 ? 0 : ((const int32_t *)x)[LINEAR_WORD_START * columns + b]);
#define SUM_LOW(c, b) \
    sum##b = svdot_s32(sum##b, low, svreinterpret_s8_u32(svdup_n_u32(x[step * columns + b])));
#define SUM_HIGH(c, b) \
    sum##b =           \
        svdot_s32(sum##b, high, svreinterpret_s8_u32(svdup_n_u32(x[(step + 1) * columns + b])));
#define SUM_SCALED(c, b) \
    acc0##b =            \
        svmla_f32_x(p, acc0##b, svcvt_f32_s32_x(p, sum##b), svmul_n_f32_x(p, scale, x_scales[b]));

// One block of 32 k from x and `at` on, which move behind it.
#define BLOCK(n)                                                                              \
    {                                                                                         \
        const float *x_scales = (const float *)(const void *)x + LINEAR_WORD_SCALE * columns; \
        FOR_##n(SUM_START, 0) for (size_t step = 0; step < BLOCKS_STEPS; step += 8 / bits)    \
        {                                                                                     \
            sve_prefetch(at, row, prefetch_bytes);                                            \
            const svuint32_t words = svld1_u32(p, sve_words(at) + row);                       \
            const svint8_t low = sve_signed(p, words, bits);                                  \
            FOR_##n(SUM_LOW, 0) if (bits == 4)                                                \
            {                                                                                 \
                const svint8_t high = sve_signed(p, svlsr_n_u32_x(p, words, 4), bits);        \
                FOR_##n(SUM_HIGH, 0)                                                          \
            }                                                                                 \
            at += LINE_BYTES;                                                                 \
        }                                                                                     \
        FOR_##n(SUM_SCALED, 0) x += LINEAR_BLOCK_WORDS * columns;                             \
    }

// A unit is a line of `scales_` lines of f16 scales, if any, and `blocks` blocks to a scale.
#define BLOCKS_TILE(name, bits_, scales_, blocks, n)                                              \
    static void name##_##n(float *out, const unsigned char *weights, size_t group_step,           \
                           size_t units, const void *x_words, size_t prefetch_bytes)              \
    {                                                                                             \
        const unsigned bits = bits_;                                                              \
        const size_t columns = n;                                                                 \
        (void)group_step;                                                                         \
        for (size_t row = 0; row < LINE_ROWS; row += svcntw()) {                                  \
            const svbool_t p = svwhilelt_b32_u64(row, LINE_ROWS);                                 \
            const unsigned char *at = weights;                                                    \
            const uint32_t *x = x_words;                                                          \
            FOR_##n(DECLARE, 0) for (size_t unit = 0; unit < units; unit++)                       \
            {                                                                                     \
                const unsigned char *head = at;                                                   \
                at += (scales_) > 0 ? LINE_BYTES : 0;                                             \
                for (size_t half = 0; half < ((scales_) > 0 ? (scales_) : 1); half++) {           \
                    const svfloat32_t scale =                                                     \
                        (scales_) > 0 ? sve_f16(p, head, half * LINE_ROWS, row) : svdup_n_f32(1); \
                    for (size_t block = 0; block < (blocks); block++) {                           \
                        BLOCK(n)                                                                  \
                    }                                                                             \
                }                                                                                 \
            }                                                                                     \
            FOR_##n(STORE, 0)                                                                     \
        }                                                                                         \
    }
#define BLOCKS_TILES(name, bits, scales, blocks) \
    BLOCKS_TILE(name, bits, scales, blocks, 1)   \
    BLOCKS_TILE(name, bits, scales, blocks, 2)   \
    BLOCKS_TILE(name, bits, scales, blocks, 3)   \
    BLOCKS_TILE(name, bits, scales, blocks, 4)   \
    BLOCKS_TILE(name, bits, scales, blocks, 5)   \
    BLOCKS_TILE(name, bits, scales, blocks, 6)   \
    BLOCKS_TILE(name, bits, scales, blocks, 7) BLOCKS_TILE(name, bits, scales, blocks, 8)

FLOATS_TILES(f32, LINE_F32)
FLOATS_TILES(bf16, LINE_BF16)
FLOATS_TILES(f16, LINE_F16)
BLOCKS_TILES(q8_0, 8, 2, 1)
BLOCKS_TILES(q4_0, 4, 2, 1)
BLOCKS_TILES(int8, 8, 0, 1)
BLOCKS_TILES(int4, 4, 2, 4)

// The same lines by the same slabs.
static void touch(unsigned char *sink, const unsigned char *weights, size_t group_step,
                  size_t lines, size_t prefetch_bytes)
{
    uint32_t *to = (uint32_t *)(void *)sink;
    (void)group_step;
    for (size_t row = 0; row < LINE_ROWS; row += svcntw()) {
        const svbool_t p = svwhilelt_b32_u64(row, LINE_ROWS);
        svuint32_t even = svld1_u32(p, to + row);
        svuint32_t odd = even;
        for (size_t line = 0; line < lines; line++) {
            const unsigned char *at = weights + line * LINE_BYTES;
            sve_prefetch(at, row, prefetch_bytes);
            const svuint32_t words = svld1_u32(p, sve_words(at) + row);
            if (line % 2 == 0) {
                even = svorr_u32_x(p, even, words);
            } else {
                odd = svorr_u32_x(p, odd, words);
            }
        }
        svst1_u32(p, to + row, svorr_u32_x(p, even, odd));
    }
}

#define TILES(name)                                                                    \
    {                                                                                  \
        name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8 \
    }
#define ROW(name, format_, class__, text, quantise_)                                       \
    {                                                                                      \
        .format = (format_), .class_ = (class__), .needs = ISA_SVE, .isa_name = "sve",     \
        .class_name = (text), .tile = SVE_TILE, .tall = 1,                                 \
        .tiles = {{TILES(name)}, {TILES(name)}}, .touch = {touch}, .quantise = (quantise_) \
    }

const struct linear_kernel linear_kernels_sve[] = {
    ROW(f32, LINE_F32, LINEAR_FMA, "sve/fmla/f32", NULL),
    ROW(bf16, LINE_BF16, LINEAR_FMA, "sve/fmla/f32", NULL),
    ROW(f16, LINE_F16, LINEAR_FMA, "sve/fmla/f32", NULL),
    ROW(q8_0, LINE_Q8_0, LINEAR_DOT, "sve/sdot/i32", blocks_quantise),
    ROW(q4_0, LINE_Q4_0, LINEAR_DOT, "sve/sdot/i32", blocks_quantise),
    ROW(int8, LINE_INT8, LINEAR_DOT, "sve/sdot/i32", blocks_quantise),
    ROW(int4, LINE_INT4_G128, LINEAR_DOT, "sve/sdot/i32", blocks_quantise),
    {.isa_name = NULL}};
