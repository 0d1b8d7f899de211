#include "profiler/chart.h"
#include "profiler/chart_json.h"
#include "profiler/metric.h"
#include "profiler/plot_json.h"
#include "profiler/results_json.h"
#include "tests/test.h"

#include <stdlib.h>

static struct result_run read_example(const char *name)
{
    struct result_run run = {.points = NULL};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/documents/%s", TESTS_DIR, name);
    ASSERT_OK(run_read(&run, NULL, NULL, path));
    return run;
}

// The description must be the one in tests/report/: a change there is a change of what people see.
static void assert_golden(json_t *made, const char *name)
{
    char path[512];
    json_error_t error;
    (void)snprintf(path, sizeof path, "%s/report/%s", TESTS_DIR, name);
    json_t *golden = json_load_file(path, 0, &error);
    char *text = json_dumps(made, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    json_t *rounded = json_loads(text, 0, &error); // the file has 12 digits
    if (golden == NULL || !json_equal(golden, rounded)) {
        (void)fprintf(stderr, "%s\n", text); // longer than cmocka's buffer
        fail_msg("%s is not what is made now: the description above", path);
    }
    free(text);
    json_decref(rounded);
    json_decref(golden);
    json_decref(made);
}

static void test_golden(void **state)
{
    (void)state;
    struct result_run run = read_example("run.json");
    json_t *made = json_array();
    for (int i = 0; i < CHART_PICTURES; i++) {
        struct chart chart;
        struct status status = chart_make(&chart, (enum chart_picture)i, &run, 1, NULL);
        if (status.code == STATUS_OK) {
            assert_int_equal(json_array_append_new(made, chart_to_json(&chart)), 0);
        } else {
            assert_int_equal(status.code, STATUS_INVALID);
        }
        chart_free(&chart);
    }
    assert_golden(made, "charts.json");
    result_run_free(&run);
}

static void count(struct result_point *point, enum metric metric, double value, double running)
{
    struct result_counter *counter = &point->counters[point->counter_count++];
    (void)snprintf(counter->metric, sizeof counter->metric, "%s", metric_row(metric)->name);
    counter->value = reading_plain(value, ORIGIN_COUNTED);
    counter->running_fraction = running;
}

static void forget_counters(struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        run->points[i].counter_count = 0;
    }
}

// A point stands once for each level whose bytes were counted, under that level's roof.
static void test_hierarchy(void **state)
{
    (void)state;
    struct result_run run = read_example("run.json");
    struct plot plot;
    forget_counters(&run);
    assert_int_equal(plot_hierarchy(&plot, &run, 1, NULL).code, STATUS_INVALID);
    plot_free(&plot);
    for (size_t i = 0; i < 2; i++) {
        struct result_point *point = &run.points[i];
        count(point, METRIC_L1_L2_BYTES, 4 * point->flop, 1);
        count(point, METRIC_L2_L3_BYTES, 2 * point->flop, 0.9);
        count(point, METRIC_DRAM_READ_BYTES, point->flop, 1);
        if (i == 1) { // the writes are added where they were counted
            count(point, METRIC_DRAM_WRITE_BYTES, point->flop, 1);
        }
    }
    ASSERT_OK(plot_hierarchy(&plot, &run, 1, NULL));
    static const double intensity[] = {0.25, 0.5, 1, 0.25, 0.5, 0.5};
    assert_int_equal(plot.point_count, 6);
    assert_int_equal(plot.colour_key_count, 3);
    assert_int_equal(plot.skipped, run.point_count - 2);
    for (size_t i = 0; i < 6; i++) {
        const struct plot_point *point = &plot.points[i];
        ASSERT_CLOSE(point->x, intensity[i], 1e-12);
        ASSERT_CLOSE(point->y, run.points[i / 3].flop_per_s.value, 1e-12);
        assert_int_equal(point->colour, i % 3);
        assert_int_equal(point->hollow, i % 3 == 1);
        assert_true(point->attainable > 0);
    }
    assert_golden(plot_to_json(&plot), "hierarchy.json");
    plot_free(&plot);
    result_run_free(&run);
}

// What the run lacks a profile may bring: its roof of L2.
static void test_hierarchy_with_profile(void **state)
{
    struct result_run runs[2] = {read_example("run.json"), read_example("machine.json")};
    const char *const labels[] = {"run", "profile"};
    struct plot plot;
    (void)state;
    runs[0].machine.bandwidth_count = 0;
    forget_counters(&runs[0]);
    count(&runs[0].points[0], METRIC_L1_L2_BYTES, 4 * runs[0].points[0].flop, 1);
    double best = 0;
    for (size_t i = 0; i < runs[1].machine.bandwidth_count; i++) {
        const struct result_bandwidth *row = &runs[1].machine.bandwidth[i];
        bool wanted = strcmp(row->level, "L2") == 0 && strcmp(row->kernel, "load") == 0;
        best = wanted ? fmax(best, row->bytes_per_s.value) : best;
    }
    ASSERT_OK(plot_hierarchy(&plot, runs, 2, labels));
    assert_int_equal(plot.point_count, 1);
    ASSERT_CLOSE(plot.points[0].attainable, 0.25 * best, 1e-12);
    plot_free(&plot);
    result_run_free(&runs[0]);
    result_run_free(&runs[1]);
}

static void test_overlay(void **state)
{
    struct result_run runs[2] = {read_example("run.json"), read_example("run.json")};
    const char *const labels[] = {"a", "b"};
    struct chart chart;
    (void)state;
    ASSERT_OK(chart_make(&chart, CHART_LEVELS, runs, 2, labels));
    assert_int_equal(chart.series_count, 2);
    assert_string_equal(chart.series[0].label, "a: load");
    assert_string_equal(chart.series[1].label, "b: load");
    assert_int_equal(chart.category_count, 4);
    assert_false(chart.stacked);
    chart_free(&chart);
    result_run_free(&runs[0]);
    result_run_free(&runs[1]);
}

static void test_nothing(void **state)
{
    struct result_run run = {.points = NULL};
    (void)state;
    for (int i = 0; i < CHART_PICTURES; i++) {
        struct chart chart;
        assert_int_equal(chart_make(&chart, (enum chart_picture)i, &run, 1, NULL).code,
                         STATUS_INVALID);
        chart_free(&chart);
        assert_int_equal(chart_find(chart_name((enum chart_picture)i)), i);
    }
    assert_int_equal(chart_find("roof"), CHART_PICTURES);
}

// A sum of operators is only that of a step if all were run: the share says so.
static void test_step_of_shares(void **state)
{
    struct result_point points[4] = {{.id = "a"}};
    struct result_run run = {.points = points, .point_count = 4};
    struct chart chart;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(points[i].phase, sizeof points[i].phase, "decode");
        (void)snprintf(points[i].operator_, sizeof points[i].operator_, "qkv");
        (void)snprintf(points[i].dtype, sizeof points[i].dtype, "bf16");
        points[i].batch = 1u << i;
        points[i].layers = 4;
        points[i].seconds = reading_plain(0.01, ORIGIN_TIMED);
        points[i].time_share_fraction = i == 3 ? (double)NAN : 0.5;
    }
    ASSERT_OK(chart_make(&chart, CHART_BATCH, &run, 1, NULL));
    assert_int_equal(chart.series_count, 1);
    assert_int_equal(chart.series[0].count, 3);
    // 4 calls of 10 ms are half of a step: 80 ms for 4 tokens.
    ASSERT_CLOSE(chart.series[0].points[2].y, 4 / 0.08, 1e-12);
    assert_true(chart.log_x);
    chart_free(&chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden),
                                       cmocka_unit_test(test_hierarchy),
                                       cmocka_unit_test(test_hierarchy_with_profile),
                                       cmocka_unit_test(test_overlay),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_step_of_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
