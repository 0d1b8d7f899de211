#include "profiler/doctor.h"
#include "profiler/doctor_facts.h"
#include "tests/test.h"

#include <limits.h>
#include <stdlib.h>

static struct machine healthy_machine(void)
{
    return (struct machine){.usable_count = 8,
                            .pus = 8,
                            .cores = 8,
                            .usable_cores = 8,
                            .cache_count = 3,
                            .llc_total_bytes = 1 << 25,
                            .thp = "madvise",
                            .numa_nodes = 2,
                            .governor = "performance"};
}

static const struct blas_facts healthy_blas = {
    .path = "libopenblas.so.0", .core = "SkylakeX", .core_of_its_own = "SkylakeX", .openmp = true};

static struct doctor_facts healthy(const struct machine *machine)
{
    return (struct doctor_facts){
        .machine = machine, .blas = &healthy_blas, .threads = 8, .perf_event_paranoid = 2};
}

static size_t examine(struct result_run *run, const struct doctor_facts *facts, const char *code)
{
    memset(run, 0, sizeof *run);
    doctor_examine(run, facts);
    size_t found = 0;
    for (size_t i = 0; i < run->warning_count; i++) {
        found += strcmp(run->warnings[i].code, code) == 0 ? 1 : 0;
    }
    return found;
}

static void a_healthy_machine_has_no_findings(void **state)
{
    (void)state;
    struct machine machine = healthy_machine();
    struct doctor_facts facts = healthy(&machine);
    struct result_run run;
    assert_int_equal(examine(&run, &facts, ""), 0);
    assert_int_equal(run.warning_count, 0);
    facts.perf_event_paranoid = INT_MIN; // unknown is not blocked
    (void)examine(&run, &facts, "");
    assert_int_equal(run.warning_count, 0);
}

// Makes one thing wrong and expects exactly its finding, with something to try.
static void expect_only(const struct doctor_facts *facts, const char *code)
{
    struct result_run run;
    size_t found = examine(&run, facts, code);
    if (found != 1 || run.warning_count != 1) {
        fail_msg("%s: found %zu times among %zu warnings", code, found, run.warning_count);
    }
    assert_true(run.warnings[0].text[0] != '\0' && run.warnings[0].try_[0] != '\0');
    result_run_free(&run);
}

static void each_fault_is_one_finding(void **state)
{
    (void)state;
    struct machine machine = healthy_machine();
    struct doctor_facts facts = healthy(&machine);
    machine.cpu_quota_cores = 1.5;
    expect_only(&facts, "cpu_quota");
    machine = healthy_machine();
    (void)snprintf(machine.thp, sizeof machine.thp, "never");
    expect_only(&facts, "thp_off");
    machine = healthy_machine();
    machine.numa_balancing = 1;
    expect_only(&facts, "numa_balancing");
    machine = healthy_machine();
    (void)snprintf(machine.governor, sizeof machine.governor, "powersave");
    expect_only(&facts, "governor");
    machine = healthy_machine();
    machine.cache_count = 0;
    machine.llc_total_bytes = 0;
    expect_only(&facts, "caches_hidden");
    machine = healthy_machine();
    machine.limits_hidden = true;
    expect_only(&facts, "limits_hidden");
    machine = healthy_machine();
    machine.usable_count = 4;
    expect_only(&facts, "cpus_hidden");
    machine = healthy_machine();
    machine.smt = true;
    machine.pus = 16;
    machine.usable_count = 16;
    facts.threads = 16;
    expect_only(&facts, "smt_siblings");
    machine = healthy_machine();
    facts = healthy(&machine);
    facts.perf_event_paranoid = 3;
    expect_only(&facts, "counters_blocked");
}

static void the_library_is_examined(void **state)
{
    (void)state;
    struct machine machine = healthy_machine();
    struct doctor_facts facts = healthy(&machine);
    struct blas_facts blas = healthy_blas;
    facts.blas = &blas;
    blas.core = "Prescott";
    blas.core_is_poor = true;
    expect_only(&facts, "blas_core");
    blas = healthy_blas;
    blas.core_was_set = true;
    blas.core_of_its_own = "Prescott";
    expect_only(&facts, "blas_core_chosen");
    blas = healthy_blas;
    blas.openmp = false;
    expect_only(&facts, "blas_build");
    facts.blas = NULL;
    facts.blas_absent = "no OpenBLAS found";
    expect_only(&facts, "blas_missing");
}

// A memory device (type 17) of 0x22 bytes and one string.
static size_t put_module(unsigned char *at, unsigned size, unsigned rated, unsigned configured)
{
    enum { LENGTH = 0x22 };
    memset(at, 0, LENGTH);
    at[0] = 17;
    at[1] = LENGTH;
    at[0x0c] = (unsigned char)size;
    at[0x0d] = (unsigned char)(size >> 8);
    at[0x15] = (unsigned char)rated;
    at[0x16] = (unsigned char)(rated >> 8);
    at[0x20] = (unsigned char)configured;
    at[0x21] = (unsigned char)(configured >> 8);
    memcpy(at + LENGTH, "DIMM_A\0", 8);
    return LENGTH + 8;
}

static void modules_from_the_firmware_table(void **state)
{
    (void)state;
    unsigned char table[256];
    size_t size = put_module(table, 0x4000, 4800, 4800);
    size += put_module(table + size, 0x4000, 4800, 4400);
    size += put_module(table + size, 0, 0, 0);
    struct doctor_facts facts = {.memory_slots = 0};
    doctor_facts_from_smbios(&facts, table, size);
    assert_int_equal(facts.memory_slots, 3);
    assert_int_equal(facts.memory_slots_used, 2);
    ASSERT_CLOSE(facts.memory_mt_per_s, 4400, 1e-12);
    ASSERT_CLOSE(facts.memory_mt_per_s_rated, 4800, 1e-12);
    struct machine machine = healthy_machine();
    struct doctor_facts all = healthy(&machine);
    all.memory_slots = 3;
    all.memory_slots_used = 2;
    expect_only(&all, "memory_slots");
    all.memory_slots = 2;
    all.memory_mt_per_s = 4400;
    all.memory_mt_per_s_rated = 4800;
    expect_only(&all, "memory_speed");
}

static void a_broken_table_ends_the_reading(void **state)
{
    (void)state;
    unsigned char table[64];
    size_t size = put_module(table, 0x4000, 4800, 4800);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *exact = malloc(cut + 1);
        assert_non_null(exact);
        memcpy(exact, table, cut);
        struct doctor_facts facts = {.memory_slots = 0};
        doctor_facts_from_smbios(&facts, exact, cut); // under ASan: no byte beyond
        assert_true(facts.memory_slots <= 1);
        free(exact);
    }
    table[1] = 2; // a structure shorter than its own head
    struct doctor_facts facts = {.memory_slots = 0};
    doctor_facts_from_smbios(&facts, table, size);
    assert_int_equal(facts.memory_slots, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_machine_has_no_findings),
        cmocka_unit_test(each_fault_is_one_finding),
        cmocka_unit_test(the_library_is_examined),
        cmocka_unit_test(modules_from_the_firmware_table),
        cmocka_unit_test(a_broken_table_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
