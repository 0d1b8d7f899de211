// The claim put to made-up steps.
#include "profiler/validate.h"
#include "tests/test.h"

#include <stdlib.h>

enum { POINTS = 2 };

// A point that takes 1 ms for 10 MB at a read roof of 10 GB/s and a compute roof of 1 TFLOP/s.
static struct result_point point(const char *operator_, enum verdict_bound bound, double share)
{
    struct result_point out = {.layers = 1,
                               .threads = 2,
                               .batch = 1,
                               .context = 512,
                               .flop = 10e6,
                               .bytes_modelled = 10e6,
                               .flop_per_byte_predicted = 1,
                               .attainable_flop_per_s = 10e9,
                               .time_share_fraction = share,
                               .bound = bound};
    (void)snprintf(out.operator_, sizeof out.operator_, "%s", operator_);
    (void)snprintf(out.phase, sizeof out.phase, "decode");
    (void)snprintf(out.dtype, sizeof out.dtype, "bf16");
    (void)snprintf(out.resident_level, sizeof out.resident_level, "DRAM");
    out.seconds = reading_plain(1e-3, ORIGIN_TIMED);
    out.roof_fraction = reading_plain(1, ORIGIN_TIMED);
    out.roof_fraction.ci95_low = 0.9;
    out.roof_fraction.ci95_high = 1.04;
    out.read_roof_ratio = (struct verdict_ratio){1, 0.9, 1.04};
    out.memory_only_ratio = (struct verdict_ratio){0.98, 0.95, 1.02};
    out.compute_only_ratio = (struct verdict_ratio){0.1, 0.1, 0.1};
    out.roof_bytes_per_s = reading_plain(10e9, ORIGIN_TIMED);
    out.roof_flop_per_s = reading_plain(1e12, ORIGIN_TIMED);
    return out;
}

static struct validation judge(struct result_point *points, double growth)
{
    struct validation out;
    struct result_run run = {
        .points = points, .point_count = POINTS, .read_growth = growth, .other_mix = 1.0};
    (void)snprintf(run.model_name, sizeof run.model_name, "made-up");
    validation_judge(&out, &run);
    return out;
}

static bool passed(const struct validation *v, const char *test)
{
    for (size_t i = 0; i < v->step.evidence_count; i++) {
        if (strcmp(v->step.evidence[i].test, test) == 0) {
            return v->step.evidence[i].passed;
        }
    }
    fail_msg("no evidence of %s", test);
    return false;
}

static void memory_is_confirmed_and_its_form_told(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_MEMORY_SATURATED, 0.95),
                                          point("attention", BOUND_UNKNOWN, 0.05)};
    struct validation v = judge(points, 1.02);
    assert_int_equal(v.verdict, CLAIM_CONFIRMED);
    ASSERT_CLOSE(v.memory_fraction, 0.95, 1e-12);
    ASSERT_CLOSE(v.unknown_fraction, 0.05, 1e-12);
    assert_non_null(strstr(v.finding, "more cores would not help"));
    assert_non_null(strstr(v.claim, "made-up in bf16 at batch 1 and context 512"));
    assert_int_equal(v.step.bound, BOUND_MEMORY_SATURATED);
    assert_true(passed(&v, "twins") && passed(&v, "intensity") && passed(&v, "achieved_bandwidth"));
    v = judge(points, 1.9);
    assert_non_null(strstr(v.finding, "more cores would help"));
    assert_int_equal(v.step.bound, BOUND_MEMORY_CORE_LIMITED);
    assert_false(passed(&v, "saturation"));
}

static const char *found(const struct validation *v, const char *test)
{
    for (size_t i = 0; i < v->step.evidence_count; i++) {
        if (strcmp(v->step.evidence[i].test, test) == 0) {
            return v->step.evidence[i].found;
        }
    }
    fail_msg("no evidence of %s", test);
    return "";
}

// Two operators of equal time, each 0.05 below: sqrt(2) x 0.025 for both.
static void the_steps_intervals_come_from_its_operators(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_MEMORY_SATURATED, 0.5),
                                          point("gate_up", BOUND_MEMORY_SATURATED, 0.5)};
    points[0].memory_only_ratio = (struct verdict_ratio){0.98, 0.93, 1.03};
    points[1].memory_only_ratio = (struct verdict_ratio){0.98, 0.93, 1.03};
    struct validation v = judge(points, 1.9);
    assert_non_null(strstr(found(&v, "twins"), "0.98 [0.94, 1.02]"));
    assert_non_null(strstr(v.finding, "(the last half of the threads: 1.90x)"));
}

static void compute_refutes(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_COMPUTE, 0.9),
                                          point("attention", BOUND_MEMORY_SATURATED, 0.1)};
    for (int i = 0; i < POINTS; i++) {
        points[i].memory_only_ratio = (struct verdict_ratio){0.2, 0.2, 0.2};
        points[i].compute_only_ratio = (struct verdict_ratio){0.99, 0.98, 1};
    }
    struct validation v = judge(points, 1.02);
    assert_int_equal(v.verdict, CLAIM_REFUTED);
    assert_false(passed(&v, "twins"));
    assert_int_not_equal(v.step.bound, BOUND_MEMORY_SATURATED);
}

static void a_cached_model_refutes(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_MEMORY_SATURATED, 0.9),
                                          point("attention", BOUND_MEMORY_SATURATED, 0.1)};
    for (int i = 0; i < POINTS; i++) {
        (void)snprintf(points[i].resident_level, sizeof points[i].resident_level, "L3");
    }
    struct validation v = judge(points, 1.02);
    assert_int_equal(v.verdict, CLAIM_REFUTED);
    assert_non_null(strstr(v.finding, "fits in cache"));
}

static void the_unknown_is_not_judged(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_MEMORY_SATURATED, 0.6),
                                          point("attention", BOUND_UNKNOWN, 0.4)};
    struct validation v = judge(points, 1.02);
    assert_int_equal(v.verdict, CLAIM_CANNOT_TELL);
    ASSERT_CLOSE(v.unknown_fraction, 0.4, 1e-12);
}

// A step of which an operator was not measured is no whole one.
static void operators_that_are_missing_are_seen(void **state)
{
    struct result_point points[2] = {{.operator_ = "qkv"}, {.operator_ = "head"}};
    struct result_run run = {.points = points, .point_count = 2};
    (void)state;
    points[0].seconds = reading_plain(1e-3, ORIGIN_TIMED);
    assert_false(validation_is_whole(&run));
    points[1].seconds = reading_plain(2e-3, ORIGIN_TIMED);
    assert_true(validation_is_whole(&run));
    run.point_count = 0;
    assert_false(validation_is_whole(&run));
}

static void an_interrupted_run_is_not_judged(void **state)
{
    (void)state;
    struct validation v;
    const struct result_run run = {.point_count = 0};
    validation_interrupted(&v, &run, "interrupted");
    assert_int_equal(v.verdict, CLAIM_CANNOT_TELL);
    assert_non_null(strstr(v.finding, "interrupted"));
    assert_true(v.claim[0] != '\0' && isnan(v.memory_fraction) && isnan(v.unknown_fraction));
}

static void the_text_holds_every_operator(void **state)
{
    (void)state;
    struct result_point points[POINTS] = {point("qkv", BOUND_MEMORY_SATURATED, 0.95),
                                          point("attention", BOUND_UNKNOWN, 0.05)};
    const struct result_run run = {
        .points = points, .point_count = POINTS, .read_growth = 1.02, .other_mix = 1.0};
    struct validation v = judge(points, 1.02);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    validation_print(file, &v, &run);
    (void)fclose(file);
    static const char *const words[] = {"Claim", "confirmed", "qkv",  "95.0 %",   "attention",
                                        "twins", "unknown",   "DRAM", "ms a call"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("the text lacks '%s':\n%s", words[i], text);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_confirmed_and_its_form_told),
        cmocka_unit_test(the_steps_intervals_come_from_its_operators),
        cmocka_unit_test(compute_refutes),
        cmocka_unit_test(a_cached_model_refutes),
        cmocka_unit_test(the_unknown_is_not_judged),
        cmocka_unit_test(an_interrupted_run_is_not_judged),
        cmocka_unit_test(operators_that_are_missing_are_seen),
        cmocka_unit_test(the_text_holds_every_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
