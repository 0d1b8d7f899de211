#include "roofline/spread.h"
#include "tests/test.h"

static void short_series_are_kept_whole(void **unused)
{
    (void)unused;
    struct spread spread = {0};
    for (int i = 0; i < READING_SAMPLES_MAX; i++) {
        spread_add(&spread, i);
    }
    assert_int_equal(spread.n, READING_SAMPLES_MAX);
    for (int i = 0; i < READING_SAMPLES_MAX; i++) {
        assert_float_equal(spread.values[i], i, 0);
    }
}

// The values are their own positions: all multiples of the stride, from the first to the last.
static void long_series_are_kept_evenly(void **unused)
{
    (void)unused;
    for (uint64_t length = 1; length < 5000; length++) {
        struct spread spread = {0};
        for (uint64_t i = 0; i < length; i++) {
            spread_add(&spread, (double)i);
        }
        assert_int_equal(spread.n, (length - 1) / spread.stride + 1);
        for (size_t i = 0; i < spread.n; i++) {
            assert_float_equal(spread.values[i], (double)(i * spread.stride), 0);
        }
        assert_true(length < READING_SAMPLES_MAX || spread.n >= READING_SAMPLES_MAX / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_series_are_kept_whole),
        cmocka_unit_test(long_series_are_kept_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
