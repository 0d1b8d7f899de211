#include "profiler/validate.h"

#include "roofline/units.h"

#include <math.h>
#include <string.h>

/** The step's operators added up, each times its layers. */
struct sums {
    double seconds, flop, bytes;
    double memory_only, compute_only;
    double read_roof_seconds; // the bytes at the read roof of the same rounds
    double attainable_seconds;
    double compute_seconds; // the flop at the compute roof
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
        s.memory_only += n * p->memory_only_seconds.value;
        s.compute_only += n * p->compute_only_seconds.value;
        s.read_roof_seconds += n * p->bytes_modelled / p->roof_bytes_per_s.value;
        s.compute_seconds += n * p->flop / p->roof_flop_per_s.value;
        s.attainable_seconds += n * p->flop / p->attainable_flop_per_s;
    }
    return s;
}

static void judge_step(struct validation *out, const struct result_run *run, double read_growth,
                       double other_mix)
{
    const struct sums s = add_up(run);
    double read = s.bytes / s.read_roof_seconds;
    double compute = s.flop / s.compute_seconds;
    double of_read = s.read_roof_seconds / s.seconds;
    double of_roof = s.attainable_seconds / s.seconds;
    const struct verdict_input input = {
        .flop_per_byte = s.flop / s.bytes,
        .ridge_flop_per_byte = compute / read,
        .read_roof_fraction = {of_read, of_read, of_read},
        .roof_fraction = {of_roof, (double)NAN, (double)NAN},
        .memory_only = {s.memory_only / s.seconds, s.memory_only / s.seconds,
                        s.memory_only / s.seconds},
        .compute_only = {s.compute_only / s.seconds, s.compute_only / s.seconds,
                         s.compute_only / s.seconds},
        .threads = run->point_count > 0 ? run->points[0].threads : 1,
        .read_growth = read_growth,
        .other_mix = other_mix,
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

static void write_finding(struct validation *v, const struct result_run *run)
{
    const struct result_point *p = &run->points[0];
    char cores[160];
    (void)snprintf(cores, sizeof cores, "these %u cores (cpus %.40s of %.80s)", p->threads,
                   fact(run->conditions, run->condition_count, "cpus"),
                   fact(run->host, run->host_count, "name"));
    const char *form = saturated(v)
                           ? "the memory itself is saturated: more cores would not help"
                           : "the memory itself is not saturated: the cores' reads in flight are "
                             "the limit, and more cores would help";
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

void validation_judge(struct validation *out, const struct result_run *run, double read_growth,
                      double other_mix)
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
    judge_step(out, run, read_growth, other_mix);
    const struct result_point *p = &run->points[0];
    (void)snprintf(out->claim, sizeof out->claim,
                   "decode of %s in %s at batch %u and context %llu is bound by memory bandwidth",
                   run->model_name, p->dtype, p->batch, (unsigned long long)p->context);
    write_finding(out, run);
}

void validation_interrupted(struct validation *out, const struct result_run *run)
{
    memset(out, 0, sizeof *out);
    out->verdict = CLAIM_CANNOT_TELL;
    out->memory_fraction = (double)NAN;
    out->unknown_fraction = (double)NAN;
    (void)snprintf(out->claim, sizeof out->claim, "decode of %s is bound by memory bandwidth",
                   run->model_name[0] == '\0' ? "the model" : run->model_name);
    (void)snprintf(out->finding, sizeof out->finding,
                   "not judged: interrupted before the whole step was measured");
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

void validation_print(FILE *out, const struct validation *validation, const struct result_run *run)
{
    (void)fprintf(out, "Claim:   %s\nVerdict: %s\n\nThe step as a whole\n", validation->claim,
                  validation->finding);
    print_evidence(out, validation->step.evidence, validation->step.evidence_count, "  ");
    (void)fprintf(out, "\nOperators, by share of the step's time\n");
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        char seconds[UNITS_TEXT];
        (void)fprintf(out, "  %-10s %5.1f %%  %-20s %s a call, read from %s\n", p->operator_,
                      100 * p->time_share_fraction, verdict_bound_name(p->bound),
                      units_format_decimal(seconds, p->seconds.value, "s"),
                      p->resident_level[0] == '\0' ? "cache and memory" : p->resident_level);
        print_evidence(out, p->evidence, p->evidence_count, "      ");
    }
}
