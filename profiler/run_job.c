#include "profiler/run_job.h"

#include "profiler/result_build.h"
#include "roofline/step.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SHAPES_MAX = 16 };

enum line_format run_line_format(enum dtype_id dtype)
{
    enum line_format format = LINE_F32;
    bool found = line_find(&format, dtype_name(dtype));
    assert(found); // run_request.c accepts no other
    (void)found;
    return format;
}

enum line_format run_weight_format(const struct run_job *job)
{
    return run_line_format(dtype_for_row(job->dtype, job->k));
}

bool run_job_is_integer(const struct run_job *job)
{
    return job->op != MODEL_OP_ATTENTION && line_is_blocks(run_weight_format(job));
}

static struct status append(struct run_jobs *jobs, const struct run_job *job)
{
    struct run_job *to = result_append(&jobs->list, &jobs->count, sizeof *jobs->list);
    if (to == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the list of points");
    }
    *to = *job;
    return status_ok();
}

static double shape_bytes(const struct model_shape *shape, enum dtype_id dtype)
{
    double bytes = 0;
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        bytes += (double)model_matrix_bytes(&shape->matrices[i], dtype);
        bytes += (double)model_bias_bytes(&shape->matrices[i], dtype);
    }
    return bytes;
}

static struct status add_linears(struct run_jobs *jobs, const struct model *model,
                                 const struct run_job *base, enum model_operator op)
{
    struct model_shape shapes[SHAPES_MAX];
    size_t count = model_shapes(shapes, SHAPES_MAX, model, op);
    for (size_t i = 0; i < count && i < SHAPES_MAX; i++) {
        struct run_job job = *base;
        job.op = op;
        job.variant = (unsigned)i;
        job.layers = shapes[i].layers;
        job.n = shapes[i].n;
        job.k = shapes[i].k;
        job.rows = op == MODEL_OP_HEAD || !base->prefill ? base->batch : base->batch * base->prompt;
        job.flop = 2.0 * (double)job.rows * (double)job.n * (double)job.k;
        job.bytes = shape_bytes(&shapes[i], job.dtype);
        TRY(append(jobs, &job));
    }
    return status_ok();
}

static bool same_attention(const struct model_attention *a, const struct model_attention *b)
{
    return a->kind == b->kind && a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->k_dim == b->k_dim && a->v_dim == b->v_dim && a->window == b->window;
}

static void cost_attention(struct run_job *job)
{
    const struct model_attention *a = &job->attention;
    uint64_t cached = job->prefill ? 0 : job->context;
    double pairs = step_attention_pairs(a, cached, job->rows);
    double row = step_kv_row_bytes(a, job->kv_dtype);
    job->flop = 2.0 * (double)(a->heads * (a->k_dim + a->v_dim)) * pairs * job->batch;
    job->bytes = row * job->batch * (step_visible_cached(a, cached) + (double)job->rows);
}

static struct status add_attention(struct run_jobs *jobs, const struct model *model,
                                   const struct run_job *base)
{
    struct run_job found[SHAPES_MAX];
    unsigned count = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_attention *a = &model->blocks[b].attention;
        if (a->kind != MODEL_ATTENTION_HEADS) {
            continue;
        }
        unsigned i = 0;
        while (i < count && !same_attention(&found[i].attention, a)) {
            i++;
        }
        if (i == SHAPES_MAX) {
            return status_error(STATUS_UNAVAILABLE, "more than %d kinds of attention", SHAPES_MAX);
        }
        if (i == count) {
            found[count] = *base;
            found[count].op = MODEL_OP_ATTENTION;
            found[count].variant = count;
            found[count].attention = *a;
            found[count].rows = base->prefill ? base->prompt : 1;
            cost_attention(&found[count]);
            count++;
        }
        found[i].layers += model->blocks[b].layers;
    }
    for (unsigned i = 0; i < count; i++) {
        TRY(append(jobs, &found[i]));
    }
    return status_ok();
}

static struct status add_step(struct run_jobs *jobs, const struct model *model,
                              const struct run_request *request, struct run_job base)
{
    struct step_request wanted = step_defaults(base.prefill ? STEP_PREFILL : STEP_DECODE);
    struct step step;
    wanted.batch = base.batch;
    wanted.context = base.prefill ? 0 : base.context;
    wanted.prompt = base.prompt;
    wanted.dtype = base.dtype;
    wanted.kv_dtype = request->kv_dtype;
    TRY(step_compute(&step, model, &wanted));
    base.step_bytes = step.sum.bytes.dram_lower_bound;
    TRY(add_linears(jobs, model, &base, MODEL_OP_QKV));
    struct run_job attention = base;
    attention.kv_dtype = request->kv_dtype;
    TRY(add_attention(jobs, model, &attention));
    static const enum model_operator rest[] = {MODEL_OP_ATTN_OUT, MODEL_OP_GATE_UP, MODEL_OP_DOWN,
                                               MODEL_OP_HEAD};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        TRY(add_linears(jobs, model, &base, rest[i]));
    }
    return status_ok();
}

static void note_skipped(struct run_jobs *jobs, const struct model *model)
{
    bool mla = false;
    bool experts = false;
    for (uint32_t b = 0; b < model->block_count; b++) {
        mla = mla || model->blocks[b].attention.kind == MODEL_ATTENTION_MLA;
        experts = experts || model->blocks[b].mlp.experts > 0;
    }
    if (mla || experts) {
        (void)snprintf(jobs->skipped, sizeof jobs->skipped, "%s%s%s",
                       experts ? "experts, router" : "", experts && mla ? ", " : "",
                       mla ? "latent attention" : "");
    }
}

static struct status plan_phase(struct run_jobs *jobs, const struct model *model,
                                const struct run_request *request, struct run_job base)
{
    const struct option_counts *lengths = base.prefill ? &request->prompt : &request->context;
    // Beside decode, --batch means the decoded sequences and a prefill takes one.
    bool one = base.prefill && request->decode;
    for (size_t b = 0; b < (one ? 1 : request->batch.count); b++) {
        for (size_t l = 0; l < lengths->count; l++) {
            base.batch = one ? 1 : (unsigned)request->batch.values[b];
            base.prompt = base.prefill ? lengths->values[l] : 0;
            base.context = base.prefill ? 0 : lengths->values[l];
            TRY(add_step(jobs, model, request, base));
        }
    }
    return status_ok();
}

struct status run_jobs_plan(struct run_jobs *out, const struct model *model,
                            const struct run_request *request)
{
    memset(out, 0, sizeof *out);
    note_skipped(out, model);
    for (size_t d = 0; d < request->dtype_count; d++) {
        struct run_job base = {.dtype = request->dtypes[d], .kv_dtype = DTYPE_NONE};
        if (request->decode) {
            TRY(plan_phase(out, model, request, base));
        }
        base.prefill = true;
        if (request->prefill) {
            TRY(plan_phase(out, model, request, base));
        }
    }
    return status_ok();
}
