// Rates of an estimate, and how fast weights are read by products of some rows.
#include "profiler/machine_rates.h"
#include "tests/test.h"

static struct result_weight_read reads_at(const char *dtype, unsigned batch, double rate)
{
    struct result_weight_read read = {.batch = batch, .threads = 2};
    (void)snprintf(read.dtype, sizeof read.dtype, "%s", dtype);
    double samples[] = {0.9 * rate, rate, 1.1 * rate};
    read.bytes_per_s = reading_of_samples(samples, 3, BETTER_HIGHER, ORIGIN_TIMED);
    return read;
}

static double rate_at(const struct result_machine *machine, enum dtype_id dtype, double rows,
                      enum rate_end end)
{
    struct estimate_rates rates = machine_estimate_rates(machine, dtype, rows, end);
    ASSERT_CLOSE(rates.operator_bytes_per_s[MODEL_OP_ATTENTION], 0, 1e-12); // by the read roof
    ASSERT_CLOSE(rates.operator_bytes_per_s[MODEL_OP_HEAD],
                 rates.operator_bytes_per_s[MODEL_OP_EXPERTS], 1e-12);
    return rates.operator_bytes_per_s[MODEL_OP_HEAD];
}

static void weights_are_read_as_fast_as_measured(void **state)
{
    (void)state;
    struct result_bandwidth load = {.level = "DRAM", .kernel = "load", .threads = 2};
    load.bytes_per_s = reading_plain(50e9, ORIGIN_TIMED);
    struct result_weight_read reads[] = {reads_at("q8_0", 16, 10e9), reads_at("q8_0", 1, 40e9),
                                         reads_at("q8_0", 4, 20e9), reads_at("q4_0", 1, 60e9)};
    struct result_machine machine = {
        .bandwidth = &load, .bandwidth_count = 1, .weight_reads = reads, .weight_read_count = 4};
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 1, RATE_VALUE), 40e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 4, RATE_VALUE), 20e9, 1e-9);
    // 2 rows: a third of the way from 25 to 50 ps a byte.
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 2, RATE_VALUE), 30e9, 1e-9);
    // 8 rows: a third of the way from 50 to 100 ps.
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 8, RATE_VALUE), 15e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 512, RATE_VALUE), 10e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 1, RATE_LOW), 36e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q4_0, 3, RATE_VALUE), 50e9,
                 1e-9);                                                   // nothing beats the roof
    ASSERT_CLOSE(rate_at(&machine, DTYPE_BF16, 1, RATE_VALUE), 0, 1e-12); // not measured
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_read_as_fast_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
