#include "roofline/units.h"
#include "tests/test.h"

static void decimal_texts(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit;
        const char *want;
        int line;
    } cases[] = {
        {31.23e9, "B/s", "31.2 GB/s", __LINE__},
        {999.6e9, "FLOP/s", "1.00 TFLOP/s", __LINE__},
        {0, "s", "0.00 s", __LINE__},
        {1.5e-3, "s", "1.50 ms", __LINE__},
        {(double)NAN, "s", "-", __LINE__},
        {-2e3, "B/s", "-2.00 kB/s", __LINE__},
        {123.4e-9, "s", "123 ns", __LINE__},
        {1e-12, "s", "0.00 ns", __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[UNITS_TEXT];
        units_format_decimal(text, cases[i].value, cases[i].unit);
        if (strcmp(text, cases[i].want) != 0) {
            fail_msg("line %d: got '%s', want '%s'", cases[i].line, text, cases[i].want);
        }
    }
}

static void short_texts(void **state)
{
    (void)state;
    char text[UNITS_TEXT];
    assert_string_equal(units_format_short(text, 0.5, ""), "0.5");
    assert_string_equal(units_format_short(text, 20e3, ""), "20 k");
    assert_string_equal(units_format_short(text, 999.6e9, ""), "1 T");
    assert_string_equal(units_format_short(text, 331.4e9, "FLOP/s"), "331 GFLOP/s");
    assert_string_equal(units_format_short(text, 10.7, "FLOP/byte"), "10.7 FLOP/byte");
    assert_string_equal(units_format_short(text, (double)NAN, ""), "-");
}

static void binary_texts(void **state)
{
    (void)state;
    char text[UNITS_TEXT];
    assert_string_equal(units_format_binary(text, 32768), "32 KiB");
    assert_string_equal(units_format_binary(text, 0), "0 B");
    assert_string_equal(units_format_binary(text, 1536), "1.5 KiB");
    assert_string_equal(units_format_binary(text, (uint64_t)24 << 30), "24 GiB");
    assert_string_equal(units_format_binary(text, ((uint64_t)1 << 30) - 1024), "1024 MiB");
    assert_string_equal(units_format_binary(text, (uint64_t)1020 * 1024 * 1024 + 5), "1020 MiB");
    assert_string_equal(units_format_binary(text, UINT64_MAX), "16384 PiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimal_texts),
        cmocka_unit_test(short_texts),
        cmocka_unit_test(binary_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
