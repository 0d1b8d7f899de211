// Shares, predictions and crossovers of made-up points.
#include "profiler/run_summary.h"
#include "roofline/step.h"
#include "tests/test.h"
#include "workloads/model_file.h"

#include <stdlib.h>

enum { POINTS = 4 };

struct fixture {
    struct model model;
    struct run_request request;
    struct result_run run;
    struct result_point points[POINTS];
    struct result_bandwidth read;
    struct result_compute compute;
};

// Batches 1 and 64: a linear and attention each, 12 layers.
static void set_point(struct result_point *out, const char *operator_, unsigned batch,
                      double seconds, enum verdict_bound bound)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->operator_, sizeof out->operator_, "%s", operator_);
    (void)snprintf(out->phase, sizeof out->phase, "decode");
    (void)snprintf(out->dtype, sizeof out->dtype, "bf16");
    out->batch = batch;
    out->context = 512;
    out->layers = 12;
    out->bound = bound;
    out->seconds = isnan(seconds) ? reading_absent(ABSENT_FAILED, "made up", NULL)
                                  : reading_plain(seconds, ORIGIN_TIMED);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL || !status_is_ok(model_load(&f->model, "pythia-160m"))) {
        return -1;
    }
    run_request_defaults(&f->request);
    f->request.decode = true;
    run_request_finish(&f->request);
    f->request.batch = (struct option_counts){2, {1, 64}};
    if (!status_is_ok(run_request_dtypes(&f->request, "bf16"))) {
        return -1;
    }
    set_point(&f->points[0], "qkv", 1, 2e-3, BOUND_MEMORY_SATURATED);
    set_point(&f->points[1], "attention", 1, 1e-3, BOUND_MEMORY_SATURATED);
    set_point(&f->points[2], "qkv", 64, 8e-3, BOUND_COMPUTE);
    set_point(&f->points[3], "attention", 64, 8e-3, BOUND_MEMORY_SATURATED);
    memcpy(f->read.level, "DRAM", sizeof "DRAM");
    f->read.bytes_per_s = reading_plain(10e9, ORIGIN_TIMED);
    memcpy(f->compute.dtype, "bf16", sizeof "bf16");
    (void)snprintf(f->compute.kind, sizeof f->compute.kind, "fma");
    f->compute.flop_per_s = reading_plain(200e9, ORIGIN_TIMED);
    f->run.points = f->points;
    f->run.point_count = POINTS;
    f->run.machine.bandwidth = &f->read;
    f->run.machine.bandwidth_count = 1;
    f->run.machine.compute = &f->compute;
    f->run.machine.compute_count = 1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    free(f->run.steps);
    free(f->run.crossovers);
    free(f);
    return 0;
}

static void summarise(struct fixture *f)
{
    run_summary(&f->run, &f->model, NULL, &f->request);
}

static void shares_are_of_their_own_step(void **state)
{
    struct fixture *f = *state;
    summarise(f);
    ASSERT_CLOSE(f->points[0].time_share_fraction, 2.0 / 3, 1e-12);
    ASSERT_CLOSE(f->points[1].time_share_fraction, 1.0 / 3, 1e-12);
    ASSERT_CLOSE(f->points[2].time_share_fraction, 0.5, 1e-12);
}

static void an_unmeasured_operator_leaves_no_share(void **state)
{
    struct fixture *f = *state;
    set_point(&f->points[1], "attention", 1, (double)NAN, BOUND_UNKNOWN);
    summarise(f);
    assert_true(isnan(f->points[0].time_share_fraction));
    assert_true(isnan(f->points[1].time_share_fraction));
    ASSERT_CLOSE(f->points[3].time_share_fraction, 0.5, 1e-12);
}

static void predictions_follow_the_roofs(void **state)
{
    struct fixture *f = *state;
    struct step step;
    struct step_request wanted = step_defaults(STEP_DECODE);
    summarise(f);
    assert_int_equal(f->run.step_count, 2);
    const struct result_step *one = &f->run.steps[0];
    assert_int_equal(one->batch, 1);
    // At batch 1 and a ridge of 20 FLOP/byte every operator is bound by memory.
    wanted.context = 512;
    wanted.dtype = DTYPE_BF16;
    ASSERT_OK(step_compute(&step, &f->model, &wanted));
    ASSERT_CLOSE(one->predicted_seconds.value, step.sum.bytes.dram_lower_bound / 10e9, 1e-3);
    ASSERT_CLOSE(one->predicted_tokens_per_s.value, 1 / one->predicted_seconds.value, 1e-12);
    const struct result_step *many = &f->run.steps[1];
    ASSERT_CLOSE(many->predicted_tokens_per_s.value, 64 / many->predicted_seconds.value, 1e-12);
    assert_int_equal(one->predicted_seconds.origin, ORIGIN_MODELLED);
}

static void without_roofs_nothing_is_predicted(void **state)
{
    struct fixture *f = *state;
    f->run.machine.bandwidth_count = 0;
    summarise(f);
    assert_false(reading_is_present(&f->run.steps[0].predicted_seconds));
    assert_false(reading_is_present(&f->run.steps[0].predicted_tokens_per_s));
    assert_int_equal(f->run.crossover_count, 0);
}

static void flat_and_steep_meet(void **state)
{
    struct fixture *f = *state;
    summarise(f);
    assert_int_equal(f->run.crossover_count, 1);
    // 2 ms flat; 8 ms at 64 is 0.125 ms a sequence: they meet at 16. Attention is no linear.
    ASSERT_CLOSE(f->run.crossovers[0].measured.value, 16, 1e-12);
    assert_true(f->run.crossovers[0].predicted_linears.value > 1);
}

static void no_crossover_unless_bracketed(void **state)
{
    struct fixture *f = *state;
    f->points[2].bound = BOUND_UNKNOWN;
    summarise(f);
    assert_false(reading_is_present(&f->run.crossovers[0].measured));
    assert_true(f->run.crossovers[0].measured.absence.text[0] != '\0');
}

static void no_crossover_of_an_unmeasured_linear(void **state)
{
    struct fixture *f = *state;
    set_point(&f->points[2], "qkv", 64, (double)NAN, BOUND_COMPUTE);
    summarise(f);
    assert_false(reading_is_present(&f->run.crossovers[0].measured));
}

static void set_interval(struct reading *seconds, double low, double high)
{
    seconds->ci95_low = low;
    seconds->ci95_high = high;
}

// 2 ms x 64 / 8 ms = 16, from 1.9 x 64 / 10 to 2.2 x 64 / 7.5; then too wide to be a figure.
static void a_measured_crossover_has_an_interval(void **state)
{
    struct fixture *f = *state;
    set_interval(&f->points[0].seconds, 1.9e-3, 2.2e-3);
    set_interval(&f->points[2].seconds, 7.5e-3, 10e-3);
    summarise(f);
    ASSERT_CLOSE(f->run.crossovers[0].measured.value, 16, 1e-12);
    ASSERT_CLOSE(f->run.crossovers[0].measured.ci95_low, 12.16, 1e-12);
    ASSERT_CLOSE(f->run.crossovers[0].measured.ci95_high, 2.2 * 64 / 7.5, 1e-12);
}

static void a_scattered_crossover_is_none(void **state)
{
    struct fixture *f = *state;
    set_interval(&f->points[0].seconds, 1.9e-3, 2.2e-3);
    set_interval(&f->points[2].seconds, 7.5e-3, 40e-3);
    summarise(f);
    assert_false(reading_is_present(&f->run.crossovers[0].measured));
    assert_non_null(strstr(f->run.crossovers[0].measured.absence.text, "scatter"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_measured_crossover_has_an_interval, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scattered_crossover_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shares_are_of_their_own_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unmeasured_operator_leaves_no_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(predictions_follow_the_roofs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_roofs_nothing_is_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flat_and_steep_meet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_crossover_unless_bracketed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_crossover_of_an_unmeasured_linear, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
