#include "workloads/line_rows.h"

#include <math.h>
#include <string.h>

// Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003: fast, and good enough
// for values that are only to differ.
static uint64_t xorshift(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static uint64_t state_of_seed(uint64_t seed)
{
    return (seed + 1) * 0x9e3779b97f4a7c15U | 1U;
}

// In [-1, 1).
static float unit_value(uint32_t random)
{
    return (float)(int32_t)random * 0x1p-31F;
}

static void fill_plain(enum line_format format, unsigned char *bytes, size_t size, float amplitude,
                       uint64_t seed)
{
    uint64_t state = state_of_seed(seed);
    size_t element = format == LINE_F32 ? 4 : 2;
    for (size_t at = 0; at + 2 * element <= size; at += 2 * element) {
        uint64_t random = xorshift(&state);
        float first = amplitude * unit_value((uint32_t)random);
        float second = amplitude * unit_value((uint32_t)(random >> 32));
        // The place in a line does not matter: every element is drawn alike.
        line_put(format, bytes + at, 0, 0, first);
        line_put(format, bytes + at + element, 0, 0, second);
    }
}

// f16 scales of `count` rows around one.
static void fill_scales(unsigned char *at, unsigned count, float scale, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++) {
        float factor = 1 + unit_value((uint32_t)xorshift(state)) / 4;
        line_put(LINE_F16, at + (size_t)2 * i, 0, 0, scale * factor);
    }
}

static void fill_row_scales(unsigned char *head, float scale, uint64_t *state)
{
    for (unsigned row = 0; row < LINE_ROWS; row++) {
        float factor = 1 + unit_value((uint32_t)xorshift(state)) / 4;
        line_put(LINE_F32, head + (size_t)4 * row, 0, 0, scale * factor);
    }
}

// Scale and minimum of each row such that integers from 0 lie around 0.
static void fill_minimums(unsigned char *line, float scale, float middle, uint64_t *state)
{
    fill_scales(line, LINE_ROWS, scale, state);
    for (unsigned row = 0; row < LINE_ROWS; row++) {
        unsigned char *at = line + (size_t)2 * row;
        float stored = (float)line_get(LINE_F16, at, 0, 0);
        line_put(LINE_F16, at + LINE_BYTES / 2, 0, 0, stored * middle);
    }
}

// Q4_K, Q5_K: six-bit scales of 32 to 63, each with its minimum equal.
static void fill_super(unsigned char *unit, float scale, float middle, uint64_t *state)
{
    enum { SIX_BITS = 48 }; // their middle
    unsigned char *lines = unit + LINE_BYTES;
    fill_minimums(unit, scale / SIX_BITS, middle, state);
    for (unsigned i = 0; i < LINE_BYTES; i++) {
        uint32_t random = (uint32_t)xorshift(state);
        lines[i] = (unsigned char)(0xa0U | (random & 31U));
        lines[LINE_BYTES + i] = lines[i];
        lines[2 * LINE_BYTES + i] = (unsigned char)((random >> 8 & 15U) * 17U);
    }
}

// Q6_K: int8 scales of 48 to 79.
static void fill_q6(unsigned char *unit, float scale, uint64_t *state)
{
    enum { MIDDLE = 64, SCALE_BYTES = 4 * LINE_BYTES, SUPER_BYTES = 52 * LINE_BYTES };
    fill_scales(unit, 2 * LINE_ROWS, scale / MIDDLE, state);
    for (unsigned i = 0; i < 2 * SCALE_BYTES; i++) {
        unsigned char *at =
            unit + LINE_BYTES + (size_t)(i / SCALE_BYTES) * SUPER_BYTES + i % SCALE_BYTES;
        *at = (unsigned char)(48U + (xorshift(state) & 31U));
    }
}

// MXFP4: powers of two, the largest element being 6.
static void fill_exponents(unsigned char *line, float scale, uint64_t *state)
{
    int exponent = 0;
    (void)frexpf(scale / 4, &exponent);
    for (unsigned i = 0; i < LINE_BYTES; i++) {
        line[i] = (unsigned char)(125 + exponent + (int)(xorshift(state) & 1U));
    }
}

static void fill_unit_scales(enum line_format format, unsigned char *unit, float amplitude,
                             uint64_t *state)
{
    const struct line_layout *layout = line_layout(format);
    float middle = (float)((1U << layout->bits) - 1) / 2;
    if (format == LINE_Q4_K || format == LINE_Q5_K) {
        fill_super(unit, amplitude / middle, middle, state);
    } else if (layout->minimums) {
        fill_minimums(unit, amplitude / middle, -middle, state);
    } else if (format == LINE_Q6_K) {
        fill_q6(unit, amplitude / (float)layout->offset, state);
    } else if (format == LINE_MXFP4) {
        fill_exponents(unit, amplitude, state);
    } else if (layout->head_lines == 0) {
        fill_scales(unit, 2 * LINE_ROWS, amplitude / (float)layout->offset, state);
    }
}

static void fill_blocks(enum line_format format, unsigned char *group, size_t size, float amplitude,
                        uint64_t seed)
{
    const struct line_layout *layout = line_layout(format);
    size_t unit_bytes = (size_t)layout->unit_lines * LINE_BYTES;
    uint64_t state = state_of_seed(seed);
    unsigned char *units = group + (size_t)layout->head_lines * LINE_BYTES;
    if (layout->head_lines > 0) {
        fill_row_scales(group, amplitude / (float)layout->offset, &state);
    }
    for (unsigned char *unit = units; unit + unit_bytes <= group + size; unit += unit_bytes) {
        for (size_t at = 0; at < unit_bytes; at += sizeof state) {
            uint64_t random = xorshift(&state);
            memcpy(unit + at, &random, sizeof random);
        }
        fill_unit_scales(format, unit, amplitude, &state);
    }
}

void line_fill_weights(enum line_format format, unsigned char *units, size_t size, float amplitude,
                       uint64_t seed)
{
    if (line_is_blocks(format)) {
        fill_blocks(format, units, size, amplitude, seed);
    } else {
        fill_plain(format, units, size, amplitude, seed);
    }
}
