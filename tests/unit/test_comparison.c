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
    add_load(&machines[1], 105, 3, ORIGIN_TIMED);  // 102..108 meets 97..103
    add_load(&machines[2], 110, 3, ORIGIN_TIMED);  // 107..113 does not
    add_load(&machines[3], 110, 30, ORIGIN_TIMED); // wide
    add_load(&machines[4], 110, 1, ORIGIN_SIMULATED);
    ASSERT_OK(comparison_compute(&comparison, machines, 5));
    assert_int_equal(comparison.row_count, 1);
    const struct comparison_entry *entries = comparison.rows[0].entries;
    assert_false(entries[1].differs);
    assert_true(entries[2].differs && entries[2].intervals_known);
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
                                       cmocka_unit_test(test_nothing_to_compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
