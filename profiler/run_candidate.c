#include "profiler/run_candidate.h"

#include "profiler/rotation.h"
#include "roofline/step.h"

#include <math.h>

// Our own kernels by class, the same on narrower vectors (some cores stream 256-bit loads faster
// than 512-bit ones: 54 against 44 GB/s on a Zen 4, measured 2026-11-29), then the library.
enum { CANDIDATE_FMA, CANDIDATE_NARROW, CANDIDATE_DOT, CANDIDATE_LIBRARY, CANDIDATES };

// How far ahead: a few lines, into the next page, and none (which wins where the hardware's own
// prefetch is enough).
static const size_t distances[] = {4096, 0, 1024, 2048, 6144, 8192, 16384};

int run_candidate_count(const struct run_measure *measure, const struct run_job *job)
{
    (void)measure;
    return job->op == MODEL_OP_ATTENTION ? CANDIDATE_NARROW + 1 : CANDIDATES;
}

// The instructions that a candidate may use. Errors: UNAVAILABLE if the narrow ones are no others.
static struct status candidate_isa(struct isa_set *out, const struct run_measure *measure,
                                   int candidate)
{
    *out = measure->session->isa;
    if (candidate != CANDIDATE_NARROW) {
        return status_ok();
    }
    if (!isa_has(*out, ISA_AVX512)) {
        return status_error(STATUS_UNAVAILABLE, "no narrower vectors than the usual ones");
    }
    *out = isa_without(*out, ISA_AVX512);
    return status_ok();
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
                                            .context = context,
                                            .rows = job->rows,
                                            .prefill = job->prefill,
                                            .threads = measure->session->threads,
                                            .prefetch_bytes = distances[0]};
    return work_attention(out, &params);
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
        if (!job->prefill || job->dtype != DTYPE_F32 || measure->session->blas == NULL) {
            return status_error(STATUS_UNAVAILABLE, "no library call for this operator");
        }
        return work_sgemm(out, measure->session->blas, job->rows, job->n, job->k);
    }
    bool integers = run_job_is_integer(job);
    if (integers && candidate == CANDIDATE_FMA) {
        return status_error(STATUS_UNAVAILABLE, "integers are multiplied as they are");
    }
    bool dot = integers || candidate == CANDIDATE_DOT;
    const struct linear_params params = {.format = run_weight_format(job),
                                         .class_ = dot ? LINEAR_DOT : LINEAR_FMA,
                                         .isa = isa,
                                         .n = job->n,
                                         .k = job->k,
                                         .threads = measure->session->threads,
                                         .prefetch_bytes = distances[0]};
    return work_linear(out, &params, job->rows);
}

// Best of a few samples: choosing wants the undisturbed speed.
static double quick_seconds(struct rotation *rotation)
{
    double best = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        struct team_sample timing;
        best = fmin(best, rotation_sample(&timing, rotation, LINEAR_FULL));
    }
    return best;
}

static struct status try_candidate(struct run_choice *choice, double *best,
                                   struct run_measure *measure, const struct run_job *job,
                                   uint64_t rotation_bytes, int candidate)
{
    enum { STRETCH = 64 << 20 };
    struct work *work = NULL;
    struct rotation rotation;
    TRY(run_candidate_create(&work, measure, job, candidate));
    struct status status = rotation_create(&rotation, measure->session->team,
                                           &measure->session->arena, work, rotation_bytes);
    if (status.code == STATUS_OK) {
        rotation_calibrate(&rotation, STRETCH, 1e-3);
        size_t count =
            work_is_library(work) || job->prefill ? 1 : sizeof distances / sizeof *distances;
        for (size_t i = 0; i < count && *measure->signal == 0; i++) {
            work_set_prefetch(work, distances[i]);
            double seconds = quick_seconds(&rotation);
            if (seconds < *best) {
                *best = seconds;
                choice->candidate = candidate;
                choice->prefetch_bytes = distances[i];
            }
        }
    }
    work_destroy(work);
    return status;
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
    return choice->attention == (job->op == MODEL_OP_ATTENTION) &&
           choice->prefill == job->prefill && choice->rows == job->rows &&
           choice->group == group_of(job) && choice->dtype == kind_dtype(job);
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
    *out = (struct run_choice){.attention = job->op == MODEL_OP_ATTENTION,
                               .prefill = job->prefill,
                               .rows = job->rows,
                               .group = group_of(job)};
    out->dtype = out->attention ? job->kv_dtype : job->dtype;
    double best = HUGE_VAL;
    struct status status = status_error(STATUS_UNAVAILABLE, "no kernel for this operator");
    for (int i = 0; i < run_candidate_count(measure, job); i++) {
        struct status tried = try_candidate(out, &best, measure, job, rotation_bytes, i);
        if (tried.code == STATUS_OK || (status.code != STATUS_OK && i == 0)) {
            status = tried;
        }
    }
    if (status.code == STATUS_OK && measure->choice_count < RUN_CHOICES_MAX) {
        measure->choices[measure->choice_count++] = *out;
    }
    return status;
}
