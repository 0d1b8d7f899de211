#include "workloads/line_block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// Byte `byte` of a row in line `line` from base on: lines of [16 rows][4 bytes].
static unsigned byte_of(const unsigned char *base, unsigned line, unsigned row, unsigned byte)
{
    return base[line * LINE_BYTES + row * 4 + byte];
}

// f16 [2][16 rows].
static double half_of(const unsigned char *line, unsigned which, unsigned row)
{
    uint16_t bits;
    memcpy(&bits, line + 2 * ((size_t)which * LINE_ROWS + row), sizeof bits);
    return (double)line_f16_value(bits);
}

static unsigned nibble_of(const unsigned char *lines, unsigned row, unsigned k)
{
    unsigned byte = byte_of(lines, k / 8, row, k % 4);
    return k % 8 < 4 ? byte & 15U : byte >> 4;
}

// Integer k of the block (q6_k: of the half block) at lines, as stored.
static unsigned stored_of(unsigned bits, const unsigned char *lines, unsigned row, unsigned k)
{
    if (bits == 8) {
        return byte_of(lines, k / 4, row, k % 4);
    }
    if (bits == 4) {
        return nibble_of(lines, row, k);
    }
    unsigned high_bits = bits - 4;
    unsigned high =
        byte_of(lines, 0, row, k % 4) >> (high_bits * (k / 4)) & ((1U << high_bits) - 1);
    return high << 4 | nibble_of(lines + LINE_BYTES, row, k);
}

static unsigned block_lines(unsigned bits)
{
    return bits == 8 ? 8 : bits == 4 ? 4 : 5;
}

static double integer_of(const struct line_layout *layout, const unsigned char *blocks,
                         unsigned row, unsigned k)
{
    const unsigned char *lines =
        blocks + (size_t)(k / LINE_BLOCK_KS) * block_lines(layout->bits) * LINE_BYTES;
    return (int)stored_of(layout->bits, lines, row, k % LINE_BLOCK_KS) - layout->offset;
}

// ggml, ggml-quants.c, get_scale_min_k4(): eight scales and eight minimums of 6 bits in 12 bytes.
static void scale_and_minimum(unsigned *scale, unsigned *minimum, const unsigned char *lines,
                              unsigned row, unsigned block)
{
    unsigned i = block % 4;
    unsigned first = byte_of(lines, 0, row, i);
    unsigned second = byte_of(lines, 1, row, i);
    unsigned third = byte_of(lines, 2, row, i);
    *scale = block < 4 ? first & 63U : (third & 15U) | first >> 6 << 4;
    *minimum = block < 4 ? second & 63U : third >> 4 | second >> 6 << 4;
}

static struct line_terms super_terms(const struct line_layout *layout, const unsigned char *unit,
                                     unsigned row, unsigned k)
{
    unsigned scale = 0;
    unsigned minimum = 0;
    scale_and_minimum(&scale, &minimum, unit + LINE_BYTES, row, k / LINE_BLOCK_KS);
    double q = integer_of(layout, unit + (size_t)4 * LINE_BYTES, row, k);
    return (struct line_terms){.scaled = half_of(unit, 0, row) * scale * q,
                               .minimum = -half_of(unit, 1, row) * minimum};
}

static double q6_value(const struct line_layout *layout, const unsigned char *unit, unsigned row,
                       unsigned k)
{
    enum { SUPER_KS = 256, SUPER_LINES = 52, HALF_KS = 16, HALF_LINES = 3, SCALE_LINES = 4 };
    const unsigned char *scales = unit + (1 + (size_t)k / SUPER_KS * SUPER_LINES) * LINE_BYTES;
    unsigned half = k % SUPER_KS / HALF_KS;
    const unsigned char *lines = scales + (size_t)(SCALE_LINES + half * HALF_LINES) * LINE_BYTES;
    double scale = (int8_t)byte_of(scales, half / 4, row, half % 4);
    int q = (int)stored_of(layout->bits, lines, row, k % HALF_KS) - layout->offset;
    return half_of(unit, k / SUPER_KS, row) * scale * q;
}

// Open Compute Project, Microscaling Formats (MX) v1.0: e2m1 elements, e8m0 scales 2^(e - 127).
static double fp4_value(const unsigned char *unit, unsigned row, unsigned k)
{
    static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    unsigned block = k / LINE_BLOCK_KS;
    unsigned code = nibble_of(unit + (size_t)(1 + 4 * block) * LINE_BYTES, row, k % LINE_BLOCK_KS);
    double magnitude = ldexp(magnitudes[code & 7U], (int)byte_of(unit, 0, row, block) - 127);
    return (code & 8U) != 0 ? -magnitude : magnitude;
}

static double row_scale(const unsigned char *group, unsigned row)
{
    float scale;
    memcpy(&scale, group + row * sizeof scale, sizeof scale);
    return (double)scale;
}

struct line_terms line_block_terms(enum line_format format, const unsigned char *group,
                                   unsigned row, uint64_t k)
{
    assert(line_is_blocks(format));
    const struct line_layout *layout = line_layout(format);
    const unsigned char *unit =
        group + (layout->head_lines + k / layout->unit_ks * layout->unit_lines) * LINE_BYTES;
    const unsigned char *blocks = unit + LINE_BYTES;
    unsigned in_unit = (unsigned)(k % layout->unit_ks);
    switch (format) {
    case LINE_Q8_0:
    case LINE_Q4_0:
    case LINE_Q5_0:
    case LINE_INT4_G128:
        return (struct line_terms){half_of(unit, in_unit / (layout->unit_ks / 2), row) *
                                       integer_of(layout, blocks, row, in_unit),
                                   0};
    case LINE_Q4_1:
    case LINE_Q5_1:
        return (struct line_terms){half_of(unit, 0, row) * integer_of(layout, blocks, row, in_unit),
                                   half_of(unit, 1, row)};
    case LINE_Q4_K:
    case LINE_Q5_K:
        return super_terms(layout, unit, row, in_unit);
    case LINE_Q6_K:
        return (struct line_terms){q6_value(layout, unit, row, in_unit), 0};
    case LINE_INT8:
        return (struct line_terms){row_scale(group, row) * integer_of(layout, unit, row, in_unit),
                                   0};
    case LINE_MXFP4:
        return (struct line_terms){fp4_value(unit, row, in_unit), 0};
    case LINE_F32:
    case LINE_BF16:
    case LINE_F16:
    case LINE_FORMATS:
        break;
    }
    return (struct line_terms){(double)NAN, (double)NAN};
}
