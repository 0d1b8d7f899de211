// The bound threads and their stopwatch, on the cpus that this process may use.
#include "profiler/clock.h"
#include "profiler/team.h"
#include "tests/test.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 2, CPUS_MAX = 8192 };

struct fixture {
    struct team *team;
    cpu_set_t *mask;
    unsigned threads;
    unsigned cpus[THREADS_MAX];
    unsigned seen[THREADS_MAX]; // by each thread: the cpu it ran on
    unsigned calls[THREADS_MAX];
    unsigned starts[THREADS_MAX];
    unsigned stops[THREADS_MAX];
    double seconds;
};

static size_t mask_bytes(void)
{
    return CPU_ALLOC_SIZE(CPUS_MAX);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL || (f->mask = CPU_ALLOC(CPUS_MAX)) == NULL ||
        sched_getaffinity(0, mask_bytes(), f->mask) != 0) {
        return -1;
    }
    for (unsigned cpu = 0; cpu < CPUS_MAX && f->threads < THREADS_MAX; cpu++) {
        if (CPU_ISSET_S(cpu, mask_bytes(), f->mask)) {
            f->cpus[f->threads++] = cpu;
        }
    }
    // The last cpu first: an order that no default has.
    if (f->threads == 2) {
        unsigned first = f->cpus[0];
        f->cpus[0] = f->cpus[1];
        f->cpus[1] = first;
    }
    *state = f;
    return status_is_ok(team_create(&f->team, f->cpus, f->threads)) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    team_destroy(f->team);
    CPU_FREE(f->mask);
    free(f);
    return 0;
}

static void note_cpu(void *context, unsigned thread, unsigned threads)
{
    struct fixture *f = context;
    f->seen[thread] = (unsigned)sched_getcpu();
    f->calls[thread] += threads; // as often as called, if the team has all its threads
}

static void threads_run_where_asked(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(team_threads(f->team), f->threads);
    for (unsigned round = 1; round <= 3; round++) {
        team_run(f->team, (struct team_body){note_cpu, f});
        for (unsigned t = 0; t < f->threads; t++) {
            assert_int_equal(team_cpu(f->team, t), f->cpus[t]);
            assert_int_equal(f->seen[t], f->cpus[t]);
            assert_int_equal(f->calls[t], round * f->threads);
        }
    }
}

static void affinity_is_restored(void **state)
{
    struct fixture *f = *state;
    cpu_set_t *now = CPU_ALLOC(CPUS_MAX);
    assert_non_null(now);
    team_destroy(f->team);
    f->team = NULL;
    assert_true(sched_getaffinity(0, mask_bytes(), now) >= 0);
    assert_true(CPU_EQUAL_S(mask_bytes(), now, f->mask));
    CPU_FREE(now);
}

static void wait_seconds(void *context, unsigned thread, unsigned threads)
{
    const struct fixture *f = context;
    double end = clock_seconds() + (thread + 1 == threads ? f->seconds : 0);
    while (clock_seconds() < end) {
    }
}

static void the_slowest_thread_ends_the_sample(void **state)
{
    struct fixture *f = *state;
    struct team_sample sample;
    f->seconds = 0.01;
    double begin = clock_seconds();
    team_time(&sample, f->team, (struct team_body){wait_seconds, f});
    double outside = clock_seconds() - begin;
    assert_true(sample.seconds >= 0.01 && sample.seconds <= outside);
    assert_true(sample.signs.elapsed_seconds >= sample.seconds);
    assert_true(sample.signs.elapsed_seconds <= outside);
    assert_true(isnan(sample.steal_fraction) ||
                (sample.steal_fraction >= 0 && sample.steal_fraction <= 1));
    assert_true(sample.disturbed == interference_disturbed(&sample.signs));
}

static void count_start(void *context, unsigned thread)
{
    struct fixture *f = context;
    f->starts[thread] += f->calls[thread] == 0;
}

static void count_stop(void *context, unsigned thread)
{
    struct fixture *f = context;
    f->stops[thread] += f->calls[thread] > 0;
}

static void probes_enclose_the_work_of_each_thread(void **state)
{
    struct fixture *f = *state;
    struct team_sample sample;
    const struct team_probe probe = {count_start, count_stop, f};
    team_time_probed(&sample, f->team, (struct team_body){note_cpu, f}, probe);
    for (unsigned t = 0; t < f->threads; t++) {
        assert_int_equal(f->starts[t], 1);
        assert_int_equal(f->stops[t], 1);
        assert_int_equal(f->calls[t], f->threads);
        assert_int_equal(f->seen[t], f->cpus[t]);
    }
}

static void short_bodies_are_repeated(void **state)
{
    struct fixture *f = *state;
    struct team_sample sample;
    unsigned long repeats = 0;
    f->seconds = 1e-5;
    // On a busy machine a single one may last as long.
    team_time_repeated(&sample, &repeats, f->team, (struct team_body){wait_seconds, f}, 0.02);
    assert_true(repeats >= 1);
    assert_true(sample.seconds >= 1e-5 && sample.seconds * (double)repeats >= 0.02);
    memset(f->calls, 0, sizeof f->calls);
    repeats = 7; // given: used as it is
    team_time_repeated(&sample, &repeats, f->team, (struct team_body){note_cpu, f}, 1);
    assert_int_equal(repeats, 7);
    assert_int_equal(f->calls[0], 7 * f->threads);
}

// A process that takes the team's cpus as far as the scheduler lets it.
static pid_t start_rival(const struct fixture *f)
{
    pid_t rival = fork();
    if (rival == 0) {
        cpu_set_t *one = CPU_ALLOC(CPUS_MAX);
        CPU_ZERO_S(mask_bytes(), one);
        CPU_SET_S(f->cpus[0], mask_bytes(), one);
        (void)sched_setaffinity(0, mask_bytes(), one);
        (void)alarm(60); // ends even if the test does not
        for (;;) {
        }
    }
    assert_true(rival > 0);
    return rival;
}

// Until the scheduler has taken the cpu away, and for long: a kernel thread of microseconds does
// not count. It must within the minute that the rival lives.
static void until_switched(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)threads;
    uint64_t before = interference_thread_switches();
    double cpu = interference_thread_cpu_seconds();
    double begin = clock_seconds();
    double ran = 1;
    while (thread == 0 && (interference_thread_switches() == before || ran > 0.9) &&
           clock_seconds() < begin + 50) {
        ran = (interference_thread_cpu_seconds() - cpu) / (clock_seconds() - begin);
    }
}

static void call_until_switched(void *context)
{
    until_switched(context, 0, 1);
}

static void a_rival_disturbs_the_sample(void **state)
{
    struct fixture *f = *state;
    struct team_sample sample;
    struct team_sample call;
    pid_t rival = start_rival(f);
    team_time(&sample, f->team, (struct team_body){until_switched, NULL});
    team_time_call(&call, f->team, call_until_switched, NULL);
    (void)kill(rival, SIGKILL);
    (void)waitpid(rival, NULL, 0);
    assert_true(sample.signs.involuntary_switches >= 1 && sample.disturbed);
    assert_true(call.signs.involuntary_switches >= 1 && call.disturbed);
    const struct interference_signs sum = team_signs(f->team);
    ASSERT_CLOSE(sum.involuntary_switches,
                 sample.signs.involuntary_switches + call.signs.involuntary_switches, 0);
    char text[96];
    assert_non_null(strstr(interference_describe(text, sizeof text, &sum), "involuntary"));
}

static void impossible_teams_are_refused(void **state)
{
    (void)state;
    struct team *team = NULL;
    static const unsigned beyond[] = {8191};
    assert_int_equal(team_create(&team, beyond, 0).code, STATUS_INVALID);
    assert_null(team);
    assert_int_equal(team_create(&team, beyond, 1).code, STATUS_UNAVAILABLE);
    assert_null(team);
    team_destroy(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_run_where_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(affinity_is_restored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_slowest_thread_ends_the_sample, set_up, tear_down),
        cmocka_unit_test_setup_teardown(probes_enclose_the_work_of_each_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_bodies_are_repeated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rival_disturbs_the_sample, set_up, tear_down),
        cmocka_unit_test(impossible_teams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
