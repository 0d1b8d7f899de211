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
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crossovers_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
