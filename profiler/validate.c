#include "profiler/validate.h"

#include "roofline/units.h"

#include <math.h>
#include <string.h>

/** The step's operators added up, each times its layers. */
struct sums {
    double seconds, flop, bytes;
    double read_roof_seconds; // the bytes at the read roof of the same rounds
    double compute_seconds;   // the flop at the compute roof
};

static struct sums add_up(const struct result_run *run)
{
    struct sums s = {0};
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        if (!reading_is_present(&p->seconds)) {
            continue;
        }
        double n = p->layers;
        s.seconds += n * p->seconds.value;
        s.flop += n * p->flop;
        s.bytes += n * p->bytes_modelled;
        s.read_roof_seconds += n * p->bytes_modelled / p->roof_bytes_per_s.value;
        s.compute_seconds += n * p->flop / p->roof_flop_per_s.value;
    }
    return s;
}

enum step_ratio { STEP_ROOF, STEP_READ, STEP_MEMORY_ONLY, STEP_COMPUTE_ONLY };

static struct verdict_ratio ratio_of(const struct result_point *p, enum step_ratio which)
{
    switch (which) {
    case STEP_READ:
        return p->read_roof_ratio;
    case STEP_MEMORY_ONLY:
        return p->memory_only_ratio;
    case STEP_COMPUTE_ONLY:
        return p->compute_only_ratio;
    case STEP_ROOF:
        break;
    }
    return (struct verdict_ratio){p->roof_fraction.value, p->roof_fraction.ci95_low,
                                  p->roof_fraction.ci95_high};
}

// Operators were measured one after the other: their ratios are weighted by time, and the ends of
// their intervals, errors of their own, add up as squares.
static struct verdict_ratio weighted(const struct result_run *run, enum step_ratio which)
{
    double seconds = add_up(run).seconds;
    double value = 0;
    double below = 0;
    double above = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        if (!reading_is_present(&p->seconds)) {
            continue;
        }
        double weight = p->layers * p->seconds.value / seconds;
        const struct verdict_ratio ratio = ratio_of(p, which);
        value += weight * ratio.value;
        below += pow(weight * (ratio.value - ratio.low), 2);
        above += pow(weight * (ratio.high - ratio.value), 2);
    }
    return (struct verdict_ratio){value, value - sqrt(below), value + sqrt(above)};
}

static void judge_step(struct validation *out, const struct result_run *run)
{
    const struct sums s = add_up(run);
    double read = s.bytes / s.read_roof_seconds;
    double compute = s.flop / s.compute_seconds;
    const struct verdict_input input = {
        .flop_per_byte = s.flop / s.bytes,
        .ridge_flop_per_byte = compute / read,
        .read_roof_fraction = weighted(run, STEP_READ),
        .roof_fraction = weighted(run, STEP_ROOF),
        .memory_only = weighted(run, STEP_MEMORY_ONLY),
        .compute_only = weighted(run, STEP_COMPUTE_ONLY),
        .threads = run->point_count > 0 ? run->points[0].threads : 1,
        .read_growth = run->read_growth,
        .other_mix = run->other_mix,
        .dtype_time_ratio = (double)NAN,
        .dtype_byte_ratio = (double)NAN,
        .counted_byte_ratio = (double)NAN,
        .memory_stall_fraction = (double)NAN,
    };
    verdict_point(&out->step, &input);
}

static bool saturated(const struct validation *v)
{
    for (size_t i = 0; i < v->step.evidence_count; i++) {
        if (strcmp(v->step.evidence[i].test, "saturation") == 0) {
            return v->step.evidence[i].passed;
        }
    }
    return false;
}

static const char *fact(const struct result_fact *facts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) {
            return facts[i].text;
        }
    }
    return "?";
}

static bool served_by_cache(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        const char *level = run->points[i].resident_level;
        if (strcmp(run->points[i].operator_, "act_quant") == 0) {
            continue; // activations always are
        }
        if (level[0] != '\0' && strcmp(level, "DRAM") != 0) {
            return true;
        }
    }
    return false;
}

static unsigned disturbed_points(const struct result_run *run)
{
    unsigned count = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        count += run->points[i].disturbed ? 1 : 0;
    }
    return count;
}

// Whether the memory itself is the limit, and what the threads' growth says of more cores.
static void describe_saturation(char *out, size_t size, const struct validation *v,
                                const struct result_run *run)
{
    if (saturated(v)) {
        (void)snprintf(out, size, "the memory itself is saturated: more cores would not help");
        return;
    }
    int used = snprintf(out, size,
                        "the memory itself is not saturated: the cores' reads in flight are the "
                        "limit, and more cores would help");
    if (!isnan(run->read_growth) && used > 0 && (size_t)used < size) {
        (void)snprintf(out + used, size - (size_t)used, " (the last half of the threads: %.2fx)",
                       run->read_growth);
    }
}

static void write_finding(struct validation *v, const struct result_run *run)
{
    const struct result_point *p = &run->points[0];
    char cores[160];
    (void)snprintf(cores, sizeof cores, "these %u cores (cpus %.40s of %.80s)", p->threads,
                   fact(run->conditions, run->condition_count, "cpus"),
                   fact(run->host, run->host_count, "name"));
    char form[200];
    describe_saturation(form, sizeof form, v, run);
    switch (v->verdict) {
    case CLAIM_CONFIRMED:
        (void)snprintf(v->finding, sizeof v->finding,
                       "confirmed for %s: %.0f %% of the step's time is in operators bound by "
                       "memory; %s",
                       cores, 100 * v->memory_fraction, form);
        break;
    case CLAIM_REFUTED:
        (void)snprintf(v->finding, sizeof v->finding,
                       "refuted for %s: only %.0f %% of the step's time is in operators bound by "
                       "DRAM%s",
                       cores, 100 * v->memory_fraction,
                       served_by_cache(run) ? "; the model fits in cache" : "");
        break;
    case CLAIM_CANNOT_TELL:
        (void)snprintf(v->finding, sizeof v->finding,
                       "cannot tell for %s: %.0f %% of the step's time is in operators bound by "
                       "memory, %.0f %% in operators whose bound is unknown%s",
                       cores, 100 * v->memory_fraction, 100 * v->unknown_fraction,
                       disturbed_points(run) > 0
                           ? "; other work disturbed the measurement: repeat it on quiet CPUs"
                           : "");
        break;
    }
}

void validation_judge(struct validation *out, const struct result_run *run)
{
    struct verdict_share shares[VALIDATE_OPERATORS_MAX];
    size_t count = 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < run->point_count && count < VALIDATE_OPERATORS_MAX; i++) {
        const struct result_point *p = &run->points[i];
        shares[count++] = (struct verdict_share){
            .bound = p->bound,
            .from_dram = p->resident_level[0] == '\0' || strcmp(p->resident_level, "DRAM") == 0,
            .time_share_fraction = p->time_share_fraction};
    }
    out->verdict = verdict_step(&out->memory_fraction, &out->unknown_fraction, shares, count);
    judge_step(out, run);
    const struct result_point *p = &run->points[0];
    (void)snprintf(out->claim, sizeof out->claim,
                   "decode of %s in %s at batch %u and context %llu is bound by memory bandwidth",
                   run->model_name, p->dtype, p->batch, (unsigned long long)p->context);
    write_finding(out, run);
}

bool validation_is_whole(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        if (!reading_is_present(&run->points[i].seconds)) {
            return false;
        }
    }
    return run->point_count > 0;
}

void validation_interrupted(struct validation *out, const struct result_run *run, const char *why)
{
    memset(out, 0, sizeof *out);
    out->verdict = CLAIM_CANNOT_TELL;
    out->memory_fraction = (double)NAN;
    out->unknown_fraction = (double)NAN;
    (void)snprintf(out->claim, sizeof out->claim, "decode of %s is bound by memory bandwidth",
                   run->model_name[0] == '\0' ? "the model" : run->model_name);
    (void)snprintf(out->finding, sizeof out->finding,
                   "not judged before the whole step was measured: %s", why);
}

static void print_evidence(FILE *out, const struct verdict_evidence *evidence, size_t count,
                           const char *indent)
{
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s%-19s%s %s\n%s%-19s   expected %s\n", indent, evidence[i].test,
                      evidence[i].passed ? "+" : "-", evidence[i].found, indent, "",
                      evidence[i].expected);
    }
}

// Bytes/s of the whole step beside the read roof that was sampled with it, both weighted by time.
static void print_speed(FILE *out, const struct result_run *run)
{
    double bytes = 0;
    double seconds = 0;
    double roof = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        double part = p->seconds.value * p->layers;
        bytes += p->bytes_modelled * p->layers;
        seconds += part;
        roof += reading_is_present(&p->roof_bytes_per_s) ? p->roof_bytes_per_s.value * part
                                                         : (double)NAN;
    }
    if (!(seconds > 0) || !(bytes > 0)) {
        return;
    }
    char rate[UNITS_TEXT];
    char most[UNITS_TEXT];
    char time[UNITS_TEXT];
    (void)fprintf(out, "Speed:   %s of weights and cache, %s a step",
                  units_format_decimal(rate, bytes / seconds, "B/s"),
                  units_format_decimal(time, seconds, "s"));
    if (roof > 0) {
        (void)fprintf(out, "; these threads read %s beside it: %.0f %% of it",
                      units_format_decimal(most, roof / seconds, "B/s"), 100 * bytes / roof);
    }
    (void)fputs("\n", out);
}

void validation_print(FILE *out, const struct validation *validation, const struct result_run *run)
{
    (void)fprintf(out, "Claim:   %s\nVerdict: %s\n", validation->claim, validation->finding);
    print_speed(out, run);
    (void)fprintf(out, "\nThe step as a whole\n");
    print_evidence(out, validation->step.evidence, validation->step.evidence_count, "  ");
    (void)fprintf(out, "\nOperators, by share of the step's time\n");
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        char seconds[UNITS_TEXT];
        char rate[UNITS_TEXT];
        char share[16] = "-"; // where others were not measured
        if (!reading_is_present(&p->seconds)) {
            (void)fprintf(out, "  %-10s       -  not measured\n", p->operator_);
            continue;
        }
        if (!isnan(p->time_share_fraction)) {
            (void)snprintf(share, sizeof share, "%.1f %%", 100 * p->time_share_fraction);
        }
        (void)fprintf(out, "  %-10s %7s  %-20s %s a call, %s, read from %s\n", p->operator_, share,
                      verdict_bound_name(p->bound),
                      units_format_decimal(seconds, p->seconds.value, "s"),
                      units_format_decimal(rate, p->bytes_per_s_modelled.value, "B/s"),
                      p->resident_level[0] == '\0' ? "cache and memory" : p->resident_level);
        print_evidence(out, p->evidence, p->evidence_count, "      ");
    }
}
