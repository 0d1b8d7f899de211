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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crossovers_in_words),
                                       cmocka_unit_test(integer_sections_are_not_in_flop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
