// Instances laid through a small arena on this host's cpus.
#include "profiler/clock.h"
#include "profiler/rotation.h"
#include "tests/test.h"

#include <sched.h>
#include <stdlib.h>

enum { ARENA = 8 << 20, N = 256, K = 512, INSTANCE = N * K * 2 };

struct fixture {
    struct team *team;
    struct arena arena;
    struct work *work;
    unsigned threads;
    unsigned starts;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    unsigned cpus[2];
    cpu_set_t mask;
    if (f == NULL || sched_getaffinity(0, sizeof mask, &mask) != 0) {
        return -1;
    }
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && f->threads < 2; cpu++) {
        if (CPU_ISSET(cpu, &mask)) {
            cpus[f->threads++] = cpu;
        }
    }
    const struct linear_params params = {.format = LINE_BF16,
                                         .class_ = LINEAR_FMA,
                                         .isa = isa_detect(),
                                         .n = N,
                                         .k = K,
                                         .threads = f->threads};
    bool made = status_is_ok(team_create(&f->team, cpus, f->threads)) &&
                status_is_ok(arena_map(&f->arena, ARENA, true)) &&
                status_is_ok(work_linear(&f->work, &params, 1));
    if (made) {
        rotation_fill(f->team, &f->arena, &(struct limit){.signal = NULL});
    }
    *state = f;
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    work_destroy(f->work);
    arena_unmap(&f->arena);
    team_destroy(f->team);
    free(f);
    return 0;
}

static void instances_fill_what_is_asked(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 10 * INSTANCE));
    assert_int_equal(r.instances, 10);
    assert_int_equal(rotation_bytes(&r), 10 * INSTANCE);
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 1));
    assert_int_equal(r.instances, 1); // at least one
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, (uint64_t)1 << 40));
    assert_int_equal(r.instances, ARENA / INSTANCE); // no more than fit
    assert_true(r.instances * r.step_bytes <= r.share_bytes);
    assert_true(f->threads * r.share_bytes <= f->arena.bytes);
}

static void an_instance_larger_than_the_arena_is_refused(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    struct arena small = f->arena;
    small.bytes = INSTANCE / 2;
    assert_int_equal(rotation_create(&r, f->team, &small, f->work, INSTANCE).code,
                     STATUS_UNAVAILABLE);
}

static void the_cursor_walks_around(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    struct team_sample timing;
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 5 * INSTANCE));
    r.per_sample = 3;
    for (unsigned i = 1; i <= 7; i++) {
        double seconds = rotation_sample(&timing, &r, LINEAR_FULL);
        ASSERT_CLOSE(seconds, timing.seconds / 3, 1e-12);
        assert_int_equal(r.cursor, 3 * i % 5);
    }
}

static void a_sample_is_a_fresh_stretch(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 8 * INSTANCE));
    rotation_calibrate(&r, 4 * INSTANCE, 1e-9);
    assert_true(r.per_sample >= 1 && r.per_sample <= 4); // fewer where one takes long
    rotation_calibrate(&r, 1000 * INSTANCE, 1e-9);
    assert_true(r.per_sample >= 1 && r.per_sample <= 8); // not longer than the rotation
    rotation_calibrate(&r, 1, 1e9);                      // as long as asked for, within reason
    assert_int_equal(r.per_sample, 1000000);
}

static void results_are_right_in_place(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 4 * INSTANCE));
    double error = rotation_check(&r, 64);
    assert_true(error >= 0 && error <= work_tolerance(f->work));
}

static void count_start(void *context, unsigned thread)
{
    struct fixture *f = context;
    if (thread == 0) { // the others' sums would be a race
        f->starts++;
    }
}

static void count_nothing(void *context, unsigned thread)
{
    (void)context;
    (void)thread;
}

static void a_probed_sample_tells_its_instances(void **state)
{
    struct fixture *f = *state;
    struct rotation r;
    struct team_sample timing;
    uint64_t instances = 0;
    ASSERT_OK(rotation_create(&r, f->team, &f->arena, f->work, 4 * INSTANCE));
    r.per_sample = 3;
    double seconds = rotation_sample_probed(&timing, &instances, &r,
                                            (struct team_probe){count_start, count_nothing, f});
    assert_int_equal(instances, 3);
    assert_int_equal(f->starts, 1);
    ASSERT_CLOSE(seconds, timing.seconds / 3, 1e-12);
}

static void a_signal_ends_the_filling(void **state)
{
    struct fixture *f = *state;
    const volatile sig_atomic_t signal = SIGINT;
    memset(f->arena.base, 0, f->arena.bytes);
    const struct limit signalled = {.signal = &signal};
    const struct limit late = {.until_seconds = clock_seconds() - 1}; // so does a time that is past
    rotation_fill(f->team, &f->arena, &signalled);
    rotation_fill(f->team, &f->arena, &late);
    for (size_t i = 0; i < f->arena.bytes; i++) {
        assert_int_equal(f->arena.base[i], 0);
    }
}

static void works_that_take_turns_read_on(void **state)
{
    struct fixture *f = *state;
    struct rotation a;
    struct rotation b;
    struct team_sample timing;
    uint64_t offset = 0;
    ASSERT_OK(rotation_create(&a, f->team, &f->arena, f->work, ARENA));
    b = a;
    a.per_sample = 2;
    b.per_sample = 3;
    assert_true(rotation_sample_on(&timing, &a, &offset) > 0);
    assert_int_equal(offset, 2 * a.step_bytes);
    assert_true(rotation_sample_on(&timing, &b, &offset) > 0);
    assert_int_equal(b.cursor, 5); // behind what a had read, not from its own beginning
    offset = (a.instances + 1) * a.step_bytes;
    assert_true(rotation_sample_on(&timing, &a, &offset) > 0);
    assert_int_equal(a.cursor, 3); // round the end
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(instances_fill_what_is_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_instance_larger_than_the_arena_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_cursor_walks_around, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sample_is_a_fresh_stretch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_are_right_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_probed_sample_tells_its_instances, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_signal_ends_the_filling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(works_that_take_turns_read_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
