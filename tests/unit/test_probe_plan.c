// Where a probe would measure on machines that are not here.
#include "machines/detect.h"
#include "profiler/probe_plan.h"
#include "profiler/working_set.h"
#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

static const struct probe_options full = {.levels = {true, true, true, true}};
static const struct probe_options quick = {.quick = true, .levels = {true, true, true, true}};

static void load(struct machine *out, const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/machines/%s", TESTS_DIR, name);
    ASSERT_OK(machine_detect_xml(out, path));
    out->memory_available_bytes = (uint64_t)1 << 36; // XML does not tell
}

static size_t count_kind(const struct probe_plan *plan, enum probe_task_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->task_count; i++) {
        count += plan->tasks[i].kind == kind ? 1 : 0;
    }
    return count;
}

static const struct probe_task *nth(const struct probe_plan *plan, enum probe_task_kind kind,
                                    size_t n)
{
    for (size_t i = 0; i < plan->task_count; i++) {
        if (plan->tasks[i].kind == kind && n-- == 0) {
            return &plan->tasks[i];
        }
    }
    fail_msg("no task %zu of kind %d", n, (int)kind);
    abort(); // fail_msg() does not return, which the compiler does not know
}

static const struct machine_cpu *find(const struct machine *machine, unsigned os_index)
{
    for (size_t i = 0; i < machine->usable_count; i++) {
        if (machine->usable[i].os_index == os_index) {
            return &machine->usable[i];
        }
    }
    fail_msg("cpu %u is not usable", os_index);
    abort(); // fail_msg() does not return, which the compiler does not know
}

// No cpu twice; every one usable; one per core if so.
static void assert_cpus(const struct machine *machine, const struct probe_plan *plan,
                        const struct probe_task *task, bool one_per_core)
{
    const unsigned *cpus = probe_plan_cpus(plan, task);
    for (unsigned i = 0; i < task->threads; i++) {
        const struct machine_cpu *cpu = find(machine, cpus[i]);
        for (unsigned j = 0; j < i; j++) {
            assert_int_not_equal(cpus[i], cpus[j]);
            assert_true(!one_per_core || find(machine, cpus[j])->core != cpu->core);
        }
    }
}

static void two_sockets_with_smt(void **state)
{
    (void)state;
    struct machine machine;
    struct probe_plan plan;
    struct working_set set;
    load(&machine, "32em64t-2n8c2t-pci-noio.xml"); // 2 nodes x 8 cores x 2 threads, 20 MiB each
    ASSERT_OK(probe_plan_make(&plan, &machine, &full, true));
    assert_int_equal(count_kind(&plan, PROBE_TEAM), 2);
    assert_int_equal(nth(&plan, PROBE_TEAM, 0)->threads, 16);
    assert_int_equal(nth(&plan, PROBE_TEAM, 1)->threads, 1);
    assert_cpus(&machine, &plan, nth(&plan, PROBE_TEAM, 0), true);
    assert_int_equal(count_kind(&plan, PROBE_TEAM_BRIEF), 1); // the siblings too
    assert_int_equal(nth(&plan, PROBE_TEAM_BRIEF, 0)->threads, 32);
    assert_cpus(&machine, &plan, nth(&plan, PROBE_TEAM_BRIEF, 0), false);
    assert_int_equal(count_kind(&plan, PROBE_SCALING), 16);
    for (unsigned n = 1; n <= 16; n++) {
        assert_int_equal(nth(&plan, PROBE_SCALING, n - 1)->threads, n);
        assert_cpus(&machine, &plan, nth(&plan, PROBE_SCALING, n - 1), true);
    }
    assert_int_equal(count_kind(&plan, PROBE_PAIR), 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct probe_task *pair = nth(&plan, PROBE_PAIR, i);
        assert_int_equal(pair->from, i / 2);
        assert_int_equal(pair->to, i % 2);
        assert_int_equal(pair->threads, 8);
        for (unsigned t = 0; t < pair->threads; t++) {
            assert_int_equal(find(&machine, probe_plan_cpus(&plan, pair)[t])->node, pair->from);
        }
    }
    const struct probe_task *all = nth(&plan, PROBE_TEAM, 0);
    ASSERT_OK(working_set_of(&set, &machine, probe_plan_cpus(&plan, all), 16, LEVEL_DRAM));
    assert_int_equal(set.bytes, (uint64_t)4 * 2 * 20 << 20);
    ASSERT_OK(working_set_of(&set, &machine, probe_plan_cpus(&plan, all), 16, LEVEL_L3));
    assert_int_equal(set.bytes, (uint64_t)20 << 20); // half of both
    probe_plan_free(&plan);
    machine_free(&machine);
}

static void four_sockets_without_smt(void **state)
{
    (void)state;
    struct machine machine;
    struct probe_plan plan;
    load(&machine, "40intel64-2g2n4c+pcilocality.hwloc29.xml"); // 4 nodes x 10 cores
    ASSERT_OK(probe_plan_make(&plan, &machine, &full, true));
    assert_int_equal(nth(&plan, PROBE_TEAM, 0)->threads, 40);
    assert_int_equal(count_kind(&plan, PROBE_TEAM_BRIEF), 0);
    assert_int_equal(count_kind(&plan, PROBE_PAIR), 16);
    size_t points = count_kind(&plan, PROBE_SCALING);
    assert_true(points >= 16 && points < 40);
    assert_int_equal(nth(&plan, PROBE_SCALING, points - 1)->threads, 40); // the curve has its end
    machine.cpu_quota_cores = 6.5;
    probe_plan_free(&plan);
    ASSERT_OK(probe_plan_make(&plan, &machine, &full, true));
    for (size_t i = 0; i < plan.task_count; i++) {
        assert_true(plan.tasks[i].threads <= 6); // nobody is stopped in the middle
    }
    probe_plan_free(&plan);
    machine_free(&machine);
}

static void kinds_of_cores_and_memory_without_cpus(void **state)
{
    (void)state;
    struct machine machine;
    struct probe_plan plan;
    load(&machine, "hybrid-hbm.xml"); // 2 P cores with SMT, 4 E cores, DRAM and HBM
    ASSERT_OK(probe_plan_make(&plan, &machine, &full, true));
    assert_int_equal(nth(&plan, PROBE_TEAM, 0)->threads, 6);
    assert_int_equal(count_kind(&plan, PROBE_TEAM_BRIEF), 3); // all 8 threads, and each kind
    assert_int_equal(nth(&plan, PROBE_TEAM_BRIEF, 0)->threads, 8);
    for (unsigned i = 1; i < 3; i++) {
        const struct probe_task *task = nth(&plan, PROBE_TEAM_BRIEF, i);
        unsigned kind = find(&machine, probe_plan_cpus(&plan, task)[0])->kind;
        assert_int_equal(task->threads, machine.core_kinds[kind].cores);
        for (unsigned t = 0; t < task->threads; t++) {
            assert_int_equal(find(&machine, probe_plan_cpus(&plan, task)[t])->kind, kind);
        }
    }
    // The HBM node has no cpus of its own: it is read from the node that has.
    assert_int_equal(count_kind(&plan, PROBE_PAIR), 2);
    assert_int_equal(nth(&plan, PROBE_PAIR, 0)->from, 0);
    assert_int_equal(nth(&plan, PROBE_PAIR, 0)->to, 0);
    assert_int_equal(nth(&plan, PROBE_PAIR, 1)->from, 0);
    assert_int_equal(nth(&plan, PROBE_PAIR, 1)->to, 1);
    probe_plan_free(&plan);
    machine_free(&machine);
}

static void quick_and_lists(void **state)
{
    (void)state;
    struct machine machine;
    struct probe_plan plan;
    load(&machine, "32em64t-2n8c2t-pci-noio.xml");
    ASSERT_OK(probe_plan_make(&plan, &machine, &quick, true));
    assert_int_equal(plan.task_count, 1);
    assert_int_equal(plan.tasks[0].threads, 16);
    probe_plan_free(&plan);
    struct probe_options options = full;
    options.threads[0] = 3;
    options.threads[1] = 20;
    options.thread_count = 2;
    ASSERT_OK(probe_plan_make(&plan, &machine, &options, false));
    assert_int_equal(plan.task_count, 2); // no curve and no pairs without memory
    assert_int_equal(plan.tasks[0].threads, 3);
    assert_cpus(&machine, &plan, &plan.tasks[0], true);
    assert_int_equal(plan.tasks[1].threads, 20); // 16 cores, and four siblings
    probe_plan_free(&plan);
    options.threads[1] = 33;
    struct status status = probe_plan_make(&plan, &machine, &options, true);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "1..32"));
    assert_null(plan.tasks);
    machine_free(&machine);
}

// hybrid-hbm.xml with another size of its L3.
static void with_l3(struct machine *out, const char *bytes)
{
    char command[1024];
    char path[] = "/tmp/lmroof-l3-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)snprintf(
        command, sizeof command,
        "sed 's/cache_size=\"12582912\"/cache_size=\"%s\"/' '%s/machines/hybrid-hbm.xml' "
        "> %s",
        bytes, TESTS_DIR, path);
    assert_int_equal(system(command), 0);
    struct status status = machine_detect_xml(out, path);
    (void)close(fd);
    (void)unlink(path);
    ASSERT_OK(status);
}

static void hidden_and_absurd_caches_are_seen(void **state)
{
    (void)state;
    struct machine machine;
    char why[128];
    load(&machine, "2arm-2c.hwloc29.xml"); // a board that tells no caches
    assert_false(working_set_sizes_sane(why, sizeof why, &machine));
    assert_non_null(strstr(why, "no last-level cache"));
    machine_free(&machine);
    with_l3(&machine, "1099511627776");
    assert_false(working_set_sizes_sane(why, sizeof why, &machine));
    assert_non_null(strstr(why, "absurd L3"));
    machine_free(&machine);
    with_l3(&machine, "65536"); // less than the L2 inside
    assert_false(working_set_sizes_sane(why, sizeof why, &machine));
    machine_free(&machine);
    with_l3(&machine, "33554432");
    assert_true(working_set_sizes_sane(why, sizeof why, &machine));
    assert_string_equal(why, "");
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sockets_with_smt),
        cmocka_unit_test(four_sockets_without_smt),
        cmocka_unit_test(kinds_of_cores_and_memory_without_cpus),
        cmocka_unit_test(quick_and_lists),
        cmocka_unit_test(hidden_and_absurd_caches_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
