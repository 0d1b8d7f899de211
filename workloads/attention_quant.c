#include "workloads/attention_quant.h"

#include "workloads/attention.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 32, LARGEST = 127, ONE = 128 };

bool attention_is_quant(enum line_format format)
{
    return format == LINE_Q8_0 || format == LINE_INT8;
}

static size_t scale_bytes(bool half, size_t dim)
{
    return ATTENTION_PAGE * (half ? 2 * ((dim + BLOCK - 1) / BLOCK) : sizeof(float));
}

struct attention_quant attention_quant_shape(enum line_format format, unsigned k_dim,
                                             unsigned v_dim)
{
    struct attention_quant shape = {.half = format == LINE_Q8_0,
                                    .k_dim = k_dim,
                                    .v_groups = (v_dim + LINE_ROWS - 1) / LINE_ROWS};
    shape.k_scales = (size_t)k_dim * ATTENTION_PAGE;
    shape.v_values = shape.k_scales + scale_bytes(shape.half, k_dim);
    shape.v_scales = shape.v_values + shape.v_groups * LINE_ROWS * ATTENTION_PAGE;
    shape.page_bytes = shape.v_scales + scale_bytes(shape.half, v_dim);
    return shape;
}

static size_t integer_at(const struct attention_quant *shape, unsigned token, unsigned d,
                         bool value)
{
    return value
               ? shape->v_values + ((size_t)(d / LINE_ROWS) * ATTENTION_PAGE + token) * LINE_ROWS +
                     d % LINE_ROWS
               : ((size_t)(token / LINE_ROWS) * shape->k_dim + d) * LINE_ROWS + token % LINE_ROWS;
}

static unsigned char *scales_of(const struct attention_quant *shape, unsigned char *page,
                                bool value)
{
    return page + (value ? shape->v_scales : shape->k_scales);
}

// Stores the scale of a token's block and returns it as stored: [block][64 tokens] are lines of
// f16, [k][16 rows], four of them a block.
static float put_scale(const struct attention_quant *shape, unsigned char *scales, unsigned token,
                       unsigned block, float scale)
{
    if (shape->half) {
        unsigned k = block * (ATTENTION_PAGE / LINE_ROWS) + token / LINE_ROWS;
        line_put(LINE_F16, scales, token % LINE_ROWS, k, scale);
        return line_round(LINE_F16, scale);
    }
    memcpy(scales + token * sizeof scale, &scale, sizeof scale);
    return scale;
}

static void put_block(const struct attention_quant *shape, unsigned char *page, unsigned token,
                      const float *x, unsigned begin, unsigned end, bool value)
{
    float largest = 0;
    for (unsigned d = begin; d < end; d++) {
        largest = fmaxf(largest, fabsf(x[d]));
    }
    float scale = put_scale(shape, scales_of(shape, page, value), token, begin / BLOCK,
                            largest * ((float)ONE / LARGEST));
    float inverse = scale > 0 ? (float)ONE / scale : 0;
    for (unsigned d = begin; d < end; d++) {
        float q = fminf(fmaxf(rintf(x[d] * inverse), -LARGEST), LARGEST);
        signed char byte = (signed char)q;
        memcpy(page + integer_at(shape, token, d, value), &byte, 1);
    }
}

static void put_row(const struct attention_quant *shape, unsigned char *page, unsigned token,
                    const float *x, unsigned dim, bool value)
{
    unsigned step = shape->half ? BLOCK : dim;
    for (unsigned begin = 0; begin < dim; begin += step) {
        put_block(shape, page, token, x, begin, begin + step < dim ? begin + step : dim, value);
    }
}

void attention_quant_put(const struct attention_quant *shape, unsigned char *page, unsigned token,
                         const float *key, const float *value, unsigned v_dim)
{
    put_row(shape, page, token, key, shape->k_dim, false);
    put_row(shape, page, token, value, v_dim, true);
}

double attention_quant_get(const struct attention_quant *shape, const unsigned char *page,
                           unsigned token, unsigned d, bool value)
{
    const unsigned char *scales = page + (value ? shape->v_scales : shape->k_scales);
    signed char q;
    float scale;
    memcpy(&q, page + integer_at(shape, token, d, value), 1);
    memcpy(&scale, scales + token * sizeof scale * (shape->half ? 0 : 1), sizeof scale);
    double exact = (double)scale;
    if (shape->half) {
        exact = line_get(LINE_F16, scales, token % LINE_ROWS,
                         d / BLOCK * (ATTENTION_PAGE / LINE_ROWS) + token / LINE_ROWS);
    }
    return exact * q / ONE;
}

static void fill_page(const struct attention_quant *shape, unsigned char *page, float amplitude,
                      uint64_t *state)
{
    for (size_t i = 0; i < shape->page_bytes; i++) {
        page[i] = (unsigned char)(signed char)(line_random(state) * LARGEST);
    }
    for (int part = 0; part < 2; part++) {
        size_t dim = part == 0 ? shape->k_dim : shape->v_groups * LINE_ROWS;
        size_t blocks = shape->half ? (dim + BLOCK - 1) / BLOCK : 1;
        for (unsigned block = 0; block < blocks; block++) {
            for (unsigned token = 0; token < ATTENTION_PAGE; token++) {
                (void)put_scale(shape, scales_of(shape, page, part == 1), token, block, amplitude);
            }
        }
    }
}

void attention_quant_fill(const struct attention_quant *shape, unsigned char *pages, size_t size,
                          float amplitude, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t at = 0; at + shape->page_bytes <= size; at += shape->page_bytes) {
        fill_page(shape, pages + at, amplitude, &state);
    }
}
