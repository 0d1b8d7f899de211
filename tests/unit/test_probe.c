#include "machines/detect.h"
#include "profiler/placement.h"
#include "profiler/probe.h"
#include "profiler/probe_check.h"
#include "profiler/probe_json.h"
#include "profiler/probe_session.h"
#include "tests/test.h"

#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

static struct machine two_cores(uint64_t llc, uint64_t available)
{
    struct machine machine = {.usable_count = 2,
                              .usable_cores = 2,
                              .cores = 2,
                              .pus = 2,
                              .llc_total_bytes = llc,
                              .memory_available_bytes = available,
                              .cache_count = 1};
    machine.caches[0] = (struct machine_cache){.level = 3,
                                               .type = MACHINE_CACHE_UNIFIED,
                                               .bytes = llc,
                                               .instances = 1,
                                               .usable_instances = 1,
                                               .shared_by_pus = 2};
    return machine;
}

static const struct probe_options all_levels = {.levels = {true, true, true, true}};

static void memory_follows_the_caches(void **state)
{
    (void)state;
    struct machine machine = two_cores(32 * MIB, 4096 * MIB);
    struct result_run run = {.complete = false};
    uint64_t bytes = 0;
    bool dram = false;
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_true(dram);
    assert_true(bytes >= 128 * MIB && bytes < 130 * MIB);
    machine.llc_total_bytes = 260 * MIB;
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_true(bytes >= 1040 * MIB && bytes < 1042 * MIB);
    assert_int_equal(run.warning_count, 0);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    struct machine machine = two_cores(260 * MIB, 1024 * MIB);
    struct result_run run = {.complete = false};
    uint64_t bytes = 0;
    bool dram = true;
    // 1 GiB left: 1040 MiB for DRAM are not to be had, the inner levels are.
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_false(dram);
    assert_true(bytes <= 300 * MIB);
    assert_int_equal(run.warning_count, 1);
    assert_string_equal(run.warnings[0].code, "memory_short");
    machine.memory_available_bytes = 100 * MIB;
    struct status status = probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels);
    assert_int_equal(status.code, STATUS_UNAVAILABLE);
    machine.memory_available_bytes = 0; // unknown is not short
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_true(dram);
    result_run_free(&run);
}

static void sizes_that_are_not_told_are_swept(void **state)
{
    (void)state;
    struct machine machine = two_cores(32 * MIB, 16384 * MIB);
    struct result_run run = {.complete = false};
    uint64_t bytes = 0;
    bool dram = false;
    char why[128];
    machine.caches[0].bytes = (uint64_t)1 << 40; // a terabyte of L3
    machine.llc_total_bytes = (uint64_t)1 << 40;
    assert_false(working_set_sizes_sane(why, sizeof why, &machine));
    assert_non_null(strstr(why, "absurd L3"));
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_true(dram);
    assert_int_equal(bytes, 1024 * MIB);
    machine.cache_count = 0;
    machine.llc_total_bytes = 0;
    machine.memory_available_bytes = 1024 * MIB;
    assert_false(working_set_sizes_sane(why, sizeof why, &machine));
    ASSERT_OK(probe_plan_memory(&bytes, &dram, &run, &machine, &all_levels));
    assert_true(bytes <= 1024 * MIB / 5);
    assert_int_equal(run.warning_count, 0);
}

static void the_sweep_decides_the_levels(void **state)
{
    (void)state;
    struct machine machine = two_cores(0, 16384 * MIB);
    machine.cache_count = 0;
    // L1 of 32 KiB, L2 of 1 MiB, 8 MiB that both share, and memory.
    const struct probe_size plateaus[] = {
        {64 << 10, 400e9}, {2 * MIB, 200e9}, {8 * MIB, 140e9}, {512 * MIB, 35e9}};
    char why[128];
    unsigned cpus[] = {0, 1};
    struct machine_cpu usable[] = {{.os_index = 0, .core = 0}, {.os_index = 1, .core = 1}};
    struct working_set set;
    machine.usable = usable;
    assert_false(probe_adopt_levels(&machine, plateaus, 1, 2)); // memory alone
    assert_int_equal(machine.cache_count, 0);
    assert_true(probe_adopt_levels(&machine, plateaus, 4, 2));
    assert_true(working_set_sizes_sane(why, sizeof why, &machine));
    assert_int_equal(machine.llc_total_bytes, 8 * MIB);
    ASSERT_OK(working_set_of(&set, &machine, cpus, 2, LEVEL_L1));
    assert_int_equal(set.bytes, 32 << 10);
    ASSERT_OK(working_set_of(&set, &machine, cpus, 2, LEVEL_L2));
    assert_int_equal(set.bytes, MIB);
    ASSERT_OK(working_set_of(&set, &machine, cpus, 2, LEVEL_DRAM));
    assert_int_equal(set.bytes, 32 * MIB);
    assert_int_equal(working_set_of(&set, &machine, cpus, 2, LEVEL_L3).code, STATUS_UNAVAILABLE);
}

// The whole probe on this machine, told nothing (or nonsense) of its caches.
static void probe_blind(uint64_t l1_bytes)
{
    struct machine machine;
    struct result_run run = {.complete = false};
    struct probe_extras *extras = calloc(1, sizeof *extras);
    bool told = false;
    assert_non_null(extras);
    ASSERT_OK(machine_detect(&machine));
    machine.cache_count = l1_bytes > 0 ? 1 : 0;
    machine.caches[0] = (struct machine_cache){1, MACHINE_CACHE_DATA, l1_bytes, 1, 1, machine.pus};
    machine.llc_total_bytes = l1_bytes;
    const struct probe_host host = {.machine = &machine, .isa = isa_detect()};
    const struct probe_options options = {.quick = true,
                                          .levels = {true, false, false, true},
                                          .dtypes = {"f32"},
                                          .dtype_count = 1,
                                          .budget_seconds =
                                              900}; // idle: 4; a slow machine is no failure
    ASSERT_OK(probe_measure(&run, extras, &options, &host));
    assert_true(extras->size_count > 0);
    for (size_t i = 0; i < run.warning_count; i++) {
        bool decided = strcmp(run.warnings[i].code, "levels_swept") == 0;
        bool found_none = strcmp(run.warnings[i].code, "sweep_found_nothing") == 0;
        told = told || decided || found_none;
        // A level that was found is measured; what was not found has no figure.
        assert_true(!found_none || run.machine.bandwidth_count == 0);
    }
    assert_true(told);
    result_run_free(&run);
    machine_free(&machine);
    free(extras);
}

static void a_machine_without_caches_is_swept(void **state)
{
    (void)state;
    probe_blind(0);
    probe_blind((uint64_t)1 << 40);
}

static void knee(void **state)
{
    (void)state;
    const unsigned threads[] = {1, 2, 4, 8};
    const double flat[] = {10, 19, 19.5, 20};
    const double growing[] = {10, 20, 39, 60};
    const double one[] = {10};
    const double falling[] = {10, 20, 18, 15};
    ASSERT_CLOSE(probe_knee(threads, flat, 4), 2, 1e-12);
    assert_true(isnan(probe_knee(threads, growing, 4)));
    assert_true(isnan(probe_knee(threads, one, 1)));
    assert_true(isnan(probe_knee(threads, growing, 0)));
    ASSERT_CLOSE(probe_knee(threads, falling, 4), 2, 1e-12);
}

static size_t curve(struct probe_size *out, const double *rates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct probe_size){.bytes = (uint64_t)1024 << i, .bytes_per_s = rates[i]};
    }
    return count;
}

static void plateaus_of_a_curve(void **state)
{
    (void)state;
    struct probe_size sizes[16];
    struct probe_size found[PROBE_PLATEAUS_MAX];
    // Two levels and memory, slopes between them, a wobble in the second.
    const double rates[] = {100, 103, 98, 101, 60, 50, 51, 49, 43, 42, 44, 30, 10, 10, 9, 10};
    size_t count = curve(sizes, rates, 16);
    assert_int_equal(probe_plateaus(found, PROBE_PLATEAUS_MAX, sizes, count), 3);
    assert_int_equal(found[0].bytes, 1024 << 3);
    assert_int_equal(found[1].bytes, 1024 << 10);
    assert_int_equal(found[2].bytes, 1024 << 15);
    ASSERT_CLOSE(found[0].bytes_per_s, 100.5, 1e-9);
    ASSERT_CLOSE(found[2].bytes_per_s, 10, 1e-9);
    assert_int_equal(probe_plateaus(found, 1, sizes, count), 1);
    assert_int_equal(probe_plateaus(found, PROBE_PLATEAUS_MAX, sizes, 2), 0);
    const double slope[] = {100, 80, 60, 45, 33, 25};
    count = curve(sizes, slope, 6);
    assert_int_equal(probe_plateaus(found, PROBE_PLATEAUS_MAX, sizes, count), 0);
}

static void cores_before_siblings(void **state)
{
    (void)state;
    struct machine_cpu usable[] = {{.os_index = 3, .core = 0, .smt_index = 0},
                                   {.os_index = 7, .core = 0, .smt_index = 1},
                                   {.os_index = 4, .core = 1, .smt_index = 0, .kind = 1},
                                   {.os_index = 8, .core = 1, .smt_index = 1, .kind = 1}};
    struct machine machine = {.usable = usable, .usable_count = 4};
    unsigned cpus[4] = {0};
    ASSERT_OK(placement_cpus(cpus, &machine, 3));
    assert_int_equal(cpus[0], 3);
    assert_int_equal(cpus[1], 4);
    assert_int_equal(cpus[2], 7);
    assert_int_equal(placement_cpus(cpus, &machine, 0).code, STATUS_INVALID);
    struct status status = placement_cpus(cpus, &machine, 5);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "1..4"));
    assert_int_equal(placement_cpus_of_kind(cpus, 4, &machine, 1), 1);
    assert_int_equal(cpus[0], 4);
}

static struct result_bandwidth load(const char *level, unsigned threads, double low, double value,
                                    double high)
{
    struct result_bandwidth row = {.threads = threads, .kernel = "load"};
    (void)snprintf(row.level, sizeof row.level, "%s", level);
    const double samples[] = {low, value, high};
    row.bytes_per_s = reading_of_samples(samples, 3, BETTER_HIGHER, ORIGIN_TIMED);
    return row;
}

static void drift_needs_distance_and_disjoint_intervals(void **state)
{
    (void)state;
    struct result_bandwidth before[] = {load("DRAM", 2, 29, 30, 31), load("L1", 2, 690, 700, 710),
                                        load("L2", 2, 200, 260, 320), load("L3", 1, 50, 50, 50)};
    struct result_bandwidth after[] = {
        load("DRAM", 2, 24, 25, 26),  // 17 % less and apart
        load("L1", 2, 720, 725, 730), // apart, but 4 %
        load("L2", 2, 190, 200, 310), // far, but the intervals meet
        load("L3", 2, 10, 10, 10)};   // other threads: not the same ceiling
    struct result_machine old = {.bandwidth = before, .bandwidth_count = 4};
    struct result_machine new = {.bandwidth = after, .bandwidth_count = 4};
    struct probe_drift drifts[PROBE_DRIFTS_MAX];
    size_t drifted = 0;
    assert_int_equal(probe_compare(drifts, PROBE_DRIFTS_MAX, &drifted, &old, &new), 3);
    assert_int_equal(drifted, 1);
    assert_true(drifts[0].drifted);
    ASSERT_CLOSE(drifts[0].ratio, 25.0 / 30, 1e-12);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    probe_print_drift(file, drifts, 3);
    (void)fclose(file);
    assert_non_null(strstr(text, "DRIFTED"));
    assert_non_null(strstr(text, "0.769  cannot tell: the intervals overlap\n")); // L2 alone
    assert_null(strstr(strstr(text, "cannot tell") + 1, "cannot tell"));
    free(text);
    assert_int_equal(probe_compare(drifts, 1, &drifted, &old, &new), 1);
}

static void latency_drifts_as_loads_per_second(void **state)
{
    (void)state;
    const double slow[] = {190e-9, 200e-9, 210e-9};
    const double fast[] = {99e-9, 100e-9, 101e-9};
    struct result_latency before[] = {{.level = "DRAM", .page_bytes = 4096},
                                      {.level = "DRAM", .page_bytes = 2 << 20}};
    struct result_latency after = {.level = "DRAM", .page_bytes = 2 << 20};
    before[0].seconds = before[1].seconds = reading_of_samples(fast, 3, BETTER_LOWER, ORIGIN_TIMED);
    after.seconds = reading_of_samples(slow, 3, BETTER_LOWER, ORIGIN_TIMED);
    struct result_machine old = {.latency = before, .latency_count = 2};
    struct result_machine new = {.latency = &after, .latency_count = 1};
    struct probe_drift drifts[PROBE_DRIFTS_MAX];
    size_t drifted = 0;
    assert_int_equal(probe_compare(drifts, PROBE_DRIFTS_MAX, &drifted, &old, &new), 1);
    assert_int_equal(drifted, 1);
    ASSERT_CLOSE(drifts[0].ratio, 0.5, 1e-12); // half as many
    ASSERT_CLOSE(drifts[0].old_per_s, 1e7, 1e-9);
    assert_non_null(strstr(drifts[0].name, "2097152"));
}

static size_t warnings_seeing(struct result_run *run, const char *code, bool smt, double sharing)
{
    size_t found = 0;
    const struct machine machine = {.packages = 1, .smt = smt};
    const struct probe_view seen = {.sampled = 0, .sharing = sharing};
    probe_check_roofs(run, &machine, &seen);
    for (size_t i = 0; i < run->warning_count; i++) {
        found += strcmp(run->warnings[i].code, code) == 0 ? 1 : 0;
    }
    return found;
}

static size_t warnings_of(struct result_run *run, const char *code)
{
    return warnings_seeing(run, code, false, (double)NAN);
}

static void a_violated_order_is_reported(void **state)
{
    (void)state;
    struct result_bandwidth rows[] = {load("DRAM", 2, 29, 30, 31), load("L3", 2, 20, 21, 22),
                                      load("L2", 2, 200, 210, 220), load("L1", 2, 205, 209, 215)};
    struct result_run run = {.machine = {.bandwidth = rows, .bandwidth_count = 4}};
    assert_int_equal(warnings_of(&run, "level_order"), 1); // L1 and L2 meet: no violation
    assert_non_null(strstr(run.warnings[0].text, "L3"));
    ASSERT_CLOSE(rows[1].bytes_per_s.value, 21, 1e-12); // never clamped
    free(run.warnings);
}

static struct result_compute compute(const char *kind, double flop_per_s)
{
    struct result_compute row = {.threads = 2, .dtype = "f32"};
    (void)snprintf(row.kind, sizeof row.kind, "%s", kind);
    row.flop_per_s = reading_plain(flop_per_s, ORIGIN_TIMED);
    row.core_hz = reading_plain(3e9, ORIGIN_TIMED);
    return row;
}

static void slow_gemm_and_impossible_bandwidth(void **state)
{
    (void)state;
    struct result_compute rows[] = {compute("fma", 300e9), compute("gemm", 65e9)};
    struct result_bandwidth loads[] = {load("L1", 2, 1.3e12, 1.3e12, 1.3e12)};
    struct result_run run = {
        .machine = {.compute = rows, .compute_count = 2, .bandwidth = loads, .bandwidth_count = 1}};
    assert_int_equal(warnings_of(&run, "blas_slow"), 1);
    assert_int_equal(warnings_of(&run, "implausible"), 1); // 2 x 192 B x 3 GHz = 1.15 TB/s
    rows[1].flop_per_s.value = 200e9;
    struct result_run fine = {.machine = {.compute = rows, .compute_count = 2}};
    assert_int_equal(warnings_of(&fine, "blas_slow"), 0);
    free(run.warnings);
    free(fine.warnings);
}

static void rates_between(struct result_compute *row, double low, double high)
{
    row->flop_per_s.ci95_low = low;
    row->flop_per_s.ci95_high = high;
}

// A peak that a product exceeds, by their intervals, is no ceiling.
static void a_gemm_above_its_peak(void **state)
{
    (void)state;
    struct result_compute rows[] = {compute("fma", 52e9), compute("gemm", 93e9)};
    struct result_run run = {.machine = {.compute = rows, .compute_count = 2}};
    rates_between(&rows[0], 51e9, 53e9);
    rates_between(&rows[1], 75e9, 98e9);
    assert_int_equal(warnings_of(&run, "above_roof"), 1);
    assert_non_null(strstr(rows[0].unsteady, "gemm reached 93"));
    assert_string_equal(rows[1].unsteady, "");
    rows[0].unsteady[0] = '\0';
    rates_between(&rows[0], 51e9, 76e9); // the intervals meet: chance
    struct result_run fine = {.machine = {.compute = rows, .compute_count = 2}};
    assert_int_equal(warnings_of(&fine, "above_roof"), 0);
    assert_string_equal(rows[0].unsteady, "");
    free(run.warnings);
    free(fine.warnings);
}

// Two cpus that the hypervisor runs on one core: nothing else tells, all windows are alike.
static void wide_intervals_of_kernels_are_marked(void **state)
{
    (void)state;
    static const double apart[] = {1.87e9, 5e9, 148e9};
    static const double close[] = {4.9e9, 5e9, 5.1e9};
    struct result_compute rows[] = {compute("kernel", 5e9), compute("kernel", 5e9),
                                    compute("fma", 5e9)};
    struct result_run run = {.machine = {.compute = rows, .compute_count = 3}};
    rows[0].flop_per_s = reading_of_samples(apart, 3, BETTER_HIGHER, ORIGIN_TIMED);
    rows[1].flop_per_s = reading_of_samples(close, 3, BETTER_HIGHER, ORIGIN_TIMED);
    rows[2].flop_per_s = rows[0].flop_per_s; // judged by the signs around its windows
    assert_int_equal(warnings_seeing(&run, "unsteady", false, 0.95), 1);
    assert_non_null(strstr(rows[0].unsteady, "2923 %"));
    assert_string_equal(rows[1].unsteady, "");
    assert_string_equal(rows[2].unsteady, "");
    free(run.warnings);
    free(run.conditions);
}

static void two_cpus_on_one_core(void **state)
{
    (void)state;
    struct result_compute rows[] = {compute("fma", 52e9), compute("fma", 52e9)};
    struct result_bandwidth loads[] = {load("L1", 2, 2e11, 2e11, 2e11)};
    struct result_run run = {
        .machine = {.compute = rows, .compute_count = 2, .bandwidth = loads, .bandwidth_count = 1}};
    rows[1].threads = 1;
    assert_int_equal(warnings_seeing(&run, "cores_shared", false, 0.95), 0);
    assert_int_equal(warnings_seeing(&run, "cores_shared", true, 0.51), 0); // may be asked for
    assert_string_equal(rows[0].unsteady, "");
    assert_int_equal(warnings_seeing(&run, "cores_shared", false, 0.51), 1);
    assert_non_null(strstr(rows[0].unsteady, "51 %"));
    assert_string_equal(rows[1].unsteady, ""); // one thread had the core
    assert_non_null(strstr(loads[0].unsteady, "one core for two cpus"));
    free(run.warnings);
    free(run.conditions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_follows_the_caches),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(sizes_that_are_not_told_are_swept),
        cmocka_unit_test(the_sweep_decides_the_levels),
        cmocka_unit_test(a_machine_without_caches_is_swept),
        cmocka_unit_test(knee),
        cmocka_unit_test(plateaus_of_a_curve),
        cmocka_unit_test(cores_before_siblings),
        cmocka_unit_test(drift_needs_distance_and_disjoint_intervals),
        cmocka_unit_test(latency_drifts_as_loads_per_second),
        cmocka_unit_test(a_violated_order_is_reported),
        cmocka_unit_test(a_gemm_above_its_peak),
        cmocka_unit_test(slow_gemm_and_impossible_bandwidth),
        cmocka_unit_test(two_cpus_on_one_core),
        cmocka_unit_test(wide_intervals_of_kernels_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
