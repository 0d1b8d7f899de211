// Runs at several numbers of threads, made up: gathered, and their knees.
#include "profiler/chart.h"
#include "profiler/run_sweep.h"
#include "tests/test.h"

#include <stdlib.h>

// A run of one operator, 10 layers, and one step; tokens_per_s of the step NaN: not run as a whole.
static void add_run(struct result_run *all, unsigned threads, double seconds, double tokens_per_s)
{
    struct result_point point = {.id = "decode/qkv/bf16/b2/c8",
                                 .phase = "decode",
                                 .operator_ = "qkv",
                                 .dtype = "bf16",
                                 .batch = 2,
                                 .context = 8,
                                 .layers = 10,
                                 .threads = threads};
    struct result_step step = {
        .phase = "decode", .dtype = "bf16", .batch = 2, .context = 8, .threads = threads};
    struct result_crossover crossover = {.dtype = "bf16"};
    struct result_fact fact = {.name = "threads"};
    point.seconds = isnan(seconds) ? reading_absent(ABSENT_FAILED, "made up", NULL)
                                   : reading_plain(seconds, ORIGIN_TIMED);
    step.layers_measured = isnan(tokens_per_s) ? 0 : 10;
    step.tokens_per_s = isnan(tokens_per_s) ? reading_absent(ABSENT_NOT_ASKED, "made up", NULL)
                                            : reading_plain(tokens_per_s, ORIGIN_TIMED);
    (void)snprintf(fact.text, sizeof fact.text, "%u", threads);
    const struct result_run run = {.points = &point,
                                   .point_count = 1,
                                   .steps = &step,
                                   .step_count = 1,
                                   .host = &fact,
                                   .host_count = 1,
                                   .conditions = &fact,
                                   .condition_count = 1,
                                   .crossovers = &crossover,
                                   .crossover_count = 1};
    ASSERT_OK(run_sweep_add(all, &run));
}

static void steps_have_a_knee(void **state)
{
    (void)state;
    struct result_run all = {.points = NULL};
    add_run(&all, 4, 1e-3, 29);
    add_run(&all, 1, 1e-3, 10);
    add_run(&all, 2, 1e-3, 28);
    run_sweep_summary(&all);
    assert_int_equal(all.point_count, 3);
    assert_string_equal(all.points[0].id, "decode/qkv/bf16/b2/c8/t4");
    assert_string_equal(all.conditions[0].text, "4; 1; 2");
    assert_int_equal(all.crossover_count, 1);
    struct result_run saved = {.points = NULL}; // as a pass in progress is saved
    ASSERT_OK(run_sweep_add(&saved, &all));
    assert_string_equal(saved.points[0].id, "decode/qkv/bf16/b2/c8/t4");
    result_run_free(&saved);
    assert_int_equal(all.sweep_count, 1);
    const struct result_sweep *sweep = &all.sweeps[0];
    assert_string_equal(sweep->source, "step");
    assert_int_equal(sweep->row_count, 3);
    assert_int_equal(sweep->rows[1].threads, 2);
    ASSERT_CLOSE(sweep->rows[1].tokens_per_s.value, 28, 1e-12);
    ASSERT_CLOSE(sweep->knee_threads.value, 2, 1e-12); // 28 of 29 are more than 95 %
    struct chart chart;
    ASSERT_OK(chart_make(&chart, CHART_THREADS, &all, 1, NULL));
    assert_string_equal(chart.y_title, "tokens/s");
    assert_int_equal(chart.series[0].count, 3);
    chart_free(&chart);
    result_run_free(&all);
}

static void operators_add_up(void **state)
{
    (void)state;
    struct result_run all = {.points = NULL};
    add_run(&all, 1, 2e-3, (double)NAN);
    add_run(&all, 2, 1e-3, (double)NAN);
    run_sweep_summary(&all);
    const struct result_sweep *sweep = &all.sweeps[0];
    assert_string_equal(sweep->source, "operators");
    ASSERT_CLOSE(sweep->rows[0].tokens_per_s.value, 2 / (10 * 2e-3), 1e-12);
    assert_false(reading_is_present(&sweep->knee_threads)); // two threads still bring twice as much
    assert_int_equal(sweep->knee_threads.absence.state, ABSENT_UNSUPPORTED);
    add_run(&all, 3, (double)NAN, (double)NAN);
    run_sweep_summary(&all);
    assert_int_equal(all.sweeps[0].row_count, 3);
    assert_int_equal(all.sweeps[0].knee_threads.absence.state, ABSENT_FAILED);
    result_run_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_have_a_knee),
                                       cmocka_unit_test(operators_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
