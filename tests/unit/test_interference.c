#include "profiler/interference.h"
#include "tests/fakeroot.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static int make(void **state)
{
    struct fakeroot *root = malloc(sizeof *root);
    fakeroot_make(root);
    *state = root;
    return 0;
}

static int drop(void **state)
{
    fakeroot_remove(*state);
    free(*state);
    return 0;
}

// A machine whose cpu 1 is offline.
static void write_stat(const struct fakeroot *root, unsigned steal0, unsigned steal2)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "cpu  1 1 1 1 1 1 1 777 1 1\n"
                   "cpu0 10 0 5 100 1 0 0 %u 0 0\n"
                   "cpu2 10 0 5 100 1 0 0 %u 0 0\n"
                   "intr 5 0 0\nctxt 5\n",
                   steal0, steal2);
    fakeroot_write(root, "/proc/stat", text);
}

static void two_marks(struct interference_signs *signs, const struct fakeroot *root,
                      const unsigned *cpus, size_t n, const unsigned steal[4])
{
    struct interference *meter = NULL;
    struct interference_mark before;
    struct interference_mark after;
    write_stat(root, steal[0], steal[1]);
    ASSERT_OK(interference_open(&meter, root->dir, cpus, n));
    interference_mark(&before, meter);
    write_stat(root, steal[2], steal[3]);
    interference_mark(&after, meter);
    after.clock_seconds = before.clock_seconds + 0.05; // the test's clock
    interference_between(signs, meter, &before, &after);
    interference_close(meter);
}

static void steal_is_of_the_cpus_asked_for(void **state)
{
    static const unsigned cpus[] = {2, 0};
    static const unsigned steal[4] = {100, 50, 101, 53};
    long hz = sysconf(_SC_CLK_TCK);
    struct interference_signs signs;
    two_marks(&signs, *state, cpus, 2, steal);
    ASSERT_CLOSE(signs.steal_seconds, 4.0 / (double)hz, 1e-12);
    assert_true(interference_disturbed(&signs));
    two_marks(&signs, *state, cpus + 1, 1, steal);
    ASSERT_CLOSE(signs.steal_seconds, 1.0 / (double)hz, 1e-12);
    two_marks(&signs, *state, cpus + 1, 1, (const unsigned[4]){100, 50, 100, 99});
    ASSERT_CLOSE(signs.steal_seconds, 0, 0);
    assert_false(interference_disturbed(&signs));
}

static void steal_that_cannot_be_is_unknown(void **state)
{
    static const unsigned cpus[] = {0, 1};
    struct interference_signs signs;
    // More than elapsed, backwards, and a cpu that is not told.
    two_marks(&signs, *state, cpus, 1, (const unsigned[4]){100, 0, 107, 0});
    assert_true(isnan(signs.steal_seconds));
    two_marks(&signs, *state, cpus, 1, (const unsigned[4]){100, 0, 99, 0});
    assert_true(isnan(signs.steal_seconds));
    two_marks(&signs, *state, cpus, 2, (const unsigned[4]){1, 1, 1, 1});
    assert_true(isnan(signs.steal_seconds));
    assert_false(interference_disturbed(&signs));
}

static void throttling_of_an_ancestor_counts(void **state)
{
    const struct fakeroot *root = *state;
    static const unsigned cpus[] = {0};
    fakeroot_write(root, "/proc/self/mountinfo", "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n");
    fakeroot_write(root, "/proc/self/cgroup", "0::/a/b\n");
    fakeroot_write(root, "/cg/a/b/cpu.stat", "usage_usec 5\n");
    fakeroot_write(root, "/cg/a/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\n");
    fakeroot_write(root, "/proc/loadavg", "2.50 1.00 0.50 3/120 4711\n");
    struct interference *meter = NULL;
    struct interference_mark before;
    struct interference_mark after;
    struct interference_signs signs;
    ASSERT_OK(interference_open(&meter, root->dir, cpus, 1));
    interference_mark(&before, meter);
    fakeroot_write(root, "/cg/a/cpu.stat", "usage_usec 5\nnr_periods 12\nnr_throttled 6\n");
    interference_mark(&after, meter);
    interference_between(&signs, meter, &before, &after);
    interference_close(meter);
    ASSERT_CLOSE(signs.throttled_count, 2, 0);
    ASSERT_CLOSE(signs.load_average, 2.5, 0);
    ASSERT_CLOSE(signs.runnable, 3, 0);
    assert_true(isnan(signs.steal_seconds));
    assert_true(interference_disturbed(&signs));
    char text[100];
    assert_string_equal(interference_describe(text, sizeof text, &signs), "throttled in 2 periods");
}

static void words_name_every_known_sign(void **state)
{
    (void)state;
    char text[100];
    struct interference_signs signs = {
        .steal_seconds = 0.02, .throttled_count = (double)NAN, .involuntary_switches = 3};
    assert_string_equal(interference_describe(text, sizeof text, &signs),
                        "steal 20 ms, 3 involuntary switches");
    signs.steal_seconds = signs.involuntary_switches = 0;
    assert_string_equal(interference_describe(text, sizeof text, &signs), "");
    assert_false(interference_disturbed(&signs));
    signs.involuntary_switches = (double)NAN;
    assert_false(interference_disturbed(&signs));
}

// A kernel thread of microseconds is no disturbance of a window of milliseconds.
static void a_switch_counts_by_the_time_it_cost(void **state)
{
    (void)state;
    struct interference_signs signs = {.involuntary_switches = 1};
    assert_true(interference_disturbed(&signs)); // its cost is not known
    signs.on_cpu_fraction = 0.97;
    assert_true(interference_disturbed(&signs));
    signs.on_cpu_fraction = 0.998;
    assert_false(interference_disturbed(&signs));
    struct interference_signs later = {.involuntary_switches = 2, .on_cpu_fraction = 0.5};
    interference_add(&signs, &later);
    assert_true(interference_disturbed(&signs));
    ASSERT_CLOSE(signs.involuntary_switches, 3, 0);
    signs.on_cpu_fraction = 0.998;
    signs.steal_seconds = 0.01;
    assert_true(interference_disturbed(&signs));
}

static void running_system_is_readable_and_cheap(void **state)
{
    (void)state;
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &mask)) {
        cpu++;
    }
    struct interference *meter = NULL;
    ASSERT_OK(interference_open(&meter, "", &cpu, 1));
    double seconds = interference_cost_seconds(meter);
    interference_close(meter);
    print_message("one mark takes %.1f us\n", 1e6 * seconds);
    assert_true(seconds > 0 && seconds < 0.01); // a sanitizer build on a busy host
}

static void cpus_are_checked(void **state)
{
    (void)state;
    struct interference *meter = NULL;
    unsigned cpu = 1000000;
    assert_int_equal(interference_open(&meter, "", NULL, 0).code, STATUS_INVALID);
    assert_int_equal(interference_open(&meter, "", &cpu, 1).code, STATUS_INVALID);
    assert_null(meter);
    interference_close(meter);
}

static void spin_seconds(double seconds)
{
    clock_t start = clock();
    while ((double)(clock() - start) < seconds * (double)CLOCKS_PER_SEC) {
    }
}

static void a_rival_on_the_same_cpu_is_seen(void **state)
{
    (void)state;
    cpu_set_t old;
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof old, &old), 0);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t rival = fork();
    assert_true(rival >= 0);
    if (rival == 0) {
        spin_seconds(10);
        _exit(0);
    }
    uint64_t before = interference_thread_switches();
    spin_seconds(0.1);
    uint64_t after = interference_thread_switches();
    (void)kill(rival, SIGKILL);
    (void)waitpid(rival, NULL, 0);
    (void)sched_setaffinity(0, sizeof old, &old);
    assert_true(after > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steal_is_of_the_cpus_asked_for, make, drop),
        cmocka_unit_test_setup_teardown(steal_that_cannot_be_is_unknown, make, drop),
        cmocka_unit_test_setup_teardown(throttling_of_an_ancestor_counts, make, drop),
        cmocka_unit_test(words_name_every_known_sign),
        cmocka_unit_test(a_switch_counts_by_the_time_it_cost),
        cmocka_unit_test(running_system_is_readable_and_cheap),
        cmocka_unit_test(cpus_are_checked),
        cmocka_unit_test(a_rival_on_the_same_cpu_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
