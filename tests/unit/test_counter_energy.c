// A session's energy from saved powercap folders that the work itself moves: joules per call,
// wraps, the idle share, and what is said where there is none.
#include "profiler/clock.h"
#include "profiler/counters.h"
#include "tests/fakeroot.h"

#include <math.h>
#include <time.h>

#define ZONE "/sys/class/powercap/"

enum { CALLS = 5, RANGE = 1000000 };

static const struct {
    const char *zone;
    const char *name;
} zones[] = {{"intel-rapl:0", "package-0\n"}, {"intel-rapl:0:0", "dram\n"}};

static struct {
    struct fakeroot root;
    double counts[2];         // microjoules since the start, not wrapped
    uint64_t per_run[2];      // that a run of the work adds
    double idle_per_s;        // of the package, while nobody works
    bool working_costs_twice; // the package: twice as much as idleness, by the clock
} world;

static void show(unsigned zone)
{
    char path[128];
    char text[32];
    (void)snprintf(path, sizeof path, ZONE "%s/energy_uj", zones[zone].zone);
    (void)snprintf(text, sizeof text, "%llu\n", (unsigned long long)world.counts[zone] % RANGE);
    fakeroot_write(&world.root, path, text);
}

// The library's pauses: what is drawn meanwhile is idle.
int nanosleep(const struct timespec *pause, struct timespec *left)
{
    double began = clock_seconds();
    int result = clock_nanosleep(CLOCK_MONOTONIC, 0, pause, left);
    if (world.idle_per_s > 0) {
        world.counts[0] += (clock_seconds() - began) * world.idle_per_s;
        show(0);
    }
    return result;
}

static void begin_world(void)
{
    fakeroot_make(&world.root);
    for (unsigned i = 0; i < 2; i++) {
        char path[128];
        world.counts[i] = RANGE - 1000;
        world.per_run[i] = 0;
        (void)snprintf(path, sizeof path, ZONE "%s/name", zones[i].zone);
        fakeroot_write(&world.root, path, zones[i].name);
        (void)snprintf(path, sizeof path, ZONE "%s/max_energy_range_uj", zones[i].zone);
        fakeroot_write(&world.root, path, "1000000\n");
        show(i);
    }
    world.idle_per_s = 0;
    world.working_costs_twice = false;
}

static double run(void *context, struct team_probe probe)
{
    (void)context;
    double began = clock_seconds();
    while (clock_seconds() < began + 0.002) {
    }
    probe.start(probe.context, 0);
    probe.stop(probe.context, 0);
    for (unsigned i = 0; i < 2; i++) {
        world.counts[i] += (double)world.per_run[i];
        if (i == 0 && world.working_costs_twice) {
            world.counts[i] += (clock_seconds() - began) * 2 * world.idle_per_s;
        }
        show(i);
    }
    return CALLS;
}

struct opened {
    struct machine machine;
    struct team *team;
    struct counter_session *session;
};

static void open_session(struct opened *out, enum counter_policy policy)
{
    const unsigned cpu = 0;
    const struct counter_options options = {.policy = policy,
                                            .root = world.root.dir,
                                            .metrics = 1u << METRIC_PACKAGE_JOULES |
                                                       1u << METRIC_DRAM_JOULES};
    *out = (struct opened){.team = NULL};
    ASSERT_OK(team_create(&out->team, &cpu, 1));
    ASSERT_OK(counter_session_open(&out->session, &out->machine, out->team, &options));
}

static void close_session(struct opened *opened)
{
    counter_session_close(opened->session);
    team_destroy(opened->team);
    fakeroot_remove(&world.root);
}

static void joules_of_a_call(void **state)
{
    (void)state;
    struct opened opened;
    struct result_counter package;
    struct reading joules;
    begin_world();
    open_session(&opened, COUNTERS_AUTO);
    assert_true(counter_session_counts(opened.session));
    assert_true(counter_session_has_energy(opened.session));
    world.per_run[0] = 2500; // wraps in the first run and again after 400
    world.per_run[1] = 500;
    const struct counter_work work = {.run = run};
    for (int i = 0; i < 20; i++) {
        counter_session_measure(opened.session, &work);
    }
    counter_session_read(&package, opened.session, METRIC_PACKAGE_JOULES);
    assert_true(reading_is_present(&package.value));
    assert_int_equal(package.value.n, 20);
    ASSERT_CLOSE(package.value.value, 2500e-6 / CALLS, 1e-9);
    assert_string_equal(package.source, "powercap");
    assert_string_equal(package.events, "intel-rapl:0");
    assert_string_equal(package.scope, "system");
    assert_true(package.background_fraction >= 0 && package.background_fraction <= 0);
    counter_session_joules(&joules, opened.session);
    ASSERT_CLOSE(joules.value, 3000e-6 / CALLS, 1e-9);
    counter_session_reset(opened.session);
    counter_session_measure_energy(opened.session, &work);
    counter_session_joules(&joules, opened.session);
    assert_int_equal(joules.n, 1);
    ASSERT_CLOSE(joules.value, 3000e-6 / CALLS, 1e-9);
    close_session(&opened);
}

static void idle_share(void **state)
{
    (void)state;
    struct opened opened;
    struct result_counter package;
    begin_world();
    world.idle_per_s = 1e5;
    world.working_costs_twice = true;
    open_session(&opened, COUNTERS_AUTO);
    counter_session_measure(opened.session, &(struct counter_work){.run = run});
    counter_session_read(&package, opened.session, METRIC_PACKAGE_JOULES);
    assert_true(reading_is_present(&package.value));
    // A half; more on a machine that takes the processor away between the runs.
    assert_true(package.background_fraction > 0.45 && package.background_fraction <= 1);
    close_session(&opened);
}

static void state_is(const struct counter_session *session, enum absent_state state)
{
    struct result_counter package;
    struct reading joules;
    counter_session_read(&package, session, METRIC_PACKAGE_JOULES);
    assert_false(reading_is_present(&package.value));
    assert_int_equal(package.value.absence.state, state);
    counter_session_joules(&joules, session);
    assert_false(reading_is_present(&joules));
}

static void absent(void **state)
{
    (void)state;
    struct opened opened;
    const struct counter_work work = {.run = run};
    begin_world();
    open_session(&opened, COUNTERS_PERF); // asked for the kernel's events alone
    counter_session_measure(opened.session, &work);
    state_is(opened.session, ABSENT_UNSUPPORTED);
    close_session(&opened);

    begin_world();
    fakeroot_delete(&world.root, ZONE "intel-rapl:0/energy_uj");
    open_session(&opened, COUNTERS_AUTO);
    assert_false(counter_session_has_energy(opened.session));
    state_is(opened.session, ABSENT_NOT_PERMITTED);
    close_session(&opened);

    begin_world();
    open_session(&opened, COUNTERS_AUTO);
    fakeroot_write(&world.root, ZONE "intel-rapl:0/energy_uj", "no number\n");
    world.per_run[0] = 1;
    counter_session_measure(opened.session, &work);
    fakeroot_delete(&world.root, ZONE "intel-rapl:0/energy_uj");
    counter_session_measure(opened.session, &work);
    state_is(opened.session, ABSENT_FAILED);
    close_session(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joules_of_a_call),
        cmocka_unit_test(idle_share),
        cmocka_unit_test(absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
