#include "profiler/probe_samples.h"
#include "tests/test.h"

static struct witness_look line(double seconds)
{
    return (struct witness_look){
        .pairs = 1, .line_seconds = {seconds}, .loop_per_s = 1, .copy_per_s = 1};
}

static void a_moved_cpu_is_seen(void **state)
{
    (void)state;
    struct witness_look near = line(26e-9);
    struct witness_look again = line(31e-9);
    struct witness_look far = line(160e-9);
    struct witness_look unseen = line((double)NAN);
    struct witness_look none = {.pairs = 0};
    assert_false(witness_moved(&near, &again));
    assert_true(witness_moved(&near, &far));
    assert_true(witness_moved(&far, &near));
    assert_false(witness_moved(&near, &unseen)); // what was not seen is no sign
    assert_false(witness_moved(&near, &none));
    ASSERT_CLOSE(witness_longest_line(&far), 160e-9, 1e-12);
    assert_true(isnan(witness_longest_line(&none)));
    struct witness_places places = {.count = 0};
    assert_int_equal(witness_place(&places, &near), 0);
    assert_int_equal(witness_place(&places, &far), 1);
    assert_int_equal(witness_place(&places, &again), 0);
    assert_int_equal(places.count, 2);
    for (unsigned i = 1; i < 20; i++) {
        struct witness_look more = line(1e-6 * i * i * i);
        assert_true(witness_place(&places, &more) < WITNESS_PLACES_MAX);
    }
}

// count samples of that rate at that place, with so many switches and that loop speed.
static void add(struct probe_samples *samples, size_t count, double per_s, unsigned place,
                double switches, double loop)
{
    for (size_t i = 0; i < count; i++) {
        samples->of[samples->count++] =
            (struct probe_sample){.per_s = per_s,
                                  .core_hz = 3e9,
                                  .signs = {.steal_seconds = (double)NAN,
                                            .throttled_count = (double)NAN,
                                            .involuntary_switches = switches},
                                  .place_before = place,
                                  .place_after = place,
                                  .loop_per_s = loop,
                                  .copy_per_s = 1};
    }
}

struct outcome {
    struct reading per_s;
    struct reading hz;
    char unsteady[320];
    char all[320];
};

static void sum_up_known(struct outcome *out, const struct probe_samples *samples, size_t least,
                         double copy_known_per_s)
{
    const struct probe_samples *all[] = {samples};
    struct witness_look near = line(26e-9);
    struct witness_look far = line(160e-9);
    struct probe_view view = {.places = {.looks = {near, far}, .count = 2}};
    probe_view_make(&view, all, 1, copy_known_per_s);
    probe_samples_read(&out->per_s, &out->hz, out->unsteady, sizeof out->unsteady, samples, &view,
                       least);
    (void)probe_view_describe(out->all, sizeof out->all, &view);
}

static void sum_up(struct outcome *out, const struct probe_samples *samples, size_t least)
{
    sum_up_known(out, samples, least, (double)NAN);
}

static void disturbed_samples_do_not_count(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    add(&samples, 8, 100, 0, 0, 10);
    add(&samples, 2, 50, 0, 3, 10);  // interrupted
    add(&samples, 2, 200, 1, 0, 10); // elsewhere
    add(&samples, 2, 60, 0, 0, 7);   // slowed
    sum_up(&out, &samples, 7);
    assert_int_equal(out.per_s.n, 7);
    ASSERT_CLOSE(out.per_s.value, 100, 1e-12);
    ASSERT_CLOSE(out.hz.value, 3e9, 1e-12);
    assert_string_equal(out.unsteady, ""); // they were left out: the figure is steady
    assert_non_null(strstr(out.all, "6 involuntary switches"));
    assert_non_null(strstr(out.all, "26 or 160 ns"));
    assert_non_null(strstr(out.all, "70 %"));
}

static void too_few_clean_ones_are_named(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    add(&samples, 3, 100, 0, 0, 10);
    add(&samples, 9, 80, 0, 1, 10);
    sum_up(&out, &samples, 7);
    assert_int_equal(out.per_s.n, 7);
    assert_non_null(strstr(out.unsteady, "9 of 12 windows disturbed"));
    assert_non_null(strstr(out.unsteady, "9 involuntary switches"));
    assert_null(strstr(out.unsteady, "ns")); // no cpu was moved
    struct probe_samples few = {.count = 0};
    add(&few, 2, 100, 0, 0, 10); // the time was over: no disturbance, but no interval either
    sum_up(&out, &few, 7);
    assert_non_null(strstr(out.unsteady, "0 of 2 windows disturbed"));
    struct probe_samples none = {.count = 0};
    add(&none, 9, 80, 0, 1, 10);
    sum_up(&out, &none, 7);
    assert_false(reading_is_present(&out.hz)); // cycles of stopped time are no clock
    ASSERT_CLOSE(out.per_s.value, 80, 1e-12);
}

static void a_wide_interval_without_a_sign_says_so(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    for (size_t i = 0; i < 12; i++) {
        add(&samples, 1, 100 + 10 * (double)i, 0, 0, 10);
    }
    sum_up(&out, &samples, 7);
    assert_non_null(strstr(out.unsteady, "no sign was seen"));
    assert_string_equal(out.all, "");
    struct probe_samples empty = {.count = 0};
    sum_up(&out, &empty, 7);
    assert_false(reading_is_present(&out.per_s));
    assert_string_equal(out.unsteady, "");
}

// A sample is the best window of those spread over the whole run, so that a slow phase costs a few
// windows and not the figure.
static void a_slow_phase_does_not_lower_the_figure(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    add(&samples, 28, 99, 0, 0, 10);
    add(&samples, 14, 97, 0, 0, 10);
    add(&samples, 28, 100, 0, 0, 10);
    sum_up(&out, &samples, 7);
    assert_int_equal(out.per_s.n, 7);
    ASSERT_CLOSE(out.per_s.value, 100, 1e-12);
    assert_string_equal(out.unsteady, "");
}

static void a_run_that_drifts_is_marked(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    add(&samples, 14, 80, 0, 0, 10);
    add(&samples, 42, 100, 0, 0, 10);
    sum_up(&out, &samples, 7);
    ASSERT_CLOSE(out.per_s.value, 100, 1e-12);
    assert_non_null(strstr(out.unsteady, "quarters 20 % apart"));
    assert_non_null(strstr(out.unsteady, "no sign was seen"));
    samples.shared = true; // memory: the arithmetic in between was steady
    sum_up(&out, &samples, 7);
    assert_non_null(strstr(out.unsteady, "others use the same cache or memory"));
    struct probe_samples busy = {.count = 0};
    add(&busy, 20, 100, 0, 0, 10);
    add(&busy, 22, 70, 0, 1, 10); // more than half: who knows what the others would have been
    sum_up(&out, &busy, 7);
    assert_non_null(strstr(out.unsteady, "22 of 42 windows disturbed: 22 involuntary switches"));
}

static void most_samples_decide_the_place(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.count = 0};
    add(&samples, 3, 27, 0, 0, 10);
    add(&samples, 9, 54, 1, 0, 10);
    sum_up(&out, &samples, 7);
    ASSERT_CLOSE(out.per_s.value, 54, 1e-12);
    assert_int_equal(out.per_s.n, 7);
}

// A neighbour on the core leaves the arithmetic alone and halves what L1 moves.
static void crowded(struct probe_samples *samples, size_t count, double per_s, double copy)
{
    size_t first = samples->count;
    add(samples, count, per_s, 0, 0, 10);
    for (size_t i = first; i < samples->count; i++) {
        samples->of[i].copy_per_s = copy;
    }
}

static void a_neighbour_on_the_core_does_not_count(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.heeds_copy = true};
    crowded(&samples, 30, 66, 0.7);
    crowded(&samples, 8, 100, 1);
    sum_up(&out, &samples, 7);
    assert_int_equal(out.per_s.n, 7);
    ASSERT_CLOSE(out.per_s.value, 100, 1e-12);
    assert_string_equal(out.unsteady, ""); // enough windows were its own
    assert_non_null(strstr(out.all, "a neighbour on the same core"));
    assert_non_null(strstr(out.all, "70 %"));
    samples.heeds_copy = false; // memory: the best of all windows
    samples.of[0].per_s = 101;
    sum_up(&out, &samples, 7);
    assert_int_equal(out.per_s.n, 7);
    ASSERT_CLOSE(out.per_s.value, 100, 1e-12);
    assert_string_equal(out.all, "");
}

static void a_lower_clock_is_no_neighbour(void **state)
{
    (void)state;
    const struct probe_pace best = {10, 100};
    assert_true(probe_is_crowded((struct probe_pace){10, 80}, best));
    assert_false(probe_is_crowded((struct probe_pace){8, 80}, best));
    assert_true(probe_is_crowded((struct probe_pace){8, 60}, best));
    assert_false(probe_is_crowded((struct probe_pace){12, 95}, best));
}

static void a_neighbour_all_along_is_named(void **state)
{
    (void)state;
    struct outcome out;
    struct probe_samples samples = {.heeds_copy = true};
    crowded(&samples, 3, 100, 1);
    crowded(&samples, 39, 70, 0.8);
    sum_up(&out, &samples, 7);
    ASSERT_CLOSE(out.per_s.value, 70, 1e-12);
    assert_non_null(
        strstr(out.unsteady, "39 of 42 windows disturbed: a neighbour on the same core"));
    // As slow from the first window to the last: only a rate that is known tells.
    struct probe_samples even = {.heeds_copy = true};
    crowded(&even, 42, 70, 0.8);
    sum_up(&out, &even, 7);
    assert_string_equal(out.unsteady, "");
    sum_up_known(&out, &even, 7, 1.0);
    ASSERT_CLOSE(out.per_s.value, 70, 1e-12);
    assert_int_equal(out.per_s.n, 7);
    assert_non_null(strstr(out.unsteady, "a known copy in L1 at 80 %"));
    sum_up_known(&out, &even, 7, 0.85); // within what a loop may vary
    assert_string_equal(out.unsteady, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moved_cpu_is_seen),
        cmocka_unit_test(disturbed_samples_do_not_count),
        cmocka_unit_test(too_few_clean_ones_are_named),
        cmocka_unit_test(a_wide_interval_without_a_sign_says_so),
        cmocka_unit_test(a_slow_phase_does_not_lower_the_figure),
        cmocka_unit_test(a_run_that_drifts_is_marked),
        cmocka_unit_test(most_samples_decide_the_place),
        cmocka_unit_test(a_neighbour_on_the_core_does_not_count),
        cmocka_unit_test(a_lower_clock_is_no_neighbour),
        cmocka_unit_test(a_neighbour_all_along_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
