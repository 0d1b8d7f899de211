#include "profiler/report_table.h"

#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dash(char out[REPORT_CELL])
{
    memcpy(out, "-", 2);
}

static void reading_text(char out[REPORT_CELL], const struct reading *reading, const char *unit)
{
    char text[UNITS_TEXT];
    double value = reading_is_present(reading) ? reading->value : (double)NAN;
    (void)snprintf(out, REPORT_CELL, "%s", units_format_decimal(text, value, unit));
}

static void percent_text(char out[REPORT_CELL], double fraction)
{
    if (isfinite(fraction)) {
        (void)snprintf(out, REPORT_CELL, "%.*f %%", fraction < 0.0995 ? 1 : 0, 100 * fraction);
    } else {
        dash(out);
    }
}

// Length of ".2" in the id of an operator whose layers differ ("decode/attention.2/..."), and where
// it begins; 0: there is none.
static int variant_of(const char **at, const struct result_point *point)
{
    const char *slash = strchr(point->id, '/');
    size_t name = strlen(point->operator_);
    *at = "";
    if (slash == NULL || strncmp(slash + 1, point->operator_, name) != 0) {
        return 0;
    }
    const char *dot = slash + 1 + name;
    size_t length = dot[0] == '.' ? 1 + strspn(dot + 1, "0123456789") : 0;
    *at = dot;
    return length > 1 && dot[length] == '/' ? (int)length : 0;
}

static void operator_text(char out[REPORT_CELL], const struct result_point *point)
{
    const char *variant = NULL;
    int length = variant_of(&variant, point);
    (void)snprintf(out, REPORT_CELL, "%s%.*s%s%s", point->operator_, length, variant,
                   point->recipe[0] != '\0' ? " " : "",
                   point->recipe[0] != '\0' ? point->dtype : "");
}

static void batch_text(char out[REPORT_CELL], const struct result_point *point)
{
    (void)snprintf(out, REPORT_CELL, "%u", point->batch);
}

static void intensity_text(char out[REPORT_CELL], const struct result_point *point)
{
    if (isfinite(point->flop_per_byte_predicted)) {
        bool large = point->flop_per_byte_predicted >= 99.95;
        (void)snprintf(out, REPORT_CELL, large ? "%.0f" : "%.3g", point->flop_per_byte_predicted);
    } else {
        dash(out);
    }
}

static void flop_rate_text(char out[REPORT_CELL], const struct result_point *point)
{
    reading_text(out, &point->flop_per_s, "");
}

static void byte_rate_text(char out[REPORT_CELL], const struct result_point *point)
{
    reading_text(out, &point->bytes_per_s_modelled, "");
}

static void roof_text(char out[REPORT_CELL], const struct result_point *point)
{
    (void)snprintf(out, REPORT_CELL, "%s", point->roof_name[0] == '\0' ? "-" : point->roof_name);
}

static void fraction_text(char out[REPORT_CELL], const struct result_point *point)
{
    percent_text(out, reading_is_present(&point->roof_fraction) ? point->roof_fraction.value
                                                                : (double)NAN);
}

// A point that could not be measured says so where its bound would stand.
static void bound_text(char out[REPORT_CELL], const struct result_point *point)
{
    const char *text = reading_is_present(&point->seconds)
                           ? verdict_bound_name(point->bound)
                           : absent_state_name(point->seconds.absence.state);
    (void)snprintf(out, REPORT_CELL, "%s", text);
}

static void share_text(char out[REPORT_CELL], const struct result_point *point)
{
    percent_text(out, point->time_share_fraction);
}

static void seconds_text(char out[REPORT_CELL], const struct result_point *point)
{
    reading_text(out, &point->seconds, "s");
}

static void memory_text(char out[REPORT_CELL], const struct result_point *point)
{
    reading_text(out, &point->memory_only_seconds, "s");
}

static void work_text(char out[REPORT_CELL], const struct result_point *point)
{
    reading_text(out, &point->compute_only_seconds, "s");
}

const struct report_column report_columns[] = {
    {"operator", "part of the model's step", 12, true, operator_text},
    {"batch", "sequences decoded or read at once", 5, false, batch_text},
    {"AI", "predicted FLOP per byte of DRAM traffic", 6, false, intensity_text},
    {"FLOP/s", "attained; OP/s where the matrices' operations are integer ones", 7, false,
     flop_rate_text},
    {"bytes/s", "attained, of the modelled DRAM bytes", 7, false, byte_rate_text},
    {"roof", "the roof that the point is judged by", 14, true, roof_text},
    {"of it", "fraction of that roof", 6, false, fraction_text},
    {"bound", "what limits it, as far as known", 19, true, bound_text},
    {"share", "of the step's time", 6, false, share_text},
    {"time t", "one call", 8, false, seconds_text},
    {"mem m", "its memory-only twin", 8, false, memory_text},
    {"work k", "its compute-only twin", 8, false, work_text},
    {.title = NULL}};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_section(const struct result_point *a, const struct result_point *b)
{
    int order = strcmp(a->phase, b->phase);
    order = order != 0 ? order : compare_u64(a->context, b->context);
    order = order != 0 ? order : compare_u64(a->prompt, b->prompt);
    order = order != 0 ? order : compare_u64(a->threads, b->threads);
    return order != 0 ? order : strcmp(result_point_recipe(a), result_point_recipe(b));
}

static int compare_points(const void *left, const void *right)
{
    const struct result_point *a = *(const struct result_point *const *)left;
    const struct result_point *b = *(const struct result_point *const *)right;
    int order = compare_section(a, b);
    order = order != 0 ? order : compare_u64(a->batch, b->batch);
    return order != 0 ? order : (a > b) - (a < b);
}

const char *report_title(const struct report_column *column, const struct result_run *run,
                         const struct result_point *section)
{
    bool integers = false;
    for (size_t i = 0; i < run->point_count && column->text == flop_rate_text; i++) {
        integers = integers || (run->points[i].integer_operations &&
                                compare_section(&run->points[i], section) == 0);
    }
    return integers ? "OP/s" : column->title;
}

const struct result_point **report_order(const struct result_run *run)
{
    const struct result_point **order = calloc(run->point_count + 1, sizeof *order);
    if (order == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < run->point_count; i++) {
        order[i] = &run->points[i];
    }
    qsort(order, run->point_count, sizeof *order, compare_points);
    return order;
}

bool report_same_section(const struct result_point *a, const struct result_point *b)
{
    return compare_section(a, b) == 0;
}

void report_section_heading(char out[REPORT_HEADING], const struct result_run *run,
                            const struct result_point *point)
{
    char threads[24] = "";
    if (run->sweep_count > 0) {
        (void)snprintf(threads, sizeof threads, ", %u thread%s", point->threads,
                       point->threads == 1 ? "" : "s");
    }
    if (strcmp(point->phase, "prefill") == 0) {
        (void)snprintf(out, REPORT_HEADING, "prefill of %" PRIu64 " tokens, %s%s", point->prompt,
                       result_point_recipe(point), threads);
    } else {
        (void)snprintf(out, REPORT_HEADING, "%s, context %" PRIu64 ", %s%s", point->phase,
                       point->context, result_point_recipe(point), threads);
    }
}

bool report_step_text(char out[REPORT_HEADING], const struct result_step *step,
                      const struct result_point *section)
{
    if (strcmp(step->phase, section->phase) != 0 ||
        strcmp(step->dtype, result_point_recipe(section)) != 0 ||
        step->context != section->context || step->prompt != section->prompt ||
        (step->threads > 0 && step->threads != section->threads) ||
        !reading_is_present(&step->tokens_per_s)) {
        return false;
    }
    char bound[96] = "";
    if (reading_is_present(&step->predicted_tokens_per_s)) {
        char parts[48] = "";
        if (step->estimate_count > 0) {
            (void)snprintf(parts, sizeof parts, ", its parts add up to %.0f %% of its time",
                           100 * step->estimates[0].ratio.value);
        }
        (void)snprintf(bound, sizeof bound, " (roofs allow %.3g%s)",
                       step->predicted_tokens_per_s.value, parts);
    }
    char experts[72] = "";
    if (step->experts_count > 0) {
        const struct result_step_experts *e = &step->experts[0];
        (void)snprintf(experts, sizeof experts,
                       "; %.3g of %llu experts a layer (expected %.3g +- %.2g)", e->distinct,
                       (unsigned long long)e->experts, e->distinct_expected, e->expected_error);
    }
    char joules[32] = "";
    if (!isnan(step->joules_per_token)) {
        (void)snprintf(joules, sizeof joules, ", %.3g J a token", step->joules_per_token);
    }
    char interval[40] = "";
    if (isfinite(step->tokens_per_s.ci95_low) && isfinite(step->tokens_per_s.ci95_high)) {
        (void)snprintf(interval, sizeof interval, " [%.3g .. %.3g]", step->tokens_per_s.ci95_low,
                       step->tokens_per_s.ci95_high);
    }
    (void)snprintf(out, REPORT_HEADING, "batch %u: %.3g tokens/s%s%s%s%s", step->batch,
                   step->tokens_per_s.value, interval, bound, experts, joules);
    return true;
}

static void batch_number(char out[REPORT_CELL], const struct reading *batch)
{
    if (reading_is_present(batch)) {
        (void)snprintf(out, REPORT_CELL, "%.3g", batch->value);
    } else {
        bool never = strncmp(batch->absence.text, "never", 5) == 0;
        (void)snprintf(out, REPORT_CELL, "%s", never ? "never" : "-");
    }
}

void report_crossover_text(char out[REPORT_HEADING], const struct result_crossover *crossover)
{
    char linears[REPORT_CELL];
    char step[REPORT_CELL];
    char measured[REPORT_CELL];
    batch_number(linears, &crossover->predicted_linears);
    batch_number(step, &crossover->predicted_step);
    batch_number(measured, &crossover->measured);
    int used = snprintf(out, REPORT_HEADING,
                        "crossover of %s, in sequences: predicted %.12s (linears), %.12s (step); "
                        "measured %.12s",
                        crossover->dtype, linears, step, measured);
    const struct reading *reading = &crossover->measured;
    if (reading_is_present(reading) && isfinite(reading->ci95_low) && used > 0 &&
        used < REPORT_HEADING) {
        (void)snprintf(out + used, REPORT_HEADING - (size_t)used, " [%.3g .. %.3g]",
                       reading->ci95_low, reading->ci95_high);
    }
}

bool report_sweep_text(char out[REPORT_SWEEP], const struct result_sweep *sweep)
{
    bool prefill = strcmp(sweep->phase, "prefill") == 0;
    int used = snprintf(out, REPORT_SWEEP, "%s, batch %u, %s %" PRIu64 ", %s: tokens/s by threads",
                        sweep->phase, sweep->batch, prefill ? "prompt" : "context",
                        prefill ? sweep->prompt : sweep->context, sweep->dtype);
    for (size_t i = 0; i < sweep->row_count && used < REPORT_SWEEP; i++) {
        char rate[REPORT_CELL];
        reading_text(rate, &sweep->rows[i].tokens_per_s, "");
        used += snprintf(out + used, REPORT_SWEEP - (size_t)used, "%s %u: %.12s", i > 0 ? "," : "",
                         sweep->rows[i].threads, rate);
    }
    const struct reading *knee = &sweep->knee_threads;
    char text[24] = "not reached";
    if (reading_is_present(knee)) {
        (void)snprintf(text, sizeof text, "%.0f", knee->value);
    } else if (knee->absence.state == ABSENT_FAILED) {
        (void)snprintf(text, sizeof text, "unknown");
    }
    if (used < REPORT_SWEEP) {
        (void)snprintf(out + used, REPORT_SWEEP - (size_t)used, "; knee %s", text);
    }
    return sweep->row_count > 0;
}

void report_rate_text(char out[REPORT_CELL], const struct reading *reading, const char *unit)
{
    char value[UNITS_TEXT];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];
    if (!reading_is_present(reading)) {
        dash(out);
        return;
    }
    units_format_decimal(value, reading->value, unit);
    if (!isfinite(reading->ci95_low) || !isfinite(reading->ci95_high)) {
        (void)snprintf(out, REPORT_CELL, "%s", value);
        return;
    }
    if (reading->n == 1) { // no interval
        (void)snprintf(out, REPORT_CELL, "%.20s (one sample)", value);
        return;
    }
    (void)snprintf(out, REPORT_CELL, "%.20s (%.14s .. %.14s)", value,
                   units_format_decimal(low, reading->ci95_low, ""),
                   units_format_decimal(high, reading->ci95_high, ""));
}
