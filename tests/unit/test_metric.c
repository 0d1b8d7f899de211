#include "profiler/metric.h"
#include "tests/test.h"

// The names of the contract, in its order.
static void names_are_the_contracts(void **state)
{
    (void)state;
    static const char *const names[METRIC_COUNT] = {
        "cycles",      "ref_cycles",       "instructions",     "flop_f64",
        "flop_f32",    "flop_f16",         "flop_bf16",        "l1_l2_bytes",
        "l2_l3_bytes", "dram_read_bytes",  "dram_write_bytes", "memory_stall_cycles",
        "tlb_miss",    "page_walk_cycles", "package_joules",   "dram_joules"};
    for (unsigned i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = metric_row((enum metric)i);
        assert_string_equal(row->name, names[i]);
        assert_true(row->meaning[0] != '\0' && row->unit[0] != '\0');
        enum metric found = METRIC_COUNT;
        assert_true(metric_of_name(&found, names[i]));
        assert_int_equal(found, i);
    }
    enum metric none = METRIC_COUNT;
    assert_false(metric_of_name(&none, "flops"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_the_contracts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
