#include "roofline/dtype.h"
#include "tests/test.h"
#include "workloads/line.h"
#include "workloads/line_rows.h"

// Exact values from the IEEE 754 formats.
static void rounding(void **state)
{
    (void)state;
    static const struct {
        enum line_format format;
        double in, want;
        int line;
    } cases[] = {
        {LINE_F16, 1, 1, __LINE__},
        {LINE_F16, 1 + 0x1p-11, 1, __LINE__},            // tie to even, down
        {LINE_F16, 1 + 0x1.8p-10, 1 + 0x1p-9, __LINE__}, // tie to even, up
        {LINE_F16, 2 - 0x1p-12, 2, __LINE__},            // carry into the exponent
        {LINE_F16, -0.333251953125, -0.333251953125, __LINE__},
        {LINE_F16, 0x1p-24, 0x1p-24, __LINE__}, // smallest subnormal
        {LINE_F16, 0x1.ff8p-15, 0x1.ff8p-15, __LINE__},
        {LINE_F16, 0x1.fffp-15, 0x1p-14, __LINE__}, // subnormal to normal
        {LINE_F16, 0, 0, __LINE__},
        {LINE_BF16, 1 + 0x1p-8, 1, __LINE__},
        {LINE_BF16, 1 + 0x1.8p-7, 1 + 0x1p-6, __LINE__},
        {LINE_BF16, -0x1.fep-3, -0x1.fep-3, __LINE__},
        {LINE_F32, 0x1.99999ap-4, 0x1.99999ap-4, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = (double)line_round(cases[i].format, (float)cases[i].in);
        if (fabs(got - cases[i].want) > 0) {
            fail_msg("line %d: got %a, want %a", cases[i].line, got, cases[i].want);
        }
    }
}

static void every_element_has_its_own_place(void **state)
{
    (void)state;
    for (int format = LINE_F32; format <= LINE_F16; format++) {
        enum line_format f = (enum line_format)format;
        unsigned char group[16 * 64];
        unsigned ks = 8;
        assert_true(line_count(f, ks) * LINE_BYTES <= sizeof group);
        memset(group, 0, sizeof group);
        for (unsigned row = 0; row < LINE_ROWS; row++) {
            for (unsigned k = 0; k < ks; k++) {
                line_put(f, group, row, k, (float)(row * ks + k));
            }
        }
        for (unsigned row = 0; row < LINE_ROWS; row++) {
            for (unsigned k = 0; k < ks; k++) {
                assert_int_equal((int)line_get(f, group, row, k), row * ks + k);
            }
        }
    }
}

static void filled_values_are_normal_in_every_format(void **state)
{
    (void)state;
    unsigned char group[4096];
    line_fill(group, sizeof group, 3);
    for (int format = LINE_F32; format <= LINE_F16; format++) {
        float previous = 0;
        unsigned same = 0;
        for (unsigned k = 0; k < 64; k++) {
            float value = (float)line_get((enum line_format)format, group, 5, k);
            assert_true(fabsf(value) >= 0x1p-7F && fabsf(value) < 2);
            same += fabsf(value - previous) > 0 ? 0 : 1;
            previous = value;
        }
        assert_true(same < 4);
    }
}

// Where line.h says that element (row, k) of a block format is; sets its integer to stored.
static void put_stored(enum line_format format, unsigned char *group, unsigned row, unsigned k,
                       unsigned stored)
{
    unsigned char *unit = group + k / 64 * (format == LINE_Q8_0 ? 17 : 9) * 64;
    unsigned block = k % 64 / 32;
    unsigned in_block = k % 32;
    if (format == LINE_Q8_0) {
        unit[(1 + block * 8 + in_block / 4) * 64 + row * 4 + in_block % 4] = (unsigned char)stored;
        return;
    }
    unsigned char *at = unit + (1 + block * 4 + in_block / 8) * 64 + row * 4 + in_block % 4;
    *at = (unsigned char)(in_block % 8 < 4 ? (*at & 0xf0U) | stored : (*at & 0x0fU) | stored << 4);
}

static void blocks_have_their_own_scales_and_integers(void **state)
{
    (void)state;
    enum { KS = 96 }; // a block and a half of units
    for (int i = LINE_Q8_0; i <= LINE_Q4_0; i++) {
        enum line_format format = (enum line_format)i;
        int offset = format == LINE_Q8_0 ? 128 : 8;
        unsigned char group[2 * 17 * 64] = {0};
        assert_int_equal(line_count(format, KS), format == LINE_Q8_0 ? 34 : 18);
        for (unsigned row = 0; row < LINE_ROWS; row++) {
            for (unsigned k = 0; k < KS; k++) {
                put_stored(format, group, row, k, (row * 5 + k * 3) % (unsigned)(2 * offset));
            }
            for (unsigned block = 0; block < KS / 32; block++) { // f16 of 2^(row - 8 + block)
                uint16_t scale = (uint16_t)((row + 7 + block) << 10);
                size_t unit = block / 2 * (format == LINE_Q8_0 ? 17 : 9) * 64;
                memcpy(group + unit + block % 2 * 32 + row * 2, &scale, sizeof scale);
            }
        }
        for (unsigned row = 0; row < LINE_ROWS; row++) {
            for (unsigned k = 0; k < KS; k++) {
                int q = (int)((row * 5 + k * 3) % (unsigned)(2 * offset)) - offset;
                double want = ldexp(q, (int)row - 8 + (int)(k / 32));
                double got = line_get(format, group, row, k);
                if (fabs(got - want) > 0) {
                    fail_msg("format %d row %u k %u: got %g, want %g", i, row, k, got, want);
                }
            }
        }
    }
}

// Sets integer k of a block of `bits` bits (6: of a half block) to stored; the bytes were 0.
static void put_integer(unsigned bits, unsigned char *lines, unsigned row, unsigned k,
                        unsigned stored)
{
    if (bits == 8) {
        lines[k / 4 * 64 + row * 4 + k % 4] = (unsigned char)stored;
        return;
    }
    unsigned char *high = lines + row * 4 + k % 4;
    if (bits > 4) {
        *high = (unsigned char)(*high | (stored >> 4) << ((bits - 4) * (k / 4)));
        lines += 64;
    }
    unsigned char *low = lines + k / 8 * 64 + row * 4 + k % 4;
    *low = (unsigned char)(*low | (stored & 15U) << (k % 8 < 4 ? 0 : 4));
}

static void put_f16_power(unsigned char *line, unsigned which, unsigned row, int exponent)
{
    uint16_t bits = (uint16_t)((exponent + 15) << 10);
    memcpy(line + 2 * (which * 16 + row), &bits, sizeof bits);
}

static void assert_element(enum line_format format, const unsigned char *group, unsigned row,
                           unsigned k, double scaled, double minimum)
{
    double got = line_get(format, group, row, k);
    double magnitude = line_magnitude(format, group, row, k);
    if (fabs(got - (scaled + minimum)) > 0 || fabs(magnitude - fabs(scaled) - fabs(minimum)) > 0) {
        fail_msg("%s row %u k %u: got %g of magnitude %g, want %g + %g", line_layout(format)->name,
                 row, k, got, magnitude, scaled, minimum);
    }
}

enum { GROUP_BYTES = 105 * 64 };

// Q4_K and Q5_K by ggml's definition: value = d x scale x q - dmin x minimum; byte b of the twelve
// of 6-bit scales and minimums is at [b / 4][row][b % 4].
static void super_blocks_have_scales_and_minimums(void **state)
{
    (void)state;
    for (unsigned bits = 4; bits <= 5; bits++) {
        enum line_format format = bits == 4 ? LINE_Q4_K : LINE_Q5_K;
        unsigned char group[GROUP_BYTES] = {0};
        for (unsigned row = 0; row < 16; row++) {
            unsigned scale[8];
            unsigned minimum[8];
            for (unsigned j = 0; j < 8; j++) {
                scale[j] = (row * 7 + j * 13 + 3) % 64;
                minimum[j] = (row * 11 + j * 29 + 1) % 64;
            }
            for (unsigned j = 0; j < 4; j++) {
                unsigned char *byte = group + 64 + row * 4 + j;
                byte[0] = (unsigned char)(scale[j] | scale[j + 4] >> 4 << 6);
                byte[64] = (unsigned char)(minimum[j] | minimum[j + 4] >> 4 << 6);
                byte[128] = (unsigned char)((scale[j + 4] & 15U) | (minimum[j + 4] & 15U) << 4);
            }
            put_f16_power(group, 0, row, (int)row - 8);
            put_f16_power(group, 1, row, 5 - (int)row);
            for (unsigned k = 0; k < 256; k++) {
                put_integer(bits, group + (size_t)(4 + k / 32 * bits) * 64, row, k % 32,
                            (row * 5 + k * 3) % (1U << bits));
            }
            for (unsigned k = 0; k < 256; k++) {
                double q = (row * 5 + k * 3) % (1U << bits);
                assert_element(format, group, row, k, ldexp(scale[k / 32] * q, (int)row - 8),
                               -ldexp(minimum[k / 32], 5 - (int)row));
            }
        }
    }
}

static void q6_k_has_a_scale_per_sixteen(void **state)
{
    (void)state;
    unsigned char group[GROUP_BYTES] = {0};
    for (unsigned row = 0; row < 16; row++) {
        put_f16_power(group, 0, row, (int)row - 8);
        put_f16_power(group, 1, row, 4);
        for (unsigned k = 0; k < 512; k++) {
            unsigned char *super = group + 64 + (size_t)(k / 256) * 52 * 64;
            unsigned half = k % 256 / 16;
            super[half / 4 * 64 + row * 4 + half % 4] = (unsigned char)(k / 16 * 9 + row - 100);
            put_integer(6, super + (size_t)(4 + 3 * half) * 64, row, k % 16,
                        (row * 5 + k * 3) % 64);
        }
        for (unsigned k = 0; k < 512; k++) {
            double q = (double)((row * 5 + k * 3) % 64) - 32;
            int scale = (int8_t)(unsigned char)(k / 16 * 9 + row - 100);
            assert_element(LINE_Q6_K, group, row, k, ldexp(scale * q, k < 256 ? (int)row - 8 : 4),
                           0);
        }
    }
}

static void mxfp4_has_powers_of_two_and_e2m1(void **state)
{
    (void)state;
    static const double e2m1[16] = {0,   0.5,  1,  1.5,  2,  3,  4,  6,
                                    -0., -0.5, -1, -1.5, -2, -3, -4, -6};
    unsigned char group[GROUP_BYTES] = {0};
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned k = 0; k < 128; k++) {
            group[row * 4 + k / 32] = (unsigned char)(120 + row + k / 32);
            put_integer(4, group + (size_t)(1 + k / 32 * 4) * 64, row, k % 32, (row + k) % 16);
        }
        for (unsigned k = 0; k < 128; k++) {
            assert_element(LINE_MXFP4, group, row, k,
                           ldexp(e2m1[(row + k) % 16], (int)(row + k / 32) - 7), 0);
        }
    }
}

static void rows_of_int8_share_a_scale(void **state)
{
    (void)state;
    unsigned char group[GROUP_BYTES] = {0};
    for (unsigned row = 0; row < 16; row++) {
        float scale = 0.25F + (float)row;
        memcpy(group + 4 * row, &scale, sizeof scale);
        for (unsigned k = 0; k < 64; k++) {
            put_integer(8, group + 64 + (size_t)(k / 32 * 8) * 64, row, k % 32, row + k * 3);
        }
        for (unsigned k = 0; k < 64; k++) {
            double q = (int)(row + k * 3) - 128;
            assert_element(LINE_INT8, group, row, k, (double)scale * q, 0);
        }
    }
}

// q5_0 and int4_g128: two groups with a scale; q4_1 and q5_1: one block with a minimum.
static void groups_have_scales_or_minimums(void **state)
{
    (void)state;
    static const struct {
        enum line_format format;
        unsigned bits, ks, per_scale;
        int offset;
    } cases[] = {{LINE_Q5_0, 5, 64, 32, 16},
                 {LINE_INT4_G128, 4, 256, 128, 8},
                 {LINE_Q4_1, 4, 32, 32, 0},
                 {LINE_Q5_1, 5, 32, 32, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char group[GROUP_BYTES] = {0};
        bool minimums = cases[i].ks == cases[i].per_scale;
        for (unsigned row = 0; row < 16; row++) {
            put_f16_power(group, 0, row, (int)row - 8);
            put_f16_power(group, 1, row, 4);
            for (unsigned k = 0; k < cases[i].ks; k++) {
                put_integer(cases[i].bits, group + (size_t)(1 + k / 32 * cases[i].bits) * 64, row,
                            k % 32, (row * 5 + k * 3) % (1U << cases[i].bits));
            }
            for (unsigned k = 0; k < cases[i].ks; k++) {
                double q = (int)((row * 5 + k * 3) % (1U << cases[i].bits)) - cases[i].offset;
                assert_element(cases[i].format, group, row, k,
                               ldexp(q, k < cases[i].per_scale ? (int)row - 8 : 4),
                               minimums ? 16 : 0);
            }
        }
    }
}

static void weights_are_spread_around_zero(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char group[512 * 64];
    for (int i = LINE_F32; i < LINE_FORMATS; i++) {
        enum line_format format = (enum line_format)i;
        size_t bytes = line_count(format, 512) * LINE_BYTES;
        assert_true(bytes <= sizeof group);
        line_fill_weights(format, group, bytes, 0.25F, 9);
        double sum = 0;
        double squares = 0;
        for (unsigned row = 0; row < 16; row++) {
            for (unsigned k = 0; k < 512; k++) {
                double value = line_get(format, group, row, k);
                assert_true(fabs(value) <= 0.25 * 2);
                sum += value;
                squares += value * value;
            }
        }
        double deviation = sqrt(squares / 8192); // 0.25 / sqrt(3) if even
        if (!(deviation > 0.1 && deviation < 0.25) || !(fabs(sum / 8192) < 0.02)) {
            fail_msg("%s: deviation %g, mean %g", line_layout(format)->name, deviation, sum / 8192);
        }
    }
}

static void formats_take_the_bytes_of_their_types(void **state)
{
    (void)state;
    for (int format = LINE_F32; format < LINE_FORMATS; format++) {
        enum dtype_id dtype = dtype_find(line_layout((enum line_format)format)->name);
        assert_true(dtype < DTYPE_COUNT);
        assert_int_equal(line_count((enum line_format)format, 4096) * LINE_BYTES,
                         dtype_matrix_bytes(dtype, LINE_ROWS, 4096));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding),
        cmocka_unit_test(every_element_has_its_own_place),
        cmocka_unit_test(filled_values_are_normal_in_every_format),
        cmocka_unit_test(blocks_have_their_own_scales_and_integers),
        cmocka_unit_test(super_blocks_have_scales_and_minimums),
        cmocka_unit_test(q6_k_has_a_scale_per_sixteen),
        cmocka_unit_test(mxfp4_has_powers_of_two_and_e2m1),
        cmocka_unit_test(rows_of_int8_share_a_scale),
        cmocka_unit_test(groups_have_scales_or_minimums),
        cmocka_unit_test(weights_are_spread_around_zero),
        cmocka_unit_test(formats_take_the_bytes_of_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
