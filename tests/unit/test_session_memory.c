// The arena of a session on NUMA nodes: of this machine, and of machines that are made up.
#include "profiler/session_memory.h"
#include "tests/test.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { BYTES = 4 << 20 };

// One thread of this machine.
static void open_session(struct session *s, enum session_numa numa)
{
    const struct session_options options = {.threads = 1, .numa = numa};
    ASSERT_OK(session_open(s, &options));
}

static void words(void **state)
{
    (void)state;
    enum session_numa numa = SESSION_LOCAL;
    for (int i = SESSION_LOCAL; i <= SESSION_REPLICATE; i++) {
        assert_true(session_numa_find(&numa, session_numa_name((enum session_numa)i)));
        assert_int_equal(numa, i);
    }
    assert_false(session_numa_find(&numa, "remote"));
}

static void memory_lies_as_asked(void **state)
{
    (void)state;
    for (int i = SESSION_LOCAL; i <= SESSION_REPLICATE; i++) {
        struct session s;
        open_session(&s, (enum session_numa)i);
        assert_int_equal(session_memory_copies(&s), 1); // one thread, one node
        ASSERT_OK(session_memory_map(&s, BYTES));
        assert_string_equal(arena_placement(&s.arena), session_numa_name((enum session_numa)i));
        memset(s.arena.base, 1, s.arena.bytes);
        ASSERT_OK(session_memory_check(&s));
        session_close(&s);
    }
}

// Threads that read copies of their own: shares lie at the same place in each.
static void copies_by_thread(void **state)
{
    (void)state;
    static const unsigned copy_of[] = {0, 2, 0};
    struct arena arena;
    ASSERT_OK(arena_map_copies(&arena, BYTES, 3, false));
    assert_ptr_equal(arena_share(&arena, 1, 64), arena.base + 64);
    arena.copy_of = copy_of;
    assert_ptr_equal(arena_share(&arena, 1, 64), arena.base + 2 * arena.bytes + 64);
    assert_ptr_equal(arena_share(&arena, 2, 64), arena.base + 128);
    memset(arena.base, 1, 3 * arena.bytes); // all of them are mapped
    arena_unmap(&arena);
    assert_int_equal(arena_map_copies(&arena, SIZE_MAX / 2, 3, false).code, STATUS_INVALID);
}

// "Cannot allocate memory" does not tell whose limit it was.
static void a_limit_of_address_space_is_named(void **state)
{
    (void)state;
    struct rlimit before;
    struct arena arena;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit small = {.rlim_cur = (rlim_t)64 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    struct status status = arena_map(&arena, (size_t)1 << 30, false);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status.code, STATUS_SYSTEM);
    assert_non_null(strstr(status.detail, "limited to 64 MiB (RLIMIT_AS); try ulimit -v"));
}

// A machine of two nodes that this one is not: node numbers beyond any.
static struct session made_up(struct machine_cpu cpus[4], unsigned chosen[2], uint64_t available)
{
    for (unsigned i = 0; i < 4; i++) {
        cpus[i] = (struct machine_cpu){.os_index = i, .core = i, .node = MACHINE_NODES_MAX - i % 2};
    }
    return (struct session){.options = {.numa = SESSION_REPLICATE},
                            .machine = {.usable = cpus,
                                        .usable_count = 4,
                                        .usable_cores = 4,
                                        .memory_available_bytes = available},
                            .cpus = chosen,
                            .threads = 2};
}

static void every_node_with_threads_has_a_copy(void **state)
{
    (void)state;
    struct machine_cpu cpus[4];
    unsigned both[2] = {0, 1};
    unsigned one[2] = {1, 3};
    struct session s = made_up(cpus, both, (uint64_t)1 << 40);
    assert_int_equal(session_memory_copies(&s), 2);
    s.options.numa = SESSION_INTERLEAVE;
    assert_int_equal(session_memory_copies(&s), 1);
    s = made_up(cpus, one, (uint64_t)1 << 40);
    assert_int_equal(session_memory_copies(&s), 1);
}

static void too_little_memory_is_told_before(void **state)
{
    (void)state;
    struct machine_cpu cpus[4];
    unsigned both[2] = {0, 1};
    struct session s = made_up(cpus, both, 3 * (uint64_t)BYTES / 2);
    struct status status = session_memory_map(&s, BYTES);
    assert_int_equal(status.code, STATUS_UNAVAILABLE);
    assert_non_null(strstr(status.detail, "4 MiB of memory on each of 2 nodes"));
    assert_non_null(strstr(status.detail, "6 MiB are available"));
    assert_null(s.arena.base);
}

static void nodes_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct machine_cpu cpus[4];
    unsigned both[2] = {0, 1};
    struct session s = made_up(cpus, both, (uint64_t)1 << 40);
    struct status status = session_memory_map(&s, BYTES);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "--numa replicate: there is no NUMA node"));
    arena_unmap(&s.arena);
    free(s.copy_of);
}

static void notes_where_it_means_nothing(void **state)
{
    (void)state;
    struct machine_cpu cpus[4];
    unsigned both[2] = {0, 1};
    struct session s = made_up(cpus, both, 0);
    struct result_run run = {.points = NULL};
    session_memory_note(&run, &s);
    assert_int_equal(run.warning_count, 0); // two nodes
    for (int i = 0; i < 4; i++) {
        cpus[i].node = 0;
    }
    s.options.smt = true;
    session_memory_note(&run, &s);
    assert_int_equal(run.warning_count, 2);
    assert_string_equal(run.warnings[0].code, "one_node");
    assert_string_equal(run.warnings[1].code, "no_smt");
    result_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(memory_lies_as_asked),
        cmocka_unit_test(copies_by_thread),
        cmocka_unit_test(a_limit_of_address_space_is_named),
        cmocka_unit_test(every_node_with_threads_has_a_copy),
        cmocka_unit_test(too_little_memory_is_told_before),
        cmocka_unit_test(nodes_that_are_not_there_are_refused),
        cmocka_unit_test(notes_where_it_means_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
