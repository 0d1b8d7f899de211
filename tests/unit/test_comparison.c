#include "profiler/comparison.h"
#include "profiler/prediction.h"
#include "tests/test.h"

#include <stdlib.h>

static struct reading rate(double value, double half_width, enum origin origin)
{
    struct reading out = reading_plain(value, origin);
    out.ci95_low = value - half_width;
    out.ci95_high = value + half_width;
    return out;
}

static void add_load(struct machine_source *to, double value, double half_width, enum origin origin)
{
    struct result_bandwidth *roof = calloc(1, sizeof *roof);
    assert_non_null(roof);
    *roof = (struct result_bandwidth){
        .level = "DRAM", .kernel = "load", .threads = 4, .placement = "local"};
    roof->bytes_per_s = rate(value, half_width, origin);
    to->run.machine.bandwidth = roof;
    to->run.machine.bandwidth_count = 1;
    to->run.complete = true;
}

static void test_intervals(void **state)
{
    struct machine_source *machines = calloc(5, sizeof *machines);
    struct comparison comparison;
    (void)state;
    assert_non_null(machines);
    add_load(&machines[0], 100, 3, ORIGIN_TIMED);
    add_load(&machines[1], 103, 2, ORIGIN_TIMED);  // 101..105 meets 97..103
    add_load(&machines[2], 110, 3, ORIGIN_TIMED);  // 107..113 does not
    add_load(&machines[3], 110, 30, ORIGIN_TIMED); // wide: 80..140 over 97..103
    add_load(&machines[4], 110, 1, ORIGIN_SIMULATED);
    ASSERT_OK(comparison_compute(&comparison, machines, 5));
    assert_int_equal(comparison.row_count, 1);
    const struct comparison_entry *entries = comparison.rows[0].entries;
    assert_int_equal(entries[0].outcome, COMPARISON_SAME);
    assert_int_equal(entries[1].outcome, COMPARISON_SAME);
    assert_int_equal(entries[2].outcome, COMPARISON_DIFFERS);
    assert_int_equal(entries[3].outcome, COMPARISON_CANNOT_TELL);
    ASSERT_CLOSE(entries[2].ratio, 1.1, 1e-12);
    assert_int_equal(entries[2].marks, 0);
    assert_int_equal(entries[3].marks, COMPARISON_UNSTEADY);
    assert_true(entries[4].refused && isnan(entries[4].ratio));
    comparison_free(&comparison);
    for (int i = 0; i < 5; i++) {
        machine_source_free(&machines[i]);
    }
    free(machines);
}

// Overlapping intervals tell that figures are the same only if they are narrow.
static void test_wide_intervals(void **state)
{
    static const struct {
        double value[2];
        double half_width[2];
        enum comparison_outcome outcome;
    } cases[] = {{{100, 3000}, {99, 2950}, COMPARISON_CANNOT_TELL},
                 {{3000, 100}, {2950, 99}, COMPARISON_CANNOT_TELL},
                 {{3, 100}, {4, 99}, COMPARISON_CANNOT_TELL}, // the first reaches 0
                 {{100, 100}, {20, 1}, COMPARISON_CANNOT_TELL},
                 {{100, 109}, {0.1, 0.1}, COMPARISON_DIFFERS},
                 {{100, 100}, {4, 4}, COMPARISON_SAME},
                 {{100, 100}, {6, 6}, COMPARISON_CANNOT_TELL}};
    struct machine_source *machines = calloc(2, sizeof *machines);
    (void)state;
    assert_non_null(machines);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct comparison comparison;
        for (int m = 0; m < 2; m++) {
            add_load(&machines[m], cases[i].value[m], cases[i].half_width[m], ORIGIN_TIMED);
        }
        ASSERT_OK(comparison_compute(&comparison, machines, 2));
        if (comparison.rows[0].entries[1].outcome != cases[i].outcome) {
            fail_msg("case %zu: outcome %d", i, (int)comparison.rows[0].entries[1].outcome);
        }
        comparison_free(&comparison);
        machine_source_free(&machines[0]);
        machine_source_free(&machines[1]);
        memset(machines, 0, 2 * sizeof *machines);
    }
    free(machines);
}

static void test_nothing_to_compare(void **state)
{
    struct machine_source *machines = calloc(2, sizeof *machines);
    struct comparison comparison;
    (void)state;
    assert_non_null(machines);
    add_load(&machines[0], 100, 3, ORIGIN_TIMED);
    assert_int_equal(comparison_compute(&comparison, machines, 2).code, STATUS_INVALID);
    comparison_free(&comparison);
    machine_source_free(&machines[0]);
    free(machines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_intervals),
                                       cmocka_unit_test(test_wide_intervals),
                                       cmocka_unit_test(test_nothing_to_compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
