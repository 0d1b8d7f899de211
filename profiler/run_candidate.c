#include "profiler/run_candidate.h"

#include "profiler/clock.h"
#include "profiler/contest.h"
#include "profiler/rotation.h"
#include "roofline/step.h"

#include <math.h>
#include <string.h>

// Our own kernels by class, the same on narrower vectors (some cores stream 256-bit loads faster
// than 512-bit ones: 54 against 44 GB/s on a Zen 4, measured 2026-11-29) and without instructions
// for matrices, then the library.
enum {
    CANDIDATE_FMA,
    CANDIDATE_NARROW,
    CANDIDATE_DOT,
    CANDIDATE_VECTOR,
    CANDIDATE_LIBRARY,
    CANDIDATES
};

// What a candidate does without.
static const uint32_t without[CANDIDATES] = {
    [CANDIDATE_NARROW] = ISA_AVX512 | ISA_SVE, [CANDIDATE_VECTOR] = ISA_AMX_TILE | ISA_NEON_I8MM};

int run_candidate_count(const struct run_measure *measure, const struct run_job *job)
{
    (void)measure;
    return job->op == MODEL_OP_ATTENTION ? CANDIDATE_NARROW + 1 : CANDIDATES;
}

// The instructions that a candidate may use. Errors: UNAVAILABLE if they are the usual ones.
static struct status candidate_isa(struct isa_set *out, const struct run_measure *measure,
                                   int candidate)
{
    struct isa_set all = measure->session->isa;
    *out = isa_without(all, without[candidate]);
    if (without[candidate] != 0 && out->features == all.features) {
        return status_error(STATUS_UNAVAILABLE, "no other instructions than the usual ones");
    }
    return status_ok();
}

static enum linear_class candidate_class(const struct run_job *job, int candidate,
                                         struct isa_set isa)
{
    bool integers = run_job_is_integer(job) || job->op == MODEL_OP_ACT_QUANT;
    bool dot = integers || candidate == CANDIDATE_DOT ||
               (candidate == CANDIDATE_VECTOR &&
                linear_supported(run_weight_format(job), LINEAR_DOT, isa));
    return dot ? LINEAR_DOT : LINEAR_FMA;
}

static struct status create_attention(struct work **out, const struct run_measure *measure,
                                      const struct run_job *job, struct isa_set isa)
{
    const struct model_attention *a = &job->attention;
    uint64_t context = (uint64_t)step_visible_cached(a, job->prefill ? 0 : job->context);
    const struct attention_params params = {.format = run_line_format(job->kv_dtype),
                                            .isa = isa,
                                            .batch = job->batch,
                                            .heads = (unsigned)a->heads,
                                            .kv_heads = (unsigned)a->kv_heads,
                                            .k_dim = (unsigned)a->k_dim,
                                            .v_dim = (unsigned)a->v_dim,
                                            .scale_dim = job->scale_dim,
                                            .latent = job->latent,
                                            .sinks = job->sinks,
                                            .window = job->prefill ? a->window : 0,
                                            .chunked = a->chunked,
                                            .context = context,
                                            .rows = job->rows,
                                            .prefill = job->prefill,
                                            .threads = measure->session->threads,
                                            .prefetch_bytes = work_distances[0]};
    return work_attention(out, &params);
}

static struct status create_experts(struct work **out, const struct run_job *job,
                                    const struct linear_params *up)
{
    struct experts_params params = {.up = *up,
                                    .down = *up,
                                    .experts = (unsigned)job->experts,
                                    .used = (unsigned)job->experts_used,
                                    .gated = job->gated,
                                    .activation = ELEMENTWISE_SILU};
    params.down.n = job->k;
    params.down.k = job->expert_width;
    params.down.format = run_line_format(dtype_for_row(job->down_dtype, job->expert_width));
    params.down.class_ = line_is_blocks(params.down.format) ? LINEAR_DOT : up->class_;
    if (!linear_supported(params.down.format, params.down.class_, up->isa)) {
        params.down.class_ = LINEAR_FMA; // rows that fell back to a plain format
    }
    return work_experts(out, &params, job->rows);
}

struct status run_candidate_create(struct work **out, const struct run_measure *measure,
                                   const struct run_job *job, int candidate)
{
    struct isa_set isa;
    *out = NULL;
    TRY(candidate_isa(&isa, measure, candidate));
    if (job->op == MODEL_OP_ATTENTION) {
        return create_attention(out, measure, job, isa);
    }
    if (candidate == CANDIDATE_LIBRARY) {
        if (!job->prefill || job->dtype != DTYPE_F32 || measure->session->blas == NULL ||
            run_job_kind(job) != RUN_LINEAR) {
            return status_error(STATUS_UNAVAILABLE, "no library call for this operator");
        }
        return work_sgemm(out, measure->session->blas, job->rows, job->n, job->k);
    }
    bool integers = run_job_is_integer(job) || job->op == MODEL_OP_ACT_QUANT;
    if (integers && candidate == CANDIDATE_FMA) {
        return status_error(STATUS_UNAVAILABLE, "integers are multiplied as they are");
    }
    const struct linear_params params = {.format = run_weight_format(job),
                                         .class_ = candidate_class(job, candidate, isa),
                                         .isa = isa,
                                         .n = job->n,
                                         .k = job->k,
                                         .threads = measure->session->threads,
                                         .prefetch_bytes = work_distances[0]};
    switch (run_job_kind(job)) {
    case RUN_EXPERTS:
        return create_experts(out, job, &params);
    case RUN_HEADS:
        return work_heads(out, &params, job->heads, (unsigned)job->rows);
    case RUN_QUANTISE:
        return work_quantise(out, &params, job->rows);
    case RUN_LINEAR:
    case RUN_ATTENTION:
        break;
    }
    return work_linear(out, &params, job->rows);
}

/** A candidate laid out and ready to be timed; absent ones have no work. */
struct contender {
    struct work *work;
    struct rotation rotation;
    size_t variants; // of its prefetch distance
};

static struct status prepare_contender(struct contender *c, struct run_measure *measure,
                                       const struct run_job *job, uint64_t rotation_bytes,
                                       int candidate)
{
    enum { STRETCH = 64 << 20 };
    TRY(run_candidate_create(&c->work, measure, job, candidate));
    struct status status = rotation_create(&c->rotation, measure->session->team,
                                           &measure->session->arena, c->work, rotation_bytes);
    if (status.code != STATUS_OK) {
        work_destroy(c->work);
        c->work = NULL;
        return status;
    }
    rotation_calibrate(&c->rotation, STRETCH, 1e-3);
    c->variants = work_is_library(c->work) || job->prefill || job->op == MODEL_OP_ACT_QUANT
                      ? 1
                      : WORK_DISTANCES;
    return status;
}

static bool is_late(const struct run_measure *measure)
{
    return measure->choose_by_seconds > 0 && clock_seconds() > measure->choose_by_seconds;
}

/** One entry of the contest: a candidate at one prefetch distance. */
struct variant {
    int candidate;
    size_t prefetch_bytes;
};

enum { VARIANTS_MAX = CANDIDATES * WORK_DISTANCES };
_Static_assert((int)VARIANTS_MAX <= (int)CONTEST_ENTRIES_MAX, "a contest of all variants");

static size_t list_variants(struct variant *out, const struct contender *contenders)
{
    size_t count = 0;
    for (int c = 0; c < CANDIDATES; c++) {
        for (size_t i = 0; contenders[c].work != NULL && i < contenders[c].variants; i++) {
            out[count++] = (struct variant){c, work_distances[i]};
        }
    }
    return count;
}

// Every second turn goes back, so that nobody always follows the same one. False if the time was
// over before its end.
static bool take_turn(struct contest *contest, uint64_t *offset, struct contender *contenders,
                      const struct variant *variants, const struct run_measure *measure)
{
    for (size_t n = 0; n < contest->entries; n++) {
        size_t i = contest->turns % 2 == 0 ? n : contest->entries - 1 - n;
        bool first = n == 0 && contest->turns == 0;
        if (limit_reached(&measure->limit) || (!first && is_late(measure))) {
            if (!first) {
                contest_cut(contest, i);
            }
            return false;
        }
        if (!contest->out[i]) {
            struct contender *at = &contenders[variants[i].candidate];
            struct team_sample timing;
            work_set_prefetch(at->work, variants[i].prefetch_bytes);
            contest->seconds[contest->turns][i] =
                rotation_sample_on(&timing, &at->rotation, offset);
        }
    }
    contest->turns++;
    return true;
}

// The slower half leaves after three turns, and every second turn from then on. Work that takes
// long (a prefill's GEMM) is decided in three turns, or nearly: it depends little on the memory.
// *cut becomes true if the time was over before that.
static struct variant fastest(bool *cut, struct contender *contenders,
                              const struct run_measure *measure)
{
    enum { TURNS_ALL = 3, TURNS_BETWEEN = 2 };
    static const double long_seconds = 0.5;
    struct variant variants[VARIANTS_MAX];
    struct contest contest;
    uint64_t offset = 0;
    contest_begin(&contest, list_variants(variants, contenders));
    double begin = clock_seconds();
    while (contest.turns < CONTEST_TURNS_MAX) {
        if (!take_turn(&contest, &offset, contenders, variants, measure)) {
            *cut = true;
            break;
        }
        if (contest.turns < TURNS_ALL) {
            continue;
        }
        if (clock_seconds() - begin > long_seconds) {
            break;
        }
        if ((contest.turns - TURNS_ALL) % TURNS_BETWEEN == 0) {
            contest_halve(&contest);
        }
    }
    return variants[contest.turns > 0 ? contest_leader(&contest) : 0];
}

// One that came out as the kernel of an earlier one does not take part.
static void drop_if_again(struct contender *contenders, int last)
{
    struct work *work = contenders[last].work;
    for (int i = 0; work != NULL && i < last; i++) {
        const struct work *other = contenders[i].work;
        if (other != NULL && !work_is_library(other) && !work_is_library(work) &&
            strcmp(work_class_name(other), work_class_name(work)) == 0) {
            work_destroy(work);
            contenders[last].work = NULL;
            return;
        }
    }
}

static unsigned group_of(const struct run_job *job)
{
    return job->op == MODEL_OP_ATTENTION
               ? (unsigned)(job->attention.heads / job->attention.kv_heads)
               : 0;
}

// The type that the kernel reads.
static enum dtype_id kind_dtype(const struct run_job *job)
{
    return job->op == MODEL_OP_ATTENTION ? job->kv_dtype : dtype_for_row(job->dtype, job->k);
}

static bool same_kind(const struct run_choice *choice, const struct run_job *job)
{
    return choice->job_kind == run_job_kind(job) && choice->prefill == job->prefill &&
           choice->rows == job->rows && choice->group == group_of(job) &&
           choice->dtype == kind_dtype(job) && choice->k == job->k;
}

void run_candidate_forget(struct run_measure *measure, const struct run_job *job)
{
    for (size_t i = 0; i < measure->choice_count; i++) {
        if (same_kind(&measure->choices[i], job)) {
            measure->choices[i] = measure->choices[--measure->choice_count];
            return;
        }
    }
}

struct status run_candidate_choose(struct run_choice *out, struct run_measure *measure,
                                   const struct run_job *job, uint64_t rotation_bytes)
{
    for (size_t i = 0; i < measure->choice_count; i++) {
        if (same_kind(&measure->choices[i], job)) {
            *out = measure->choices[i];
            return status_ok();
        }
    }
    *out = (struct run_choice){.job_kind = run_job_kind(job),
                               .prefill = job->prefill,
                               .dtype = kind_dtype(job),
                               .rows = job->rows,
                               .k = job->k,
                               .group = group_of(job)};
    struct contender contenders[CANDIDATES] = {{.work = NULL}};
    struct status status = status_error(STATUS_UNAVAILABLE, "no kernel for this operator");
    bool cut = false;
    for (int i = 0; i < run_candidate_count(measure, job) && !cut; i++) {
        struct status tried = prepare_contender(&contenders[i], measure, job, rotation_bytes, i);
        drop_if_again(contenders, i);
        if (tried.code == STATUS_OK || (status.code != STATUS_OK && i == 0)) {
            status = tried;
        }
        cut = limit_reached(&measure->limit) || (status.code == STATUS_OK && is_late(measure));
    }
    struct status ended = limit_heed(&measure->limit);
    if (status.code == STATUS_OK && ended.code == STATUS_OK) {
        const struct variant best = fastest(&cut, contenders, measure);
        out->candidate = best.candidate;
        out->prefetch_bytes = best.prefetch_bytes;
        ended = limit_heed(&measure->limit);
        measure->hurried += cut ? 1 : 0;
    }
    for (int i = 0; i < CANDIDATES; i++) {
        work_destroy(contenders[i].work);
    }
    TRY(ended);
    if (status.code == STATUS_OK && measure->choice_count < RUN_CHOICES_MAX) {
        measure->choices[measure->choice_count++] = *out;
    }
    return status;
}

struct status run_candidate_way(struct forward_way *out, struct run_measure *measure,
                                const struct run_job *job)
{
    struct run_choice choice;
    TRY(run_candidate_choose(&choice, measure, job, (uint64_t)job->step_bytes));
    if (choice.candidate == CANDIDATE_LIBRARY) {
        choice.candidate = CANDIDATE_FMA;
        choice.prefetch_bytes = work_distances[0];
    }
    out->prefetch_bytes = choice.prefetch_bytes;
    TRY(candidate_isa(&out->isa, measure, choice.candidate));
    out->class_ = candidate_class(job, choice.candidate, out->isa);
    return status_ok();
}
