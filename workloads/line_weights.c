#include "workloads/line_rows.h"

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

static void fill_scales(unsigned char *line, float scale, uint64_t *state)
{
    for (unsigned i = 0; i < LINE_BYTES / 2; i++) {
        float factor = 1 + unit_value((uint32_t)xorshift(state)) / 4;
        line_put(LINE_F16, line + (size_t)2 * i, 0, 0, scale * factor);
    }
}

static void fill_blocks(enum line_format format, unsigned char *units, size_t size, float amplitude,
                        uint64_t seed)
{
    const struct line_layout *layout = line_layout(format);
    size_t unit_bytes = (size_t)layout->unit_lines * LINE_BYTES;
    uint64_t state = state_of_seed(seed);
    for (unsigned char *unit = units; unit + unit_bytes <= units + size; unit += unit_bytes) {
        fill_scales(unit, amplitude / (float)layout->offset, &state);
        for (size_t at = LINE_BYTES; at < unit_bytes; at += sizeof state) {
            uint64_t random = xorshift(&state);
            memcpy(unit + at, &random, sizeof random);
        }
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
