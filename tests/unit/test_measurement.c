#include "profiler/datasheet.h"
#include "profiler/machine_rates.h"
#include "profiler/measurement.h"
#include "profiler/results.h"
#include "profiler/stored_weights.h"
#include "roofline/estimate.h"
#include "tests/test.h"
#include "workloads/model_file.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { DECODES_AT_LEAST = 20 };
#define FRACTION_LEAST 0.15

struct published {
    struct measurement rows[MEASUREMENTS_MAX];
    size_t count;
    struct model model;
};

static void load_model(struct model *model, const char *name)
{
    char path[512];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/models/%s.json", TESTS_DIR, name);
    ASSERT_OK(model_load(model, stat(path, &info) == 0 ? path : name));
}

static double bound_tokens_per_s(const struct model *model, const struct measurement *row)
{
    struct step step;
    struct datasheet sheet;
    struct result_run profile = {.points = NULL};
    struct step_request request = step_defaults(row->phase);
    request.dtype = dtype_find(row->dtype);
    assert_true(request.dtype < DTYPE_COUNT);
    request.context = row->context;
    request.prompt = row->prompt;
    ASSERT_OK(step_compute(&step, model, &request));
    if (!isnan(row->file_bytes)) {
        stored_weights_scale(&step, row->file_bytes / step.weight_bytes);
    }
    ASSERT_OK(datasheet_find(&sheet, row->machine));
    ASSERT_OK(datasheet_profile(&profile, &sheet));
    struct estimate_rates rates = machine_bound_rates(&profile.machine, request.dtype, RATE_VALUE);
    struct estimate_time time;
    estimate_time(&time, &step, &rates);
    result_run_free(&profile);
    return (row->phase == STEP_DECODE ? 1.0 : (double)row->prompt) / time.bound_seconds;
}

// The table's fractions are those of today's model, and none of them is above its bound.
static void test_bound_is_above_every_measurement(void **state)
{
    (void)state;
    struct published *all = calloc(1, sizeof *all);
    size_t decodes = 0;
    assert_non_null(all);
    ASSERT_OK(measurement_load(all->rows, MEASUREMENTS_MAX, &all->count));
    for (size_t i = 0; i < all->count; i++) {
        const struct measurement *row = &all->rows[i];
        load_model(&all->model, row->model);
        double fraction = row->tokens_per_s / bound_tokens_per_s(&all->model, row);
        if (!(fraction <= 1 && fraction >= FRACTION_LEAST)) {
            fail_msg("%s, %s %s: measured / bound is %.3f, wanted %.2f to 1", row->machine,
                     row->model, row->dtype, fraction, FRACTION_LEAST);
        }
        if (fabs(row->fraction - fraction) > 0.0006) {
            fail_msg("row %zu (%s, %s %s): fraction is %.3f, the table says %.3f", i, row->machine,
                     row->model, row->dtype, fraction, row->fraction);
        }
        assert_true(strncmp(row->source, "https://", 8) == 0);
        decodes += row->phase == STEP_DECODE;
    }
    assert_true(decodes >= DECODES_AT_LEAST);
    free(all);
}

static void test_bands(void **state)
{
    static const struct measurement rows[] = {
        {.machine = "a", .phase = STEP_DECODE, .fraction = 0.2},
        {.machine = "a@6000", .phase = STEP_DECODE, .fraction = 0.4},
        {.machine = "a/8", .phase = STEP_DECODE, .fraction = 0.6},
        {.machine = "ab", .phase = STEP_DECODE, .fraction = 0.9},
        {.machine = "a", .dtype = "bf16", .phase = STEP_PREFILL, .fraction = 0.1}};
    struct measurement_band band;
    (void)state;
    measurement_band(&band, rows, 5, "a/4@4800", STEP_DECODE, DTYPE_FLOAT);
    assert_true(band.own);
    assert_int_equal(band.count, 3);
    ASSERT_CLOSE(band.low, 0.2, 1e-12);
    ASSERT_CLOSE(band.median, 0.4, 1e-12);
    ASSERT_CLOSE(band.high, 0.6, 1e-12);
    measurement_band(&band, rows, 5, "ab", STEP_DECODE, DTYPE_INT); // one of its own is too few
    assert_false(band.own);
    assert_int_equal(band.count, 4);
    ASSERT_CLOSE(band.high, 0.9, 1e-12);
    measurement_band(&band, rows, 5, "a", STEP_PREFILL, DTYPE_INT);
    assert_int_equal(band.count, 0);
    measurement_band(&band, rows, 5, "b", STEP_PREFILL, DTYPE_FLOAT);
    assert_int_equal(band.count, 1);
}

static void test_bad_tables(void **state)
{
    static const char *const texts[] = {
        "a\tm\tq4_0\tdecode\t64\t-\t1.0\t0.5\n",                    // a column short
        "a\tm\tq4_0\tdecode\t64\t-\t1.0\t0.5\thttps://x\tmore\n",   // one too many
        "a\tm\tq4_0\tdecode\t64\t-\tfast\t0.5\thttps://x\n",        // no number
        "a\tm\tq4_0\tdecode\t0\t-\t1.0\t0.5\thttps://x\n",          // no tokens
        "a\tm\tq4_0\ttrain\t64\t-\t1.0\t0.5\thttps://x\n",          // no phase
        "\tm\tq4_0\tdecode\t64\t-\t1.0\t0.5\thttps://x\n",          // no machine
        "# fine\na\tm\tq4_0\tdecode\t64\t-\tinf\t0.5\thttps://x\n", // infinite
        "a\tm\tq4_0\tdecode\t64\t-\t1\t0.5\tx\na\tm\tq4_0\tdecode\t64\t-\t1\t0.5\tx\n" // full
    };
    struct measurement row;
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct status status = measurement_parse(&row, 1, &count, texts[i], "t");
        if (status.code != STATUS_INVALID) {
            fail_msg("text %zu was accepted", i);
        }
    }
    ASSERT_OK(
        measurement_parse(&row, 1, &count, "# c\na\tm\tq4_0\tprefill\t64\t2\t1\t.5\tx\n", "t"));
    assert_int_equal(count, 1);
    assert_int_equal(row.prompt, 64);
    ASSERT_CLOSE(row.file_bytes, 2147483648.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound_is_above_every_measurement),
                                       cmocka_unit_test(test_bands),
                                       cmocka_unit_test(test_bad_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
