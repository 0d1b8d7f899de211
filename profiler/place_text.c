#include "profiler/place_text.h"

#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void format_fraction(char out[24], const struct place_point *point)
{
    int used = snprintf(out, 24, "%.0f %%", 100 * point->roof_fraction);
    if (isfinite(point->roof_fraction_low) && isfinite(point->roof_fraction_high) && used > 0) {
        (void)snprintf(out + used, 24 - (size_t)used, " %.0f-%.0f", 100 * point->roof_fraction_low,
                       100 * point->roof_fraction_high);
    }
}

static void print_fraction(FILE *out, const struct place_point *point)
{
    if (isnan(point->roof_fraction)) {
        (void)fprintf(out, " %8s %13s %7s  %s\n", "-", "-", "-", "-");
        return;
    }
    char bound[UNITS_TEXT];
    char fraction[24];
    format_fraction(fraction, point);
    (void)fprintf(out, " %8s %13s %6.2fx  %s\n",
                  units_format_decimal(bound, point->tokens / point->bound_seconds, ""), fraction,
                  1 / point->roof_fraction, point->compute_bound ? "compute" : "memory");
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

// ---- the answer, before the table

// Points of a phase from the lowest fraction to the highest; false if it has none with a fraction.
static bool extremes(size_t *low, size_t *high, const struct placement *placement,
                     const char *phase)
{
    bool any = false;
    for (size_t i = 0; i < placement->point_count; i++) {
        const struct place_point *point = &placement->points[i];
        if (isnan(point->roof_fraction) || strcmp(place_phase_name(point), phase) != 0) {
            continue;
        }
        *low = !any || point->roof_fraction < placement->points[*low].roof_fraction ? i : *low;
        *high = !any || point->roof_fraction > placement->points[*high].roof_fraction ? i : *high;
        any = true;
    }
    return any;
}

static void print_shape(FILE *out, const struct place_point *point)
{
    const struct place_test *test = &point->test;
    (void)fprintf(out, "%s", point->dtype == DTYPE_NONE ? "" : dtype_name(point->dtype));
    if (test->prompt > 0) {
        (void)fprintf(out, ", prompt %" PRIu64, test->prompt);
    }
    (void)fprintf(out, ", depth %" PRIu64 ", batch %" PRIu64, test->depth, test->batch);
    if (test->threads > 0) {
        (void)fprintf(out, ", %u thread%s", test->threads, test->threads == 1 ? "" : "s");
    }
}

// Without a unit there is no blank behind it.
static char *rate_text(char out[UNITS_TEXT], double per_s)
{
    units_format_decimal(out, per_s, "");
    size_t length = strlen(out);
    if (length > 0 && out[length - 1] == ' ') {
        out[length - 1] = '\0';
    }
    return out;
}

static void print_reached(FILE *out, const struct place_point *point)
{
    char rate[UNITS_TEXT];
    char bound[UNITS_TEXT];
    (void)fprintf(out, "%.0f %% of what %s allows (%s of %s tokens/s; ", 100 * point->roof_fraction,
                  point->compute_bound ? "arithmetic" : "memory",
                  rate_text(rate, point->tokens / point->test.seconds),
                  rate_text(bound, point->tokens / point->bound_seconds));
    if (point->roof_fraction > 1) {
        (void)fputs("not possible: the profile is of a worse moment or another machine; ", out);
    } else {
        (void)fprintf(out, "%.2fx left; ", 1 / point->roof_fraction);
    }
    print_shape(out, point);
    (void)fputs(")\n", out);
}

static void print_headline(FILE *out, const struct placement *placement, const char *phase)
{
    size_t low = 0;
    size_t high = 0;
    if (!extremes(&low, &high, placement, phase)) {
        return;
    }
    const struct place_point *best = &placement->points[high];
    const struct place_point *worst = &placement->points[low];
    (void)fprintf(out, "%s reaches ", phase);
    print_reached(out, best);
    if (worst->roof_fraction < 0.9 * best->roof_fraction) {
        (void)fprintf(out, "%*s and as little as ", (int)strlen(phase) - 4, "");
        print_reached(out, worst);
    }
}

static void print_answer(FILE *out, const struct placement *placement)
{
    static const char *const phases[] = {"decode", "prefill", "mixed"};
    if (placement->machine == NULL) {
        (void)fprintf(out, "no machine was given: what is left cannot be told (--machine FILE of "
                           "'lmroof probe -o FILE' there, or a NAME of 'lmroof predict --list')\n");
    }
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        print_headline(out, placement, phases[i]);
    }
    const char *before = "probable cause of what is left (explained below): ";
    bool any = false;
    for (size_t i = 0; i < placement->finding_count; i++) {
        const char *code = placement->findings[i].code;
        if (strcmp(code, "near_roof") != 0) { // no cause: nothing much is left
            (void)fprintf(out, "%s%s", any ? ", " : before, code);
            any = true;
        }
    }
    (void)fputs(any ? "\n" : "", out);
}

// What is assumed of each model, once.
static void print_models(FILE *out, const struct placement *placement)
{
    for (size_t i = 0; i < placement->point_count; i++) {
        const struct place_point *point = &placement->points[i];
        bool said = false;
        for (size_t j = 0; j < i && !said; j++) {
            said = point->model == placement->points[j].model &&
                   strcmp(point->model_name, placement->points[j].model_name) == 0;
        }
        if (!said && point->model == PLACE_MODEL_MATCHED) {
            (void)fprintf(out,
                          "assumed: the model is %s, the built-in one of exactly as many "
                          "parameters (-m MODEL if it is another)\n",
                          point->model_name);
        } else if (!said && point->model == PLACE_MODEL_SIZE) {
            (void)fprintf(out,
                          "assumed: of '%s' only the file's size is known, all of it read for a "
                          "token; cache and attention are not counted (-m MODEL)\n",
                          point->model_name);
        }
    }
}

void place_print(FILE *out, const struct placement *placement)
{
    print_answer(out, placement);
    print_models(out, placement);
    (void)fprintf(
        out, "\nunder the roofs of %s%s\n",
        placement->machine == NULL ? "no machine (--machine FILE|NAME)" : placement->machine->label,
        placement->machine != NULL && placement->machine->is_datasheet ? ", a data sheet" : "");
    (void)fprintf(out, "  %-18s %-7s %-7s %5s %9s %7s %4s %8s %10s %8s %13s %7s  %s\n", "model",
                  "dtype", "phase", "batch", "tokens", "depth", "thr", "tokens/s", "bytes/s",
                  "bound", "of it (95 %)", "left", "limit");
    for (size_t i = 0; i < placement->point_count; i++) {
        print_point(out, &placement->points[i]);
    }
    (void)fprintf(out,
                  "tokens/s as measured by the tool; bytes/s: modelled bytes over its time; of "
                  "it: by the roofs' intervals and the tool's spread\n");
    for (size_t i = 0; i < placement->finding_count; i++) {
        const struct place_finding *finding = &placement->findings[i];
        (void)fprintf(out, "\n%s (%s): %s\n", finding->code, placement->points[finding->point].id,
                      finding->text);
        if (finding->try_ != NULL) {
            (void)fprintf(out, "  try: %s\n", finding->try_);
        }
    }
}
