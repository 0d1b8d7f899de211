// How much of the roof is read beside a kernel.
#include "profiler/run_rounds.h"
#include "tests/test.h"

static void roofs_are_read_as_long_as_kernels(void **state)
{
    (void)state;
    const double slice = 64 << 20;
    assert_int_equal(run_rounds_roof_turns(1e5, slice), 1);
    assert_int_equal(run_rounds_roof_turns(slice, slice), 1);
    assert_int_equal(run_rounds_roof_turns(1.9 * slice, slice), 1);
    assert_int_equal(run_rounds_roof_turns(4.4 * slice, slice), 4);
    assert_int_equal(run_rounds_roof_turns(1e3 * slice, slice), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roofs_are_read_as_long_as_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
