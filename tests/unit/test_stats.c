#include "roofline/reading.h"
#include "roofline/stats.h"
#include "tests/test.h"

static void median_and_quantiles(void **state)
{
    (void)state;
    const double odd[] = {3, 1, 2};
    const double even[] = {4, 1, 3, 2};
    ASSERT_CLOSE(stats_median(odd, 3), 2, 1e-15);
    ASSERT_CLOSE(stats_median(even, 4), 2.5, 1e-15);
    ASSERT_CLOSE(stats_median(odd, 1), 3, 1e-15);
    ASSERT_CLOSE(stats_quantile(even, 4, 0.25), 1.75, 1e-15);
}

// Ranks from tables of the binomial distribution: for n = 6..8 the extremes, 9..11 the second,
// 12..14 the third order statistic; n = 20: 6th and 15th.
static void interval_ranks(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double low;
    } cases[] = {{1, 1}, {5, 1}, {6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {14, 3}, {20, 6}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double values[32];
        for (size_t i = 0; i < cases[c].n; i++) {
            values[i] = (double)(cases[c].n - i);
        }
        double low = 0;
        double high = 0;
        stats_median_ci95(&low, &high, values, cases[c].n);
        ASSERT_CLOSE(low, cases[c].low, 1e-15);
        ASSERT_CLOSE(high, (double)cases[c].n + 1 - cases[c].low, 1e-15);
    }
}

static void paired_ratio_cancels_common_drift(void **state)
{
    (void)state;
    const double a[] = {10, 20, 40, 80, 160, 320};
    const double b[] = {20, 40, 80, 160, 320, 640};
    double median = 0;
    double low = 0;
    double high = 0;
    stats_paired_ratio(&median, &low, &high, a, b, 6);
    ASSERT_CLOSE(median, 0.5, 1e-15);
    ASSERT_CLOSE(low, 0.5, 1e-15);
    ASSERT_CLOSE(high, 0.5, 1e-15);
}

static void reading_of_samples_and_rate(void **state)
{
    (void)state;
    const double seconds[] = {2, 1, 4};
    struct reading reading = reading_of_samples(seconds, 3, BETTER_LOWER, ORIGIN_TIMED);
    ASSERT_CLOSE(reading.value, 2, 1e-15);
    ASSERT_CLOSE(reading.best, 1, 1e-15);
    struct reading rate = reading_rate(8, &reading);
    ASSERT_CLOSE(rate.value, 4, 1e-15);
    ASSERT_CLOSE(rate.best, 8, 1e-15);
    ASSERT_CLOSE(rate.ci95_low, 2, 1e-15);
    ASSERT_CLOSE(rate.ci95_high, 8, 1e-15);
    ASSERT_CLOSE(rate.samples[2], 2, 1e-15);
    assert_int_equal(rate.origin, ORIGIN_TIMED);
}

static void no_samples_is_absent_not_zero(void **state)
{
    (void)state;
    struct reading reading = reading_of_samples(NULL, 0, BETTER_LOWER, ORIGIN_TIMED);
    assert_false(reading_is_present(&reading));
    assert_true(isnan(reading.value));
    struct reading rate = reading_rate(1, &reading);
    assert_false(reading_is_present(&rate));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_quantiles),
        cmocka_unit_test(interval_ranks),
        cmocka_unit_test(paired_ratio_cancels_common_drift),
        cmocka_unit_test(reading_of_samples_and_rate),
        cmocka_unit_test(no_samples_is_absent_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
