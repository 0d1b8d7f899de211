#include "roofline/dtype.h"
#include "tests/test.h"
#include "workloads/line.h"

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
            float value = line_get((enum line_format)format, group, 5, k);
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
                double got = (double)line_get(format, group, row, k);
                if (fabs(got - want) > 0) {
                    fail_msg("format %d row %u k %u: got %g, want %g", i, row, k, got, want);
                }
            }
        }
    }
}

static void block_formats_take_the_bytes_of_ggml(void **state)
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
        cmocka_unit_test(block_formats_take_the_bytes_of_ggml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
