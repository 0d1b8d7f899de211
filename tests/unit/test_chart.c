#include "profiler/chart.h"
#include "profiler/chart_json.h"
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

// The descriptions of a picture of the example documents are those in charts.json: a change there
// is a change of what people see.
static void test_golden(void **state)
{
    (void)state;
    char path[512];
    json_error_t error;
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
    (void)snprintf(path, sizeof path, "%s/report/charts.json", TESTS_DIR);
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
    result_run_free(&run);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden), cmocka_unit_test(test_overlay),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_step_of_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
