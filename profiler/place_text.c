#include "profiler/place_text.h"

#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>

static void print_fraction(FILE *out, const struct place_point *point)
{
    if (isnan(point->roof_fraction)) {
        (void)fprintf(out, " %8s %7s %7s  %s\n", "-", "-", "-", "-");
        return;
    }
    char bound[UNITS_TEXT];
    (void)fprintf(out, " %8s %5.0f %% %6.2fx  %s\n",
                  units_format_decimal(bound, point->tokens / point->bound_seconds, ""),
                  100 * point->roof_fraction, 1 / point->roof_fraction,
                  point->compute_bound ? "compute" : "memory");
}

static void print_point(FILE *out, const struct place_point *point)
{
    const struct place_test *test = &point->test;
    char rate[UNITS_TEXT];
    char bytes[UNITS_TEXT];
    char tokens[48];
    if (test->prompt > 0 && test->generated > 0) {
        (void)snprintf(tokens, sizeof tokens, "%" PRIu64 "+%" PRIu64, test->prompt,
                       test->generated);
    } else {
        (void)snprintf(tokens, sizeof tokens, "%" PRIu64, test->prompt + test->generated);
    }
    (void)fprintf(out, "  %-18.18s %-7.7s %-7s %5" PRIu64 " %9s %7" PRIu64 " %4u %8s %10s",
                  point->model_name, point->dtype == DTYPE_NONE ? "-" : dtype_name(point->dtype),
                  place_phase_name(point), test->batch, tokens, test->depth, test->threads,
                  units_format_decimal(rate, point->tokens / test->seconds, ""),
                  units_format_decimal(bytes, point->bytes / test->seconds, "B/s"));
    print_fraction(out, point);
}

static bool some_by_size(const struct placement *placement)
{
    for (size_t i = 0; i < placement->point_count; i++) {
        if (placement->points[i].model == PLACE_MODEL_SIZE) {
            return true;
        }
    }
    return false;
}

void place_print(FILE *out, const struct placement *placement)
{
    (void)fprintf(
        out, "under the roofs of %s%s\n",
        placement->machine == NULL ? "no machine (--machine FILE|NAME)" : placement->machine->label,
        placement->machine != NULL && placement->machine->is_datasheet ? ", a data sheet" : "");
    (void)fprintf(out, "  %-18s %-7s %-7s %5s %9s %7s %4s %8s %10s %8s %7s %7s  %s\n", "model",
                  "dtype", "phase", "batch", "tokens", "depth", "thr", "tokens/s", "bytes/s",
                  "bound", "of it", "left", "limit");
    for (size_t i = 0; i < placement->point_count; i++) {
        print_point(out, &placement->points[i]);
    }
    (void)fprintf(out, "tokens/s as measured by the tool; bytes/s: modelled bytes over its time\n");
    if (some_by_size(placement)) {
        (void)fprintf(out, "Some models are known by their file's size alone: cache and attention "
                           "are not counted (-m MODEL).\n");
    }
    for (size_t i = 0; i < placement->finding_count; i++) {
        const struct place_finding *finding = &placement->findings[i];
        (void)fprintf(out, "\n%s (%s): %s\n", finding->code, placement->points[finding->point].id,
                      finding->text);
        if (finding->try_ != NULL) {
            (void)fprintf(out, "  try: %s\n", finding->try_);
        }
    }
}
