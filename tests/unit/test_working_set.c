#include "profiler/working_set.h"
#include "tests/test.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

enum { CPUS = 64 };

struct host {
    struct machine machine;
    struct machine_cpu cpus[CPUS];
    unsigned ids[CPUS];
};

// cores cores, one PU each unless smt; every level by size, L3 one instance per l3_pus.
static void make_host(struct host *host, unsigned cores, bool smt, uint64_t l1, uint64_t l2,
                      uint64_t l3, unsigned l3_pus)
{
    unsigned pus_per_core = smt ? 2 : 1;
    memset(host, 0, sizeof *host);
    host->machine = (struct machine){.cores = cores,
                                     .pus = cores * pus_per_core,
                                     .usable = host->cpus,
                                     .usable_count = (size_t)cores * pus_per_core,
                                     .usable_cores = cores};
    for (unsigned i = 0; i < cores * pus_per_core; i++) {
        host->cpus[i] = (struct machine_cpu){
            .os_index = i, .core = i / pus_per_core, .smt_index = i % pus_per_core};
        host->ids[i] = i * pus_per_core % (cores * pus_per_core);
    }
    const struct machine_cache caches[] = {
        {1, MACHINE_CACHE_DATA, l1, cores, cores, pus_per_core},
        {1, MACHINE_CACHE_INSTRUCTION, l1, cores, cores, pus_per_core},
        {2, MACHINE_CACHE_UNIFIED, l2, cores, cores, pus_per_core},
        {3, MACHINE_CACHE_UNIFIED, l3, cores * pus_per_core / l3_pus, cores * pus_per_core / l3_pus,
         l3_pus}};
    host->machine.cache_count = l3 > 0 ? 4 : 3;
    memcpy(host->machine.caches, caches, sizeof caches);
    host->machine.llc_total_bytes = l3 > 0 ? l3 * (cores * pus_per_core / l3_pus) : l2 * cores;
}

static uint64_t bytes_of(const struct host *host, unsigned threads, enum memory_level level)
{
    struct working_set set;
    struct status status = working_set_of(&set, &host->machine, host->ids, threads, level);
    return status.code == STATUS_OK ? set.bytes : 0;
}

static void this_kind_of_machine(void **state)
{
    (void)state;
    struct host host;
    make_host(&host, 2, false, 32 * KIB, MIB, 32 * MIB, 2); // Zen 4 guest
    assert_int_equal(bytes_of(&host, 2, LEVEL_L1), 32 * KIB);
    assert_int_equal(bytes_of(&host, 1, LEVEL_L1), 16 * KIB);
    assert_int_equal(bytes_of(&host, 2, LEVEL_L2), MIB);
    assert_int_equal(bytes_of(&host, 2, LEVEL_L3), 16 * MIB);
    assert_int_equal(bytes_of(&host, 1, LEVEL_L3), 16 * MIB);
    assert_int_equal(bytes_of(&host, 2, LEVEL_DRAM), 128 * MIB);
    make_host(&host, 2, false, 48 * KIB, 2 * MIB, 260 * MIB, 2); // Emerald Rapids guest
    assert_int_equal(bytes_of(&host, 2, LEVEL_L1), 48 * KIB);
    assert_int_equal(bytes_of(&host, 2, LEVEL_DRAM), 1040 * MIB);
}

static void shared_and_several(void **state)
{
    (void)state;
    struct host host;
    make_host(&host, 16, true, 32 * KIB, 512 * KIB, 32 * MIB, 16); // two chiplets with SMT
    assert_int_equal(bytes_of(&host, 16, LEVEL_L1), 16 * 16 * KIB);
    assert_int_equal(bytes_of(&host, 8, LEVEL_L3), 16 * MIB);
    assert_int_equal(bytes_of(&host, 16, LEVEL_L3), 32 * MIB);
    assert_int_equal(bytes_of(&host, 16, LEVEL_DRAM), 256 * MIB);
    unsigned siblings[] = {0, 1};
    struct working_set set;
    ASSERT_OK(working_set_of(&set, &host.machine, siblings, 2, LEVEL_L1));
    assert_int_equal(set.bytes, 16 * KIB); // two threads of one core have one L1
}

static void levels_stay_apart(void **state)
{
    (void)state;
    struct host host;
    struct working_set set;
    make_host(&host, 28, false, 32 * KIB, MIB, 38 * MIB + 512 * KIB, 28); // Skylake-SP
    assert_int_equal(bytes_of(&host, 1, LEVEL_L3), 19 * MIB + 256 * KIB);
    struct status status = working_set_of(&set, &host.machine, host.ids, 28, LEVEL_L3);
    assert_int_equal(status.code, STATUS_UNAVAILABLE); // 19 MiB of L3 against 28 of L2
    assert_non_null(strstr(status.detail, "L2"));
    make_host(&host, 4, false, 32 * KIB, 2 * MIB, 0, 1);
    assert_int_equal(bytes_of(&host, 4, LEVEL_L3), 0);
    assert_int_equal(bytes_of(&host, 4, LEVEL_DRAM), 32 * MIB);
}

static void plateau_lies_between(void **state)
{
    (void)state;
    struct host host;
    make_host(&host, 2, false, 32 * KIB, MIB, 32 * MIB, 2);
    for (unsigned level = LEVEL_L1; level <= LEVEL_L3; level++) {
        struct working_set set;
        ASSERT_OK(working_set_of(&set, &host.machine, host.ids, 2, (enum memory_level)level));
        uint64_t inside =
            level == LEVEL_L1 ? 0 : bytes_of(&host, 2, (enum memory_level)(level - 1));
        assert_true(set.plateau_bytes < set.bytes);
        assert_true(set.plateau_bytes > inside);
    }
    struct working_set set;
    ASSERT_OK(working_set_of(&set, &host.machine, host.ids, 2, LEVEL_DRAM));
    assert_int_equal(set.plateau_bytes, 0);
}

static void untold_and_absurd(void **state)
{
    (void)state;
    struct host host;
    struct working_set set;
    make_host(&host, 2, false, 32 * KIB, MIB, 32 * MIB, 2);
    host.machine.caches[3].bytes = 0;
    host.machine.llc_total_bytes = 0;
    assert_int_equal(bytes_of(&host, 2, LEVEL_L2), MIB);
    assert_int_equal(working_set_of(&set, &host.machine, host.ids, 2, LEVEL_L3).code,
                     STATUS_UNAVAILABLE);
    assert_int_equal(working_set_of(&set, &host.machine, host.ids, 2, LEVEL_DRAM).code,
                     STATUS_UNAVAILABLE);
    make_host(&host, 2, false, 16 * MIB, MIB, 32 * MIB, 2); // an L1 larger than the L2
    assert_int_equal(bytes_of(&host, 2, LEVEL_L1), 0);
    assert_int_equal(bytes_of(&host, 2, LEVEL_L2), 0);
    host.machine.cache_count = 0;
    assert_int_equal(bytes_of(&host, 2, LEVEL_L1), 0);
}

static void names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LEVEL_COUNT; i++) {
        enum memory_level level = LEVEL_COUNT;
        assert_true(memory_level_of_name(&level, memory_level_name((enum memory_level)i)));
        assert_int_equal(level, i);
    }
    enum memory_level level = LEVEL_L1;
    assert_false(memory_level_of_name(&level, "L4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_kind_of_machine), cmocka_unit_test(shared_and_several),
        cmocka_unit_test(levels_stay_apart),    cmocka_unit_test(plateau_lies_between),
        cmocka_unit_test(untold_and_absurd),    cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
