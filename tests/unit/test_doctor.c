#include "profiler/doctor.h"
#include "tests/test.h"

#include <limits.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_machine_has_no_findings),
        cmocka_unit_test(each_fault_is_one_finding),
        cmocka_unit_test(the_library_is_examined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
