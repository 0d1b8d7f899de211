#include "machines/bind.h"
#include "machines/detect.h"
#include "tests/test.h"

#include <sched.h>
#include <sys/mman.h>

static void order_fails_unless(const struct machine *machine, bool smt, const unsigned *want,
                               size_t n, int line)
{
    unsigned order[64];
    size_t got = bind_order(order, machine, smt);
    if (got != n || memcmp(order, want, n * sizeof *want) != 0) {
        for (size_t i = 0; i < got; i++) {
            print_message("%u ", order[i]);
        }
        fail_msg("line %d: another order of %zu", line, got);
    }
}

static void fast_cores_first_then_siblings(void **state)
{
    (void)state;
    struct machine machine;
    ASSERT_OK(machine_detect_xml(&machine, TESTS_DIR "/machines/hybrid-hbm.xml"));
    static const unsigned cores[] = {0, 2, 4, 5, 6, 7};
    static const unsigned all[] = {0, 2, 4, 5, 6, 7, 1, 3};
    order_fails_unless(&machine, false, cores, 6, __LINE__);
    order_fails_unless(&machine, true, all, 8, __LINE__);
    machine_free(&machine);
}

static void nodes_take_turns(void **state)
{
    (void)state;
    struct machine machine;
    unsigned order[64];
    ASSERT_OK(machine_detect_xml(&machine,
                                 TESTS_DIR "/machines/40intel64-2g2n4c+pcilocality.hwloc29.xml"));
    assert_int_equal(bind_order(order, &machine, true), 40);
    // In this machine cpu i lies in node i mod 4: each four in a row cover the four nodes.
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(order[i] % 4, i % 4);
    }
    machine_free(&machine);
}

static void never_more_than_usable(void **state)
{
    (void)state;
    struct machine_cpu cpus[] = {{.os_index = 4}, {.os_index = 12, .smt_index = 1}};
    struct machine machine = {.usable = cpus, .usable_count = 2, .usable_cores = 1};
    unsigned chosen[2] = {0, 0};
    assert_int_equal(bind_choose(chosen, &machine, 0, true).code, STATUS_INVALID);
    assert_int_equal(bind_choose(chosen, &machine, 3, true).code, STATUS_INVALID);
    struct status status = bind_choose(chosen, &machine, 2, false);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "accepted 1 to 1"));
    ASSERT_OK(bind_choose(chosen, &machine, 2, true));
    assert_int_equal(chosen[0], 4);
    assert_int_equal(chosen[1], 12);
}

static void a_bound_thread_runs_where_it_should(void **state)
{
    (void)state;
    struct machine machine;
    struct binder *binder = NULL;
    cpu_set_t old;
    assert_int_equal(sched_getaffinity(0, sizeof old, &old), 0);
    ASSERT_OK(machine_detect(&machine));
    ASSERT_OK(binder_create(&binder));
    for (size_t i = 0; i < machine.usable_count; i++) {
        unsigned cpu = machine.usable[i].os_index;
        cpu_set_t now;
        ASSERT_OK(bind_thread(binder, cpu));
        assert_int_equal(sched_getcpu(), cpu);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_int_equal(CPU_COUNT(&now), 1);
    }
    struct status status = bind_thread(binder, MACHINE_CPUS_MAX - 1);
    (void)sched_setaffinity(0, sizeof old, &old);
    assert_int_equal(status.code, STATUS_UNAVAILABLE);
    assert_non_null(strstr(status.detail, "4095"));
    binder_destroy(binder);
    machine_free(&machine);
}

static void memory_lies_where_it_was_asked(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct machine machine;
    struct binder *binder = NULL;
    ASSERT_OK(machine_detect(&machine));
    ASSERT_OK(binder_create(&binder));
    unsigned node = machine.usable[0].node;
    unsigned nowhere = MACHINE_NODES_MAX + 1;
    unsigned char *block =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(block, MAP_FAILED);
    unsigned found[4];
    size_t count = 9;
    static const enum bind_placement placements[] = {BIND_INTERLEAVE, BIND_ON_NODES};
    for (size_t i = 0; i < 2; i++) {
        ASSERT_OK(bind_memory(binder, block + 100, BYTES - 100, placements[i], &node, 1));
    }
    assert_int_equal(bind_memory(binder, block, BYTES, BIND_ON_NODES, &nowhere, 1).code,
                     STATUS_INVALID);
    assert_int_equal(bind_memory(binder, block, BYTES, BIND_INTERLEAVE, NULL, 0).code,
                     STATUS_INVALID);
    memset(block, 1, BYTES);
    struct status status = bind_nodes_of(found, &count, 4, binder, block, BYTES);
    if (status.code == STATUS_OK) { // a sandbox may forbid move_pages(2)
        assert_int_equal(count, 1);
        assert_int_equal(found[0], node);
    }
    ASSERT_OK(bind_memory(binder, block, BYTES, BIND_FIRST_TOUCH, NULL, 0));
    (void)munmap(block, BYTES);
    binder_destroy(binder);
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_cores_first_then_siblings),
        cmocka_unit_test(nodes_take_turns),
        cmocka_unit_test(never_more_than_usable),
        cmocka_unit_test(a_bound_thread_runs_where_it_should),
        cmocka_unit_test(memory_lies_where_it_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
