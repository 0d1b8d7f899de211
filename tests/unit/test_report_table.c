#include "profiler/report_missing.h"
#include "profiler/report_table.h"
#include "tests/test.h"

static void crossovers_in_words(void **unused)
{
    (void)unused;
    char text[REPORT_HEADING];
    struct result_crossover crossover = {
        .dtype = "bf16",
        .predicted_linears = reading_plain(13.52, ORIGIN_MODELLED),
        .predicted_step =
            reading_absent(ABSENT_UNSUPPORTED, "never: intensity stays below 9.1 FLOP/byte", NULL),
        .measured = reading_absent(
            ABSENT_UNSUPPORTED, "the batches do not go from memory-bound to compute-bound", NULL)};
    report_crossover_text(text, &crossover);
    assert_string_equal(text, "crossover of bf16, in sequences: predicted 13.5 (linears), never "
                              "(step); measured -");
    crossover.measured = reading_plain(9.04, ORIGIN_TIMED);
    report_crossover_text(text, &crossover);
    assert_string_equal(text, "crossover of bf16, in sequences: predicted 13.5 (linears), never "
                              "(step); measured 9.04");
    crossover.measured.ci95_low = 7.5;
    crossover.measured.ci95_high = 11.25;
    report_crossover_text(text, &crossover);
    assert_non_null(strstr(text, "measured 9.04 [7.5 .. 11.2]"));
}

static void integer_sections_are_not_in_flop(void **unused)
{
    (void)unused;
    struct result_point points[] = {
        {.phase = "decode", .dtype = "bf16"},
        {.phase = "decode", .dtype = "q8_0"}, // attention computes in f32
        {.phase = "decode", .dtype = "q8_0", .integer_operations = true}};
    const struct result_run run = {.points = points, .point_count = 3};
    const struct report_column *rate = report_columns;
    while (strcmp(rate->title, "FLOP/s") != 0) {
        rate++;
    }
    assert_string_equal(report_title(rate, &run, &points[0]), "FLOP/s");
    assert_string_equal(report_title(rate, &run, &points[1]), "OP/s");
    assert_string_equal(report_title(rate + 1, &run, &points[1]), rate[1].title);
}

// A sweep over threads warns once for each number of them: what is said counts the points of all.
static void disturbed_points_of_all_passes(void **unused)
{
    (void)unused;
    const struct reading seconds = reading_plain(1e-3, ORIGIN_TIMED);
    struct result_point points[] = {
        {.seconds = seconds, .threads = 1, .disturbed = true},
        {.seconds = seconds, .threads = 1},
        {.seconds = seconds, .threads = 2, .disturbed = true},
        {.seconds = seconds, .threads = 2, .disturbed = true},
        {.seconds = reading_absent(ABSENT_NOT_SCHEDULED, "late", NULL), .threads = 2}};
    struct result_warning warnings[] = {{.code = "disturbed", .text = "1 of 2 points"},
                                        {.code = "other"},
                                        {.code = "disturbed", .text = "2 of 2 points"}};
    struct result_run run = {
        .points = points, .point_count = 5, .warnings = warnings, .warning_count = 1};
    char text[REPORT_LINE];
    assert_true(report_disturbed_text(text, &run));
    assert_string_equal(text, "DISTURBED: 1 of 2 points");
    run.warning_count = 3;
    assert_true(report_disturbed_text(text, &run));
    assert_non_null(strstr(text, "DISTURBED: 3 of 4 points"));
    run.warning_count = 0;
    assert_false(report_disturbed_text(text, &run));
}

// What differs only in its variant has a name of its own.
static void operators_of_one_table_differ(void **unused)
{
    (void)unused;
    char text[REPORT_CELL];
    struct result_point point = {.id = "decode/act_quant/q8_0/b1/c16", .operator_ = "act_quant"};
    const struct report_column *column = report_columns;
    while (strcmp(column->title, "operator") != 0) {
        column++;
    }
    column->text(text, &point);
    assert_string_equal(text, "act_quant");
    (void)snprintf(point.id, sizeof point.id, "decode/act_quant.2/q8_0/b1/c16");
    column->text(text, &point);
    assert_string_equal(text, "act_quant.2");
    (void)snprintf(point.id, sizeof point.id, "decode/act_quant.12/q8_0/b1/c16");
    column->text(text, &point);
    assert_string_equal(text, "act_quant.12");
    (void)snprintf(point.id, sizeof point.id, "somebody's"); // of another tool
    column->text(text, &point);
    assert_string_equal(text, "act_quant");
}

static void a_step_says_what_its_parts_add_up_to(void **unused)
{
    (void)unused;
    char text[REPORT_HEADING];
    const struct result_point section = {.phase = "decode", .dtype = "q8_0", .context = 16};
    struct result_step step = {.phase = "decode", .dtype = "q8_0", .batch = 2, .context = 16};
    step.joules_per_token = (double)NAN;
    step.tokens_per_s = reading_plain(30.5, ORIGIN_TIMED);
    step.predicted_tokens_per_s = reading_plain(84.9, ORIGIN_MODELLED);
    assert_true(report_step_text(text, &step, &section));
    assert_string_equal(text, "batch 2: 30.5 tokens/s (roofs allow 84.9)");
    step.tokens_per_s.ci95_low = 28;
    step.tokens_per_s.ci95_high = 31.04;
    assert_true(report_step_text(text, &step, &section));
    assert_string_equal(text, "batch 2: 30.5 tokens/s [28 .. 31] (roofs allow 84.9)");
    step.estimate_count = 1;
    step.estimates[0].ratio = reading_plain(0.974, ORIGIN_TIMED);
    assert_true(report_step_text(text, &step, &section));
    assert_string_equal(
        text, "batch 2: 30.5 tokens/s [28 .. 31] (roofs allow 84.9, its parts add up to 97 % "
              "of its time)");
}

// What is missing is told in one line, without a colon in front of nothing.
static void incomplete_runs_say_why(void **state)
{
    char text[REPORT_LINE];
    struct result_point points[2] = {{.operator_ = "qkv"}, {.operator_ = "head"}};
    struct result_run run = {.points = points, .point_count = 2, .complete = true};
    (void)state;
    points[0].seconds = reading_plain(1e-3, ORIGIN_TIMED);
    assert_true(report_incomplete_text(text, &run));
    assert_string_equal(text, "INCOMPLETE: 1 of 2 points measured");
    points[1].seconds = reading_absent(ABSENT_NOT_SCHEDULED, "no time", "");
    assert_true(report_incomplete_text(text, &run));
    assert_string_equal(text, "INCOMPLETE: 1 of 2 points measured: no time");
    run.complete = false;
    assert_true(report_incomplete_text(text, &run));
    assert_string_equal(text, "INCOMPLETE: ended before the last point; 1 point was measured");
    (void)snprintf(run.claim.claim, sizeof run.claim.claim, "claim");
    assert_true(report_incomplete_text(text, &run));
    assert_string_equal(text, "INCOMPLETE: not every operator was measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(disturbed_points_of_all_passes),
                                       cmocka_unit_test(operators_of_one_table_differ),
                                       cmocka_unit_test(crossovers_in_words),
                                       cmocka_unit_test(integer_sections_are_not_in_flop),
                                       cmocka_unit_test(a_step_says_what_its_parts_add_up_to),
                                       cmocka_unit_test(incomplete_runs_say_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
