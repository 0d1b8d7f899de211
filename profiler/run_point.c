#include "profiler/run_point.h"

#include "profiler/clock.h"
#include "profiler/rotation.h"
#include "profiler/run_candidate.h"
#include "profiler/run_rounds.h"
#include "roofline/stats.h"
#include "workloads/attention_quant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t stretch_bytes = (uint64_t)64 << 20; // a fresh stretch per sample
static const double sample_seconds = 1e-3;                // 10^6 resolutions of the clock
// The level that serves data walked over so many bytes: L2 and L3 if it fits half of what the
// threads have, DRAM from 4x the last-level caches on; between them it is partly cached.
static bool resident_level(enum memory_level *out, const struct session *s, uint64_t bytes)
{
    for (int level = LEVEL_L1; level <= LEVEL_L3; level++) {
        unsigned number = (unsigned)(level - LEVEL_L1) + 1;
        uint64_t size =
            machine_cache_bytes(&s->machine, number) * machine_cache_instances(&s->machine, number);
        if (size > 0 && bytes <= size / 2) {
            *out = (enum memory_level)level;
            return true;
        }
    }
    *out = LEVEL_DRAM;
    return s->machine.llc_total_bytes == 0 || bytes >= 4 * s->machine.llc_total_bytes;
}

static struct verdict_ratio ratio_of(const struct reading *reading)
{
    return (struct verdict_ratio){reading->value, reading->ci95_low, reading->ci95_high};
}

static void fill_roof(struct result_point *out, const struct run_rounds *r,
                      const struct run_roof *compute, enum memory_level level)
{
    double fractions[RUN_ROUNDS_MAX];
    for (unsigned i = 0; i < r->n; i++) {
        double attainable = fmin(r->compute[i], out->flop_per_byte_predicted * r->read[i]);
        fractions[i] = out->flop / r->full[i] / attainable;
    }
    out->roof_fraction = reading_of_samples(fractions, r->n, BETTER_HIGHER, ORIGIN_TIMED);
    out->roof_bytes_per_s = reading_of_samples(r->read, r->n, BETTER_HIGHER, ORIGIN_TIMED);
    out->roof_flop_per_s = reading_of_samples(r->compute, r->n, BETTER_HIGHER, ORIGIN_TIMED);
    double memory = out->flop_per_byte_predicted * out->roof_bytes_per_s.value;
    bool by_memory = memory < out->roof_flop_per_s.value;
    out->attainable_flop_per_s = by_memory ? memory : out->roof_flop_per_s.value;
    (void)snprintf(out->roof_name, sizeof out->roof_name,
                   by_memory                 ? "%s load"
                   : out->integer_operations ? "%s dot"
                                             : "%s fma",
                   by_memory ? memory_level_name(level) : compute->key);
    (void)snprintf(out->roof_level, sizeof out->roof_level, "%s", memory_level_name(level));
    (void)snprintf(out->roof_class, sizeof out->roof_class, "%s", compute->ceiling.chain->class_);
}

static struct verdict_ratio twin_ratio(const struct run_rounds *r, const double *twin)
{
    struct verdict_ratio out = {(double)NAN, (double)NAN, (double)NAN};
    if (r->twins) {
        stats_paired_ratio(&out.value, &out.low, &out.high, twin, r->full, r->n);
    }
    return out;
}

static void fill_verdict(struct result_point *out, const struct run_measure *measure,
                         const struct run_rounds *r)
{
    double rates[RUN_ROUNDS_MAX];
    for (unsigned i = 0; i < r->n; i++) {
        rates[i] = out->bytes_modelled / r->full[i] / r->read[i];
    }
    const struct reading read_fraction =
        reading_of_samples(rates, r->n, BETTER_HIGHER, ORIGIN_TIMED);
    out->read_roof_ratio = ratio_of(&read_fraction);
    out->memory_only_ratio = twin_ratio(r, r->memory_only);
    out->compute_only_ratio = twin_ratio(r, r->compute_only);
    struct verdict_input input = {
        .flop_per_byte = out->flop_per_byte_predicted,
        .ridge_flop_per_byte = out->roof_flop_per_s.value / out->roof_bytes_per_s.value,
        .read_roof_fraction = out->read_roof_ratio,
        .roof_fraction = ratio_of(&out->roof_fraction),
        .memory_only = out->memory_only_ratio,
        .compute_only = out->compute_only_ratio,
        .disturbed_fraction = r->disturbed_fraction,
        .threads = measure->session->threads,
        .read_growth = measure->session->read_growth,
        .other_mix = measure->session->other_mix,
        .dtype_time_ratio = (double)NAN,
        .dtype_byte_ratio = (double)NAN,
        .counted_byte_ratio = (double)NAN,
        .memory_stall_fraction = (double)NAN,
    };
    run_counters_evidence(&input.counted_byte_ratio, &input.memory_stall_fraction, out);
    struct verdict verdict;
    verdict_point(&verdict, &input);
    out->bound = verdict.bound;
    out->evidence_count = verdict.evidence_count;
    memcpy(out->evidence, verdict.evidence, sizeof out->evidence);
}

static void fill_point(struct result_point *out, const struct run_measure *measure,
                       const struct run_rounds *r, const struct run_roof *compute,
                       enum memory_level level)
{
    out->seconds = reading_of_samples(r->full, r->n, BETTER_LOWER, ORIGIN_TIMED);
    out->flop_per_s = reading_rate(out->flop, &out->seconds);
    out->bytes_per_s_modelled = reading_rate(out->bytes_modelled, &out->seconds);
    if (r->twins) {
        out->memory_only_seconds =
            reading_of_samples(r->memory_only, r->n, BETTER_LOWER, ORIGIN_TIMED);
        out->compute_only_seconds =
            reading_of_samples(r->compute_only, r->n, BETTER_LOWER, ORIGIN_TIMED);
    } else {
        bool asked = !measure->no_twins;
        out->memory_only_seconds = reading_absent(
            asked ? ABSENT_UNSUPPORTED : ABSENT_NOT_ASKED,
            asked ? "a library call is a black box: it has no twins" : "--no-twins", NULL);
        out->compute_only_seconds = out->memory_only_seconds;
    }
    fill_roof(out, r, compute, level);
    run_counters_place(out, &measure->counters);
    fill_verdict(out, measure, r);
}

static uint64_t check_samples(const struct run_job *job)
{
    // About four million products in double precision, a tenth of a second.
    double per_sample = job->op == MODEL_OP_ATTENTION
                            ? (double)(job->context + job->rows) *
                                  (double)(job->attention.k_dim + job->attention.v_dim)
                            : (double)job->k * (double)(job->rows < 512 ? job->rows : 512);
    double samples = 4e6 / per_sample;
    return samples < 2 ? 2 : samples > 64 ? 64 : (uint64_t)samples;
}

static struct status check_result(struct result_point *out, struct rotation *rotation,
                                  const struct run_job *job)
{
    out->tolerance = work_tolerance(rotation->work);
    out->max_relative_error = rotation_check(rotation, check_samples(job));
    out->verified = out->max_relative_error <= out->tolerance;
    if (out->verified) {
        return status_ok();
    }
    out->max_relative_error =
        isfinite(out->max_relative_error) ? out->max_relative_error : (double)NAN;
    out->seconds = reading_absent(ABSENT_FAILED, "the result differs from its reference",
                                  "please report this with the document");
    out->flop_per_s = out->seconds;
    out->bytes_per_s_modelled = out->seconds;
    out->roof_fraction = out->seconds;
    return status_error(STATUS_MISMATCH, "%s: relative error %.3g, tolerance %.3g", out->id,
                        out->max_relative_error, out->tolerance);
}

static const char *compute_dtype(const struct run_job *job)
{
    if (run_job_is_integer(job)) {
        return "int8";
    }
    // Attention and f16 weights are multiplied in f32.
    return job->op != MODEL_OP_ATTENTION && job->dtype == DTYPE_BF16 ? "bf16" : "f32";
}

static void note_evidence(struct run_measure *measure, const struct run_job *job,
                          const struct work *work)
{
    bool attention = run_job_kind(job) == RUN_ATTENTION;
    enum line_format format = attention ? run_line_format(job->kv_dtype) : run_weight_format(job);
    if (!work_is_library(work)) {
        run_evidence_note(&measure->evidence, attention ? "attention" : "linear",
                          work_class_name(work), line_layout(format)->name);
    }
}

static struct status measure_work(struct result_point *out, struct run_measure *measure,
                                  const struct run_job *job, struct work *work, double seconds)
{
    struct rotation rotation;
    TRY(rotation_create(&rotation, measure->session->team, &measure->session->arena, work,
                        (uint64_t)job->step_bytes));
    enum memory_level level = LEVEL_DRAM;
    out->working_set_bytes = rotation_bytes(&rotation);
    bool clear = resident_level(&level, measure->session, out->working_set_bytes);
    if (clear) {
        (void)snprintf(out->resident_level, sizeof out->resident_level, "%s",
                       memory_level_name(level));
    }
    out->page_bytes = arena_page_bytes(&measure->session->arena);
    out->flop_executed = work_flop_executed(work);
    (void)snprintf(out->isa, sizeof out->isa, "%s", work_isa_name(work));
    TRY(check_result(out, &rotation, job));
    struct status why = status_ok();
    struct run_roof *read = run_roofs_read(&measure->roofs, level, &why);
    TRY(why);
    struct run_roof *compute = run_roofs_compute(&measure->roofs, compute_dtype(job), &why);
    TRY(why);
    rotation_calibrate(&rotation, stretch_bytes, sample_seconds);
    struct run_rounds rounds = {.twins = !work_is_library(work) && !measure->no_twins};
    run_rounds_take(&rounds, &rotation, measure, read, compute, seconds);
    struct status ended = limit_heed(&measure->limit);
    if (ended.code == STATUS_INTERRUPTED || rounds.n < RUN_ROUNDS_MIN) {
        return ended;
    }
    run_counters_measure(out, &measure->counters, &rotation,
                         work_is_library(work) ? "" : work_class_name(work),
                         measure->counted_samples, &measure->limit);
    fill_point(out, measure, &rounds, compute, level);
    out->disturbed = rounds.kept_disturbed;
    note_evidence(measure, job, work);
    if (run_job_kind(job) == RUN_LINEAR) {
        run_kernels_note(&measure->kernels, out, line_layout(run_weight_format(job))->name,
                         work_class_name(work));
    }
    return status_ok();
}

// Bytes that a cache left are no numbers to every format: a byte of mxfp4's scales may be its NaN,
// half of an f32 or two integers may be one in 16 bits.
static void clean_arena(struct run_measure *measure, const struct run_job *job)
{
    bool scales = job->dtype == DTYPE_MXFP4 || job->down_dtype == DTYPE_MXFP4;
    bool halves = measure->cache_format == LINE_F32 && job->dtype != DTYPE_F32;
    bool integers = attention_is_quant(measure->cache_format);
    if (measure->appended && job->op != MODEL_OP_ATTENTION && (scales || halves || integers)) {
        rotation_fill(measure->session->team, &measure->session->arena, &measure->limit);
        measure->appended = false;
    }
}

static struct status measure_once(struct result_point *out, struct run_measure *measure,
                                  const struct run_job *job, double seconds)
{
    struct run_choice choice;
    struct work *work = NULL;
    run_point_describe(out, measure, job);
    clean_arena(measure, job);
    TRY(run_candidate_choose(&choice, measure, job, (uint64_t)job->step_bytes));
    TRY(run_candidate_create(&work, measure, job, choice.candidate));
    work_set_prefetch(work, choice.prefetch_bytes);
    if (work_is_library(work)) {
        (void)snprintf(out->backend, sizeof out->backend, "openblas/%s",
                       blas_facts(measure->session->blas).core);
    } else {
        (void)snprintf(out->backend, sizeof out->backend, "lmroof %s pf%zu", work_class_name(work),
                       choice.prefetch_bytes);
    }
    struct status status = measure_work(out, measure, job, work, seconds);
    work_destroy(work);
    if (job->op == MODEL_OP_ATTENTION) {
        measure->appended = true;
        measure->cache_format = run_line_format(job->kv_dtype);
    }
    return status;
}

static bool above_roof(const struct result_point *point)
{
    return reading_is_present(&point->roof_fraction) && point->roof_fraction.ci95_low > 1;
}

// A kernel of ours that takes clearly longer than both its twins may be a variant that the contest
// found in an odd moment.
static bool below_its_twins(const struct result_point *point)
{
    double larger = fmax(point->memory_only_seconds.value, point->compute_only_seconds.value);
    return (point->bound == BOUND_LATENCY || point->bound == BOUND_UNKNOWN) &&
           reading_is_present(&point->memory_only_seconds) &&
           larger < (1 - VERDICT_TWIN_NEAR) * point->seconds.value &&
           point->roof_fraction.value < VERDICT_AT_ROOF;
}

// Questions what the point rests on: a roof that was exceeded, a kernel that a twin beats. False
// if there is nothing to question.
static bool question(struct run_measure *measure, const struct run_job *job,
                     const struct result_point *point)
{
    if (above_roof(point)) {
        measure->questioned_roof = true;
        return run_roofs_choose_again(&measure->roofs, point->roof_level).code == STATUS_OK;
    }
    if (below_its_twins(point)) {
        measure->questioned_kernel = true;
        run_candidate_forget(measure, job);
        return true;
    }
    return false;
}

struct status run_point_measure(struct result_point *out, struct run_measure *measure,
                                const struct run_job *job, double seconds)
{
    enum { ATTEMPTS_MAX = 3 };
    double begin = clock_seconds();
    measure->questioned_roof = false;
    measure->questioned_kernel = false;
    measure->choose_by_seconds = seconds > 0 ? begin + seconds / 2 : 0;
    TRY(measure_once(out, measure, job, seconds));
    unsigned attempts = 1;
    while (attempts < ATTEMPTS_MAX) {
        double spent = clock_seconds() - begin;
        bool late = seconds > 0 && spent > seconds / 2;
        if (late || !question(measure, job, out)) {
            break;
        }
        struct result_point again;
        struct status status =
            measure_once(&again, measure, job, seconds > 0 ? seconds - spent : 0);
        if (limit_is_why(&measure->limit, status)) {
            break; // the first figures stay
        }
        TRY(status);
        attempts++;
        bool faster = again.roof_fraction.value > out->roof_fraction.value;
        if (above_roof(out) || (faster && !above_roof(&again))) {
            *out = again;
        }
    }
    out->attempts = attempts;
    return status_ok();
}
