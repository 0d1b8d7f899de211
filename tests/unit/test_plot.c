#include "profiler/gnuplot.h"
#include "profiler/plot.h"
#include "tests/test.h"

#include <stdlib.h>

static struct reading rate(double value)
{
    return reading_plain(value, ORIGIN_TIMED);
}

static struct result_point point(const char *operator_, double intensity, double flop_per_s)
{
    struct result_point out = {.flop_per_byte_predicted = intensity,
                               .flop_per_s = rate(flop_per_s),
                               .attainable_flop_per_s = 1.1 * flop_per_s,
                               .batch = 4};
    (void)snprintf(out.operator_, sizeof out.operator_, "%s", operator_);
    (void)snprintf(out.phase, sizeof out.phase, "decode");
    (void)snprintf(out.dtype, sizeof out.dtype, "bf16");
    return out;
}

// 10 GB/s from memory, 100 GB/s from L1; 200 GFLOP/s in f32, two classes of bf16, one of int8.
static const struct result_bandwidth bandwidth[] = {
    {.level = "DRAM", .kernel = "load", .bytes_per_s = {.origin = ORIGIN_TIMED, .value = 10e9}},
    {.level = "DRAM",
     .kernel = "load",
     .bytes_per_s = {.origin = ORIGIN_TIMED, .value = 6e9}}, // fewer threads
    {.level = "DRAM", .kernel = "store_nt", .bytes_per_s = {.origin = ORIGIN_TIMED, .value = 90e9}},
    {.level = "L1", .kernel = "load", .bytes_per_s = {.origin = ORIGIN_TIMED, .value = 100e9}},
    {.level = "L2", .kernel = "load", .bytes_per_s = {.origin = ORIGIN_ABSENT}}};
static const struct result_compute compute[] = {
    {.dtype = "f32", .kind = "fma", .flop_per_s = {.origin = ORIGIN_TIMED, .value = 200e9}},
    {.dtype = "bf16", .kind = "fma", .flop_per_s = {.origin = ORIGIN_TIMED, .value = 150e9}},
    {.dtype = "bf16", .kind = "fma", .flop_per_s = {.origin = ORIGIN_TIMED, .value = 250e9}},
    {.dtype = "int8", .kind = "fma", .flop_per_s = {.origin = ORIGIN_TIMED, .value = 900e9}}};

static struct result_run run_of(struct result_point *points, size_t count)
{
    struct result_run run = {.points = points, .point_count = count, .complete = true};
    run.machine.bandwidth = (struct result_bandwidth *)(uintptr_t)bandwidth;
    run.machine.bandwidth_count = sizeof bandwidth / sizeof *bandwidth;
    run.machine.compute = (struct result_compute *)(uintptr_t)compute;
    run.machine.compute_count = sizeof compute / sizeof *compute;
    return run;
}

static const struct plot_roof *find_roof(const struct plot *plot, const char *label)
{
    size_t i = 0;
    while (i < plot->roof_count && strcmp(plot->roofs[i].label, label) != 0) {
        i++;
    }
    if (i == plot->roof_count) {
        fail_msg("no roof '%s'", label);
    }
    return &plot->roofs[i];
}

static void roofs_are_the_best_of_their_kind(void **state)
{
    (void)state;
    struct result_point points[] = {point("qkv", 1, 9e9), point("down", 64, 180e9)};
    struct result_run run = run_of(points, 2);
    struct plot plot;
    ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
    // DRAM and L1; f32 and the better bf16. No L2 (absent), no store, no int8 (not used).
    assert_int_equal(plot.roof_count, 4);
    const struct plot_roof *memory = find_roof(&plot, "DRAM 10 GB/s");
    const struct plot_roof *top = find_roof(&plot, "FMA bf16 250 GFLOP/s");
    assert_true(memory->main && top->main);
    assert_false(find_roof(&plot, "L1 100 GB/s")->main);
    assert_false(find_roof(&plot, "FMA f32 200 GFLOP/s")->main);
    ASSERT_CLOSE(plot.ridge, 25, 1e-12);
    // The slope ends at the ridge, the plateau starts at the fastest slope.
    ASSERT_CLOSE(memory->x1, 25, 1e-12);
    ASSERT_CLOSE(memory->y1, 250e9, 1e-12);
    ASSERT_CLOSE(memory->y0 / memory->x0, 10e9, 1e-12);
    ASSERT_CLOSE(top->x0, 2.5, 1e-12);
    ASSERT_CLOSE(top->x1, plot.x.high, 1e-12);
    plot_free(&plot);
}

// A memory that was once a half faster than its median gets a second, weaker slope.
static void drifting_memory_shows_its_best(void **state)
{
    (void)state;
    static const double best[] = {11e9, 15e9}; // ten percent more is noise
    for (size_t i = 0; i < 2; i++) {
        struct result_bandwidth row = bandwidth[0];
        row.bytes_per_s.best = best[i];
        struct result_run run = run_of(NULL, 0);
        run.machine.bandwidth = &row;
        run.machine.bandwidth_count = 1;
        struct plot plot;
        ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
        assert_true(find_roof(&plot, "DRAM 10 GB/s")->main);
        if (i == 1) {
            assert_false(find_roof(&plot, "DRAM at its fastest 15 GB/s")->main);
        }
        assert_int_equal(plot.roof_count, 4 + i);
        plot_free(&plot);
    }
}

static void every_point_is_inside_or_counted(void **state)
{
    (void)state;
    struct result_point points[] = {
        point("qkv", 1e-3, 1e3), point("down", 5e4, 180e9),         point("head", 0, 1e9),
        point("norms", 1, 0),    point("router", (double)NAN, 1e9), point("unheard_of", 1, 2e9)};
    struct result_point absent = point("experts", 1, 1);
    absent.flop_per_s = reading_absent(ABSENT_FAILED, "x", NULL);
    points[3] = absent;
    struct result_run run = run_of(points, 6);
    struct plot plot;
    ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
    assert_int_equal(plot.point_count, 3);
    assert_int_equal(plot.skipped, 3);
    assert_non_null(strstr(plot.subtitle, "3 points without a figure"));
    for (size_t i = 0; i < plot.point_count; i++) {
        assert_true(plot.points[i].x > plot.x.low && plot.points[i].x < plot.x.high);
        assert_true(plot.points[i].y > plot.y.low && plot.points[i].y < plot.y.high);
        assert_true(plot.points[i].colour < plot.colour_key_count);
        assert_true(plot.points[i].mark < plot.mark_key_count);
    }
    assert_true(plot.x.tick_count > 3 && plot.y.tick_count > 3);
    plot_free(&plot);
}

static void hollow_below_95_percent(void **state)
{
    (void)state;
    static const double fractions[] = {0.5, 0.94, 0.96, 1, (double)NAN};
    static const bool want[] = {true, true, false, false, false};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        struct result_point points[] = {point("qkv", 1, 9e9)};
        points[0].counter_count = 1;
        points[0].counters[0].value = reading_plain(1, ORIGIN_COUNTED);
        points[0].counters[0].running_fraction = fractions[i];
        struct result_run run = run_of(points, 1);
        struct plot plot;
        ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
        assert_int_equal(plot.points[0].hollow, want[i]);
        plot_free(&plot);
    }
}

static void several_runs_are_told_apart(void **state)
{
    (void)state;
    struct result_point points[] = {point("qkv", 1, 9e9), point("down", 64, 180e9)};
    struct result_run runs[] = {run_of(points, 2), run_of(points, 2)};
    const char *labels[] = {"same.json", "same.json"};
    struct plot plot;
    ASSERT_OK(plot_roofline(&plot, runs, 2, labels));
    assert_int_equal(plot.colour_key_count, 2);
    assert_string_equal(plot.colour_keys[0].label, "1: same.json");
    assert_string_equal(plot.colour_keys[1].label, "2: same.json");
    assert_int_equal(plot.point_count, 4);
    assert_int_equal(plot.points[3].run, 1);
    assert_int_equal(plot.points[3].colour, 1);
    assert_int_equal(plot.roof_count, 8);
    plot_free(&plot);
}

static void nothing_to_draw_is_said(void **state)
{
    (void)state;
    struct result_run run = {.complete = true};
    struct plot plot;
    struct status status = plot_roofline(&plot, &run, 1, NULL);
    assert_int_equal(status.code, STATUS_INVALID);
    plot_free(&plot);
    // Points without roofs and roofs without points are drawn.
    struct result_point points[] = {point("qkv", 1, 9e9)};
    run.points = points;
    run.point_count = 1;
    ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
    assert_int_equal(plot.roof_count, 0);
    assert_true(isnan(plot.ridge));
    plot_free(&plot);
    run = run_of(NULL, 0);
    ASSERT_OK(plot_roofline(&plot, &run, 1, NULL));
    assert_int_equal(plot.roof_count, 5); // all dtypes
    plot_free(&plot);
}

static void labels_are_spread(void **state)
{
    (void)state;
    double ys[] = {1000, 330, 320, 310, 10};
    plot_spread(ys, 5, 1.2);
    ASSERT_CLOSE(ys[0], 1000, 1e-12);
    ASSERT_CLOSE(ys[4], 10, 1e-12);
    ASSERT_CLOSE(ys[1] / ys[2], 1.2, 1e-9);
    ASSERT_CLOSE(ys[2] / ys[3], 1.2, 1e-9);
    ASSERT_CLOSE(ys[1] * ys[2] * ys[3], 330.0 * 320 * 310, 1e-9); // the crowd keeps its middle
    double apart[] = {8, 4, 2};
    plot_spread(apart, 3, 1.5);
    ASSERT_CLOSE(apart[1], 4, 1e-12);
}

static void ticks_are_round(void **state)
{
    (void)state;
    struct plot_axis axis = {.low = 0.2, .high = 50};
    plot_axis_ticks(&axis);
    static const char *const want[] = {"0.2", "0.5", "1", "2", "5", "10", "20", "50"};
    assert_int_equal(axis.tick_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < axis.tick_count; i++) {
        assert_string_equal(axis.ticks[i].text, want[i]);
    }
    struct plot_axis wide = {.low = 1e-3, .high = 1e12};
    plot_axis_ticks(&wide);
    assert_true(wide.tick_count <= PLOT_TICKS_MAX);
    assert_string_equal(wide.ticks[1].text, ""); // 2e-3: minor
    assert_string_equal(wide.ticks[wide.tick_count - 1].text, "1 T");
}

static void quoting_leaves_nothing_to_gnuplot(void **state)
{
    (void)state;
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    gnuplot_quote(file, "it's `id` $(id) \\ \"x\"\nsystem 'rm'");
    assert_int_equal(fclose(file), 0);
    assert_string_equal(out, "'it''s `id` $(id) \\ \"x\" system ''rm'''");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roofs_are_the_best_of_their_kind),
        cmocka_unit_test(drifting_memory_shows_its_best),
        cmocka_unit_test(every_point_is_inside_or_counted),
        cmocka_unit_test(hollow_below_95_percent),
        cmocka_unit_test(several_runs_are_told_apart),
        cmocka_unit_test(nothing_to_draw_is_said),
        cmocka_unit_test(labels_are_spread),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(quoting_leaves_nothing_to_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
