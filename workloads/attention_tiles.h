/** The inner loops of attention, written once over the vector layer: included by
 *  attention_<isa>.c, which names its layer in ATTENTION_SIMD. */

#include "workloads/attention_kernel.h"

#include ATTENTION_SIMD
#include "workloads/simd/tiles.h"

enum {
    PAGE_GROUPS = ATTENTION_PAGE / LINE_ROWS,
    V_LINES_2 = ATTENTION_PAGE / 2 // lines of a group of values in formats of two per line
};

SIMD_INLINE void scores_groups(float *scores, const unsigned char *k_page, size_t group_bytes,
                               size_t lines, const float *q, size_t prefetch_bytes,
                               const struct tile_form f)
{
    for (int group = 0; group < PAGE_GROUPS; group += f.tall) {
        v16 acc[TILE_ACC_MAX];
        tile_sum(acc, k_page + (size_t)group * group_bytes, group_bytes, lines, q, prefetch_bytes,
                 f);
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            UNROLL
            for (int b = 0; b < f.columns; b++) {
                v16_store(scores + b * ATTENTION_PAGE + (group + j) * LINE_ROWS,
                          acc[j * f.columns + b]);
            }
        }
    }
}

SIMD_INLINE void values_groups(float *out, const float *alpha, const unsigned char *v_page,
                               size_t groups, const float *scores, size_t prefetch_bytes,
                               const struct tile_form f)
{
    const size_t lines = f.format == LINE_F32 ? ATTENTION_PAGE : V_LINES_2;
    for (size_t group = 0; group < groups; group += (size_t)f.tall) {
        v16 acc[TILE_ACC_MAX];
        tile_sum(acc, v_page + group * lines * LINE_BYTES, lines * LINE_BYTES, lines, scores,
                 prefetch_bytes, f);
        float *at = out + group * (size_t)f.columns * LINE_ROWS;
        UNROLL
        for (int j = 0; j < f.tall; j++) {
            UNROLL
            for (int b = 0; b < f.columns; b++) {
                float *to = at + (j * f.columns + b) * LINE_ROWS;
                v16_store(to, v16_fma(acc[j * f.columns + b], v16_load(to), v16_set1(alpha[b])));
            }
        }
    }
}

// exp(x) for x <= 0: 2^n times a polynomial of degree 6 in the rest, |rest| <= ln(2) / 2; the
// Taylor remainder is below 2^-23. Below -87 the result is exp(-87), which no sum notices.
SIMD_INLINE v16 exp_of_nonpositive(v16 x)
{
    const v16 magic = v16_set1(0x1.8p23F);
    x = v16_max(x, v16_set1(-87.0F));
    const v16 shifted = v16_fma(magic, x, v16_set1(0x1.715476p0F)); // n in its low bits
    const v16 n = v16_add(shifted, v16_set1(-0x1.8p23F));
    v16 r = v16_fma(x, n, v16_set1(-0x1.62e4p-1F)); // ln 2 in two parts
    r = v16_fma(r, n, v16_set1(0x1.7f7d1cp-20F * -1.0F));
    v16 p = v16_set1(1.0F / 720);
    p = v16_fma(v16_set1(1.0F / 120), p, r);
    p = v16_fma(v16_set1(1.0F / 24), p, r);
    p = v16_fma(v16_set1(1.0F / 6), p, r);
    p = v16_fma(v16_set1(0.5F), p, r);
    p = v16_fma(v16_set1(1.0F), p, r);
    p = v16_fma(v16_set1(1.0F), p, r);
    return v16_add_exponent(p, shifted);
}

static void softmax_page(float *scores, float *maximum, float *sum, float *alpha, unsigned columns)
{
    for (unsigned b = 0; b < columns; b++) {
        float *s = scores + b * ATTENTION_PAGE;
        v16 largest = v16_load(s);
        for (int i = LINE_ROWS; i < ATTENTION_PAGE; i += LINE_ROWS) {
            largest = v16_max(largest, v16_load(s + i));
        }
        float m = v16_reduce_max(largest);
        m = m > maximum[b] ? m : maximum[b];
        const v16 minus_m = v16_set1(-m);
        float lanes[LINE_ROWS];
        v16_store(lanes, exp_of_nonpositive(v16_add(v16_set1(maximum[b]), minus_m)));
        v16 total = v16_zero();
        for (int i = 0; i < ATTENTION_PAGE; i += LINE_ROWS) {
            v16 p = exp_of_nonpositive(v16_add(v16_load(s + i), minus_m));
            v16_store(s + i, p);
            total = v16_add(total, p);
        }
        alpha[b] = lanes[0];
        sum[b] = sum[b] * lanes[0] + v16_reduce_add(total);
        maximum[b] = m;
    }
}

static void touch_lines(unsigned char *sink, const unsigned char *at, size_t group_step,
                        size_t lines, size_t prefetch_bytes)
{
    (void)group_step;
    v_line seen[4] = {v_line_zero(), v_line_zero(), v_line_zero(), v_line_zero()};
    for (size_t line = 0; line + 4 <= lines; line += 4) { // pages are multiples of four lines
        UNROLL
        for (int c = 0; c < 4; c++) {
            simd_prefetch(at + prefetch_bytes);
            seen[c] = v_line_or(seen[c], v_line_load(at));
            at += LINE_BYTES;
        }
    }
    seen[0] = v_line_or(v_line_or(seen[0], seen[1]), v_line_or(seen[2], seen[3]));
    v_line_store(sink, v_line_or(v_line_load(sink), seen[0]));
}

#define SCORES(name, format, columns, tall, chains)                                               \
    static void name##_scores_##columns(float *scores, const unsigned char *k_page,               \
                                        size_t group_bytes, size_t lines, const float *q,         \
                                        size_t prefetch_bytes)                                    \
    {                                                                                             \
        const struct tile_form form = {format, LINEAR_FMA, columns, tall, chains, 1, columns, 1}; \
        scores_groups(scores, k_page, group_bytes, lines, q, prefetch_bytes, form);               \
    }

// Values of an odd last group take the form of one group.
#define VALUES(name, format, columns, tall, chains)                                  \
    static void name##_values_##columns(float *out, const float *alpha,              \
                                        const unsigned char *v_page, size_t groups,  \
                                        const float *scores, size_t prefetch_bytes)  \
    {                                                                                \
        const struct tile_form form = {format, LINEAR_FMA, columns, tall,            \
                                       chains, 1,          1,       ATTENTION_PAGE}; \
        const struct tile_form one = {                                               \
            format, LINEAR_FMA, columns, 1, chains, 1, 1, ATTENTION_PAGE};           \
        const size_t even = groups / (tall) * (tall);                                \
        const size_t lines = (format) == LINE_F32 ? ATTENTION_PAGE : V_LINES_2;      \
        values_groups(out, alpha, v_page, even, scores, prefetch_bytes, form);       \
        if (even < groups) {                                                         \
            values_groups(out + even * (columns)*LINE_ROWS, alpha,                   \
                          v_page + even * lines * LINE_BYTES, groups - even, scores, \
                          prefetch_bytes, one);                                      \
        }                                                                            \
    }

#define BOTH(name, format, columns, tall, chains) \
    SCORES(name, format, columns, tall, chains)   \
    VALUES(name, format, columns, tall, chains)

#define ATTENTION_1_TO_4(name, format) \
    BOTH(name, format, 1, 1, 4)        \
    BOTH(name, format, 2, 1, 2)        \
    BOTH(name, format, 3, 1, 2)        \
    BOTH(name, format, 4, 1, 1)
#define ATTENTION_5_TO_6(name, format, tall) \
    BOTH(name, format, 5, tall, 1)           \
    BOTH(name, format, 6, tall, 1)
#define ATTENTION_7_TO_12(name, format, tall) \
    BOTH(name, format, 7, tall, 1)            \
    BOTH(name, format, 8, tall, 1)            \
    BOTH(name, format, 9, tall, 1)            \
    BOTH(name, format, 10, tall, 1)           \
    BOTH(name, format, 11, tall, 1)           \
    BOTH(name, format, 12, tall, 1)

#define LIST_1_TO_4(name, what) \
    name##_##what##_1, name##_##what##_2, name##_##what##_3, name##_##what##_4
#define LIST_5_TO_6(name, what) name##_##what##_5, name##_##what##_6
#define LIST_7_TO_12(name, what)                                                 \
    name##_##what##_7, name##_##what##_8, name##_##what##_9, name##_##what##_10, \
        name##_##what##_11, name##_##what##_12

#if SIMD_TILE == 12
#define ATTENTION_TILES(name, format) \
    ATTENTION_1_TO_4(name, format)    \
    ATTENTION_5_TO_6(name, format, SIMD_TALL) ATTENTION_7_TO_12(name, format, SIMD_TALL)
#define ATTENTION_LIST(name, what)                                                 \
    {                                                                              \
        LIST_1_TO_4(name, what), LIST_5_TO_6(name, what), LIST_7_TO_12(name, what) \
    }
#elif SIMD_TILE == 6
#define ATTENTION_TILES(name, format) \
    ATTENTION_1_TO_4(name, format) ATTENTION_5_TO_6(name, format, SIMD_TALL)
#define ATTENTION_LIST(name, what)                       \
    {                                                    \
        LIST_1_TO_4(name, what), LIST_5_TO_6(name, what) \
    }
#else
#define ATTENTION_TILES(name, format) ATTENTION_1_TO_4(name, format)
#define ATTENTION_LIST(name, what) \
    {                              \
        LIST_1_TO_4(name, what)    \
    }
#endif

#define ATTENTION_ROW(name, format_, needs_, isa, class_text)                                  \
    {                                                                                          \
        .format = (format_), .needs = (needs_), .isa_name = (isa), .class_name = (class_text), \
        .tile = SIMD_TILE, .scores = ATTENTION_LIST(name, scores),                             \
        .values = ATTENTION_LIST(name, values), .softmax = softmax_page, .touch = touch_lines, \
    }

#include "workloads/attention_quant_tiles.h"
