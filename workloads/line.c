#include "workloads/line_block.h"
#include "workloads/line_rows.h"

#include <math.h>
#include <string.h>

static const struct line_layout layouts[LINE_FORMATS] = {
    [LINE_F32] = {"f32", 1, 1, 1, 0, 0, 0, 0, false},
    [LINE_BF16] = {"bf16", 2, 1, 1, 0, 0, 0, 0, false},
    [LINE_F16] = {"f16", 2, 1, 1, 0, 0, 0, 0, false},
    [LINE_Q8_0] = {"q8_0", 64, 17, 32, 0, 8, 128, 32, false},
    [LINE_Q4_0] = {"q4_0", 64, 9, 32, 0, 4, 8, 32, false},
    [LINE_Q4_1] = {"q4_1", 32, 5, 32, 0, 4, 0, 32, true},
    [LINE_Q5_0] = {"q5_0", 64, 11, 32, 0, 5, 16, 32, false},
    [LINE_Q5_1] = {"q5_1", 32, 6, 32, 0, 5, 0, 32, true},
    [LINE_Q4_K] = {"q4_k", 256, 36, 256, 0, 4, 0, 32, true},
    [LINE_Q5_K] = {"q5_k", 256, 44, 256, 0, 5, 0, 32, true},
    [LINE_Q6_K] = {"q6_k", 512, 105, 256, 0, 6, 32, 16, false},
    [LINE_INT8] = {"int8", 32, 8, 1, 1, 8, 128, 32, false},
    [LINE_INT4_G128] = {"int4_g128", 256, 33, 128, 0, 4, 8, 32, false},
    [LINE_MXFP4] = {"mxfp4", 128, 17, 32, 0, 4, 12, 32, false},
};

const struct line_layout *line_layout(enum line_format format)
{
    return &layouts[format];
}

bool line_find(enum line_format *out, const char *name)
{
    for (int format = 0; format < LINE_FORMATS; format++) {
        if (strcmp(layouts[format].name, name) == 0) {
            *out = (enum line_format)format;
            return true;
        }
    }
    return false;
}

bool line_is_blocks(enum line_format format)
{
    return layouts[format].bits > 0;
}

size_t line_units(enum line_format format, uint64_t k)
{
    return (k + layouts[format].unit_ks - 1) / layouts[format].unit_ks;
}

size_t line_count(enum line_format format, uint64_t k)
{
    return layouts[format].head_lines + line_units(format, k) * layouts[format].unit_lines;
}

// Splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

float line_random(uint64_t *state)
{
    return (float)((double)(splitmix64(state) >> 40) * 0x1p-23 - 1);
}

void line_fill(unsigned char *bytes, size_t size, uint64_t seed)
{
    // Each half-word is 0x3c00..0x3fff with a sign: as bf16 2^-7..2, as f16 1..2; the low half
    // only adds to an f32's fraction.
    uint64_t state = seed;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t random = splitmix64(&state);
        uint64_t word =
            (random & 0x8000800080008000U) | 0x3c003c003c003c00U | (random & 0x03ff03ff03ff03ffU);
        word &= ~((word & 0x0080008000800080U) >> 1); // low bytes below 192
        memcpy(bytes + i, &word, sizeof word);
    }
}

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

uint32_t line_bf16_bits(float value)
{
    uint32_t bits = bits_of_float(value);
    return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}

// The half's exponent and fraction in a float's place are 2^-112 of its value, subnormals too.
float line_f16_value(uint32_t h)
{
    float magnitude = float_of_bits((h & 0x7fffU) << 13) * 0x1p112F;
    return float_of_bits(bits_of_float(magnitude) | (h & 0x8000U) << 16);
}

// |value| < 65504: what the kernels store is of unit size.
static uint32_t f16_bits(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000U;
    uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude < 0x38800000U) { // below 2^-14: the addition rounds to multiples of 2^-24
        return sign | (bits_of_float(float_of_bits(magnitude) + 0.5F) - 0x3f000000U);
    }
    magnitude += 0xfffU + (magnitude >> 13 & 1U); // to nearest, ties to even
    return sign | (magnitude - 0x38000000U) >> 13;
}

float line_round(enum line_format format, float value)
{
    if (format == LINE_F32) {
        return value;
    }
    return format == LINE_BF16 ? float_of_bits(line_bf16_bits(value) << 16)
                               : line_f16_value(f16_bits(value));
}

// Byte offset of element (row, k) in its group.
static size_t element_offset(enum line_format format, unsigned row, uint64_t k)
{
    if (format == LINE_F32) {
        return 4 * (k * LINE_ROWS + row);
    }
    return 2 * (format == LINE_BF16 ? (k / 2 * LINE_ROWS + row) * 2 + k % 2 : k * LINE_ROWS + row);
}

static double plain_value(enum line_format format, const unsigned char *at)
{
    if (format == LINE_F32) {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return (double)(format == LINE_BF16 ? float_of_bits((uint32_t)half << 16)
                                        : line_f16_value(half));
}

double line_get(enum line_format format, const unsigned char *group, unsigned row, uint64_t k)
{
    if (line_is_blocks(format)) {
        struct line_terms terms = line_block_terms(format, group, row, k);
        return terms.scaled + terms.minimum;
    }
    return plain_value(format, group + element_offset(format, row, k));
}

double line_magnitude(enum line_format format, const unsigned char *group, unsigned row, uint64_t k)
{
    if (line_is_blocks(format)) {
        struct line_terms terms = line_block_terms(format, group, row, k);
        return fabs(terms.scaled) + fabs(terms.minimum);
    }
    return fabs(plain_value(format, group + element_offset(format, row, k)));
}

void line_put(enum line_format format, unsigned char *group, unsigned row, uint64_t k, float value)
{
    unsigned char *at = group + element_offset(format, row, k);
    if (format == LINE_F32) {
        memcpy(at, &value, sizeof value);
        return;
    }
    uint16_t half = (uint16_t)(format == LINE_BF16 ? line_bf16_bits(value) : f16_bits(value));
    memcpy(at, &half, sizeof half);
}

void line_put_row(enum line_format format, unsigned char *group, unsigned row, const float *values,
                  size_t count)
{
    for (size_t k = 0; k < count; k++) {
        unsigned char *at = group + element_offset(format, row, k);
        if (format == LINE_F32) {
            memcpy(at, &values[k], sizeof values[k]);
        } else {
            uint16_t half =
                (uint16_t)(format == LINE_BF16 ? line_bf16_bits(values[k]) : f16_bits(values[k]));
            memcpy(at, &half, sizeof half);
        }
    }
}

void line_put_rows(enum line_format format, unsigned char *group, uint64_t k, const float *values,
                   unsigned rows)
{
    for (unsigned row = 0; row < rows; row++) {
        line_put(format, group, row, k, values[row]);
    }
}
