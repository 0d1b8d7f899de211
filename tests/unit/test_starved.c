// A machine that gives us next to no time: every reading of the clock is long after the one before.
// What is told a number of seconds keeps to it all the same, and says what is missing.
#include "machines/detect.h"
#include "profiler/clock.h"
#include "profiler/probe.h"
#include "profiler/run.h"
#include "tests/test.h"

#include <stdatomic.h>
#include <stdlib.h>

// Linked in the place of clock_seconds().
double __wrap_clock_seconds(void);

static double tick_seconds;
static _Atomic unsigned long ticks;

double __wrap_clock_seconds(void)
{
    return 1000 + tick_seconds * (double)atomic_fetch_add(&ticks, 1);
}

// A sample reads the clock some ten times: it lasts 0.2 s, a second.
static const double starved[] = {2e-2, 1e-1};

static double begin(double seconds)
{
    tick_seconds = seconds;
    return clock_seconds();
}

static bool has_warning(const struct result_run *run, const char *code, const char *words)
{
    for (size_t i = 0; i < run->warning_count; i++) {
        if (strcmp(run->warnings[i].code, code) == 0 &&
            strstr(run->warnings[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

static void probe_once(bool quick, double seconds, double budget)
{
    struct machine machine;
    struct result_run run = {.complete = false};
    struct probe_extras *extras = calloc(1, sizeof *extras);
    assert_non_null(extras);
    ASSERT_OK(machine_detect(&machine));
    const struct probe_host host = {.machine = &machine, .isa = isa_detect()};
    double at = begin(seconds);
    const struct probe_options options = {.quick = quick,
                                          .levels = {true, true, true, true},
                                          .budget_seconds = budget,
                                          .begin_seconds = at,
                                          .budget_try = "nothing"};
    struct status status = probe_measure(&run, extras, &options, &host);
    double spent = clock_seconds() - at;
    if (spent > 1.5 * budget + 20 * seconds) { // one sample may have begun
        fail_msg("%g s of %g s at %g s a reading", spent, budget, seconds);
    }
    if (status.code == STATUS_OK) {
        assert_true(run.machine.bandwidth_count + run.machine.compute_count > 0);
        assert_true(spent < budget || has_warning(&run, "budget", "missing: "));
    } else {
        assert_int_equal(status.code, STATUS_UNAVAILABLE);
        assert_non_null(strstr(status.detail, "used up by the preparation"));
    }
    result_run_free(&run);
    machine_free(&machine);
    free(extras);
}

static void a_probe_keeps_to_its_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starved / sizeof *starved; i++) {
        probe_once(true, starved[i], 9.2);
    }
    probe_once(false, 0.1, 55);
    probe_once(true, 0.1, 0.01);
}

static size_t measured_steps; // of the latest run

static void run_once(double seconds, double budget, bool step)
{
    static char program[] = "test_starved";
    static char *argv[] = {program, NULL};
    const volatile sig_atomic_t signal = 0;
    FILE *sink = fopen("/dev/null", "w");
    assert_non_null(sink);
    const struct command_context context = {
        .out = sink, .err = sink, .argc = 1, .argv = argv, .signal = &signal};
    struct run_request request;
    struct result_run run;
    run_request_defaults(&request);
    request.model = "pythia-160m";
    request.decode = true;
    request.counters = COUNTERS_OFF;
    request.step = step;
    request.budget_seconds = budget;
    request.quiet = true;
    double at = begin(seconds);
    struct status status = run_execute(&run, &request, &context);
    double spent = clock_seconds() - at;
    if (spent > 1.5 * budget + 20 * seconds) { // one sample may have begun
        fail_msg("%g s of %g s at %g s a reading", spent, budget, seconds);
    }
    for (size_t i = 0; i < run.point_count && status.code == STATUS_OK; i++) {
        const struct reading *at_point = &run.points[i].seconds;
        bool late =
            !reading_is_present(at_point) && at_point->absence.state == ABSENT_NOT_SCHEDULED;
        assert_true(at_point->n >= 3 || late);
        assert_true(!late || has_warning(&run, "budget", "points were not measured"));
    }
    if (status.code != STATUS_OK) {
        assert_int_equal(status.code, STATUS_UNAVAILABLE);
        assert_non_null(strstr(status.detail, "used up by the preparation"));
    }
    measured_steps = 0;
    for (size_t i = 0; i < run.step_count; i++) {
        measured_steps += reading_is_present(&run.steps[i].tpot_seconds) ? 1 : 0;
    }
    result_run_free(&run);
    (void)fclose(sink);
}

// The points would use up all of it.
static void a_step_has_its_share(void **state)
{
    (void)state;
    run_once(5e-3, 20, true);
    assert_int_equal(measured_steps, 1);
}

static void a_run_keeps_to_its_budget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starved / sizeof *starved; i++) {
        run_once(starved[i], 20, false);
        run_once(starved[i], 20, true);
    }
    run_once(0.02, 0.01, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_probe_keeps_to_its_time),
        cmocka_unit_test(a_run_keeps_to_its_budget),
        cmocka_unit_test(a_step_has_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
