/** The inner loops of attention over a cache of integers (attention_quant.h): widened in registers.
 *  Included by attention_tiles.h. */

enum { QUANT_BLOCK = 32, QUANT_LINE_KS = LINE_BYTES / LINE_ROWS };

// out[64] = the scales of a block of values for the page's tokens, over 128. They lie between the
// values: without a prefetch of their own as many lines of the next page would be missed.
SIMD_INLINE void quant_scales(float *out, const unsigned char *scales, bool half,
                              size_t prefetch_bytes)
{
    const v16 unit = v16_set1(0x1p-7F);
    for (int i = 0; i < PAGE_GROUPS; i += 2) {
        v16 first;
        v16 second;
        if (half) {
            const v_line line = v_line_load(scales + i * LINE_ROWS * 2);
            simd_prefetch(scales + i * LINE_ROWS * 2 + prefetch_bytes);
            first = line_first(LINE_F16, line);
            second = line_second(LINE_F16, line);
        } else {
            tile_prefetch(scales + i * LINE_BYTES + prefetch_bytes, LINE_BYTES, 2);
            first = v16_of_f32(v_line_load(scales + i * LINE_BYTES));
            second = v16_of_f32(v_line_load(scales + (i + 1) * LINE_BYTES));
        }
        v16_store(out + i * LINE_ROWS, v16_fma(v16_zero(), first, unit));
        v16_store(out + (i + 1) * LINE_ROWS, v16_fma(v16_zero(), second, unit));
    }
}

// One k of `tall` groups times all columns.
SIMD_INLINE void quant_k(v16 *acc, const unsigned char *at, size_t group_step, const float *x,
                         const struct tile_form f)
{
    v16 w[LINEAR_TALL_MAX];
    UNROLL
    for (int j = 0; j < f.tall; j++) {
        w[j] = v16_of_bytes((const signed char *)at + (size_t)j * group_step);
    }
    tile_k(acc, w, x, f);
}

// acc[tall][columns] = the sums over `count` ks of 16 integers each.
SIMD_INLINE void quant_sum(v16 *acc, const unsigned char *at, size_t group_step, size_t count,
                           const float *x, size_t prefetch_bytes, const struct tile_form f)
{
    const int size = f.tall * f.columns;
    UNROLL
    for (int i = 0; i < f.chains * size; i++) {
        acc[i] = v16_zero();
    }
    size_t k = 0;
    for (; k + QUANT_LINE_KS <= count; k += QUANT_LINE_KS) {
        tile_prefetch(at + prefetch_bytes, group_step, f.tall);
        UNROLL
        for (int i = 0; i < QUANT_LINE_KS; i++) {
            quant_k(acc + i % f.chains * size, at, group_step, x, f);
            at += LINE_ROWS;
            x += f.k_stride;
        }
    }
    for (; k < count; k++) {
        quant_k(acc, at, group_step, x, f);
        at += LINE_ROWS;
        x += f.k_stride;
    }
    UNROLL
    for (int i = 0; i < size; i++) {
        UNROLL
        for (int c = 1; c < f.chains; c++) {
            acc[i] = v16_add(acc[i], acc[c * size + i]);
        }
    }
}

// One block of keys of `tall` groups: scores of 16 tokens each, added to those of earlier blocks.
SIMD_INLINE void quant_scores_block(float *scores, const unsigned char *keys, size_t group_bytes,
                                    const float *scales, size_t count, const float *q, bool first,
                                    size_t prefetch_bytes, const struct tile_form f)
{
    v16 acc[TILE_ACC_MAX];
    quant_sum(acc, keys, group_bytes, count, q, prefetch_bytes, f);
    UNROLL
    for (int j = 0; j < f.tall; j++) {
        const v16 scale = v16_load(scales + j * LINE_ROWS);
        UNROLL
        for (int b = 0; b < f.columns; b++) {
            float *to = scores + b * ATTENTION_PAGE + j * LINE_ROWS;
            const v16 before = first ? v16_zero() : v16_load(to);
            v16_store(to, v16_fma(before, acc[j * f.columns + b], scale));
        }
    }
}

SIMD_INLINE void quant_scores(float *scores, const unsigned char *page,
                              const struct attention_quant *shape, const float *q,
                              size_t prefetch_bytes, const struct tile_form f)
{
    float scales[ATTENTION_DIM_MAX / QUANT_BLOCK * ATTENTION_PAGE] __attribute__((aligned(64)));
    const size_t group_bytes = (size_t)shape->k_dim * LINE_ROWS;
    const size_t block = shape->half ? QUANT_BLOCK : shape->k_dim;
    for (size_t i = 0; i * block < shape->k_dim; i++) {
        quant_scales(scales + i * ATTENTION_PAGE,
                     page + shape->k_scales + i * ATTENTION_PAGE * sizeof(uint16_t), shape->half,
                     prefetch_bytes);
    }
    for (int group = 0; group < PAGE_GROUPS; group += f.tall) {
        const unsigned char *keys = page + (size_t)group * group_bytes;
        for (size_t k = 0; k < shape->k_dim; k += block) {
            quant_scores_block(scores + group * LINE_ROWS, keys + k * LINE_ROWS, group_bytes,
                               scales + k / block * ATTENTION_PAGE + group * LINE_ROWS, block,
                               q + k * (size_t)f.columns, k == 0, prefetch_bytes, f);
        }
    }
}

// Weights of a block of values: of the tokens, by their scales.
SIMD_INLINE void quant_weights(float *out, const float *scores, const unsigned char *scales,
                               bool half, size_t prefetch_bytes, const int columns)
{
    float unpacked[ATTENTION_PAGE] __attribute__((aligned(64)));
    quant_scales(unpacked, scales, half, prefetch_bytes);
    for (int i = 0; i < ATTENTION_PAGE; i += LINE_ROWS) {
        const v16 scale = v16_load(unpacked + i);
        UNROLL
        for (int b = 0; b < columns; b++) {
            const int at = b * ATTENTION_PAGE + i;
            v16_store(out + at, v16_fma(v16_zero(), v16_load(scores + at), scale));
        }
    }
}

// Groups begin .. end - 1 of one block of values; whole tiles of `tall` of them.
SIMD_INLINE void quant_values_groups(float *out, const float *alpha, const unsigned char *values,
                                     size_t begin, size_t end, const float *weights,
                                     size_t prefetch_bytes, const struct tile_form f)
{
    const size_t group_bytes = (size_t)ATTENTION_PAGE * LINE_ROWS;
    for (size_t group = begin; group < end; group += (size_t)f.tall) {
        v16 acc[TILE_ACC_MAX];
        quant_sum(acc, values + group * group_bytes, group_bytes, ATTENTION_PAGE, weights,
                  prefetch_bytes, f);
        float *at = out + group * (size_t)f.columns * LINE_ROWS;
        UNROLL
        for (int i = 0; i < f.tall * f.columns; i++) {
            float *to = at + i * LINE_ROWS;
            v16_store(to, v16_fma(acc[i], v16_load(to), v16_set1(alpha[i % f.columns])));
        }
    }
}

SIMD_INLINE void quant_values(float *out, const float *alpha, const unsigned char *page,
                              const struct attention_quant *shape, const float *scores,
                              size_t prefetch_bytes, const struct tile_form f)
{
    float weights[LINEAR_TILE_MAX * ATTENTION_PAGE] __attribute__((aligned(64)));
    const struct tile_form one = {f.format, f.class_, f.columns,  1,
                                  f.chains, 1,        f.k_stride, f.column_stride};
    const size_t block = shape->half ? QUANT_BLOCK / LINE_ROWS : shape->v_groups;
    const unsigned char *values = page + shape->v_values;
    for (size_t begin = 0; begin < shape->v_groups; begin += block) {
        const size_t even = begin + block / (size_t)f.tall * (size_t)f.tall;
        quant_weights(weights, scores,
                      page + shape->v_scales + begin / block * ATTENTION_PAGE * sizeof(uint16_t),
                      shape->half, prefetch_bytes, f.columns);
        quant_values_groups(out, alpha, values, begin, even, weights, prefetch_bytes, f);
        quant_values_groups(out, alpha, values, even, begin + block, weights, prefetch_bytes, one);
    }
}

#define QUANT_BOTH(columns, tall, chains)                                                         \
    static void quant_scores_##columns(float *scores, const unsigned char *page,                  \
                                       const struct attention_quant *shape, const float *q,       \
                                       size_t prefetch_bytes)                                     \
    {                                                                                             \
        const struct tile_form form = {                                                           \
            LINE_INT8, LINEAR_FMA, columns, tall, chains, 1, columns, 1};                         \
        quant_scores(scores, page, shape, q, prefetch_bytes, form);                               \
    }                                                                                             \
    static void quant_values_##columns(float *out, const float *alpha, const unsigned char *page, \
                                       const struct attention_quant *shape, const float *scores,  \
                                       size_t prefetch_bytes)                                     \
    {                                                                                             \
        const struct tile_form form = {LINE_INT8, LINEAR_FMA, columns, tall,                      \
                                       chains,    1,          1,       ATTENTION_PAGE};           \
        quant_values(out, alpha, page, shape, scores, prefetch_bytes, form);                      \
    }

QUANT_BOTH(1, 1, 4)
QUANT_BOTH(2, 1, 2)
QUANT_BOTH(3, 1, 2)
QUANT_BOTH(4, 1, 1)
#if SIMD_TILE >= 6
QUANT_BOTH(5, SIMD_TALL, 1)
QUANT_BOTH(6, SIMD_TALL, 1)
#endif
#if SIMD_TILE >= 12
QUANT_BOTH(7, SIMD_TALL, 1)
QUANT_BOTH(8, SIMD_TALL, 1)
QUANT_BOTH(9, SIMD_TALL, 1)
QUANT_BOTH(10, SIMD_TALL, 1)
QUANT_BOTH(11, SIMD_TALL, 1)
QUANT_BOTH(12, SIMD_TALL, 1)
#endif

#define ATTENTION_QUANT_ROW(format_, needs_, isa, class_text)                                  \
    {                                                                                          \
        .format = (format_), .needs = (needs_), .isa_name = (isa), .class_name = (class_text), \
        .tile = SIMD_TILE, .quant_scores = ATTENTION_LIST(quant, scores),                      \
        .quant_values = ATTENTION_LIST(quant, values), .softmax = softmax_page,                \
        .touch = touch_lines,                                                                  \
    }
