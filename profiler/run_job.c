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

enum run_job_kind run_job_kind(const struct run_job *job)
{
    return job->op == MODEL_OP_ATTENTION ? RUN_ATTENTION
           : job->op == MODEL_OP_EXPERTS ? RUN_EXPERTS
           : job->heads > 0              ? RUN_HEADS
                                         : RUN_LINEAR;
}

static struct status append(struct run_jobs *jobs, const struct run_job *job)
{
    struct run_job *to = result_append(&jobs->list, &jobs->count, sizeof *jobs->list);
    if (to == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the list of points");
    }
    *to = *job;
    to->instance_bytes = job->instance_bytes > 0 ? job->instance_bytes : job->bytes;
    return status_ok();
}

// Of the matrices with one input.
static double shape_bytes(const struct model_shape *shape, unsigned input, enum dtype_id dtype)
{
    double bytes = 0;
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        if (model_role_input(shape->matrices[i].role) == input) {
            bytes += (double)model_matrix_bytes(&shape->matrices[i], dtype);
            bytes += (double)model_bias_bytes(&shape->matrices[i], dtype);
        }
    }
    return bytes;
}

static uint64_t rows_of(const struct run_job *base, enum model_operator op)
{
    return op == MODEL_OP_HEAD || !base->prefill ? base->batch : base->batch * base->prompt;
}

// One product for the matrices of an operator that share an input; n = 0 if there are none.
static struct run_job linear_job(const struct run_job *base, enum model_operator op,
                                 const struct model_shape *shape, unsigned input)
{
    struct run_job job = *base;
    job.op = op;
    job.layers = shape->layers;
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        if (model_role_input(shape->matrices[i].role) == input) {
            job.n += shape->matrices[i].n * shape->matrices[i].count;
            job.k = shape->matrices[i].k;
        }
    }
    job.rows = rows_of(base, op);
    job.flop = 2.0 * (double)job.rows * (double)job.n * (double)job.k;
    job.bytes = shape_bytes(shape, input, job.dtype);
    return job;
}

static struct status add_linears(struct run_jobs *jobs, const struct model *model,
                                 const struct run_job *base, enum model_operator op)
{
    enum { INPUTS = 2 }; // those of latent attention's kv_b are added apart
    struct model_shape shapes[SHAPES_MAX];
    size_t count = model_shapes(shapes, SHAPES_MAX, model, op);
    unsigned variant = 0;
    for (size_t i = 0; i < count && i < SHAPES_MAX; i++) {
        for (unsigned input = 0; input < (op == MODEL_OP_QKV ? INPUTS : 1); input++) {
            struct run_job job = linear_job(base, op, &shapes[i], input);
            job.variant = variant;
            if (job.n > 0) {
                variant++;
                TRY(append(jobs, &job));
            }
        }
    }
    return status_ok();
}

// kv_b of latent attention: in decode a matrix a head on either side of the attention, in prefill
// one product.
static struct status add_latent(struct run_jobs *jobs, const struct run_job *base,
                                const struct model_attention *a, unsigned layers, unsigned variant)
{
    uint64_t nope = a->k_dim - a->rope_dim;
    struct run_job job = *base;
    job.op = MODEL_OP_QKV;
    job.layers = layers;
    job.variant = variant;
    job.rows = rows_of(base, MODEL_OP_QKV);
    if (base->prefill) {
        job.n = a->heads * (nope + a->v_dim);
        job.k = a->kv_rank;
        job.flop = 2.0 * (double)job.rows * (double)job.n * (double)job.k;
        job.bytes = (double)dtype_matrix_bytes(job.dtype, job.n, job.k);
        return append(jobs, &job);
    }
    job.heads = (unsigned)a->heads;
    for (int side = 0; side < 2; side++) {
        job.n = side == 0 ? a->kv_rank : a->v_dim;
        job.k = side == 0 ? nope : a->kv_rank;
        job.flop = 2.0 * (double)job.rows * (double)(job.n * job.k * job.heads);
        job.bytes = (double)dtype_matrix_bytes(job.dtype, job.n * job.heads, job.k);
        job.variant = variant + (unsigned)side;
        TRY(append(jobs, &job));
    }
    return status_ok();
}

static struct status add_latents(struct run_jobs *jobs, const struct model *model,
                                 const struct run_job *base)
{
    const struct model_attention *latent = NULL;
    unsigned layers = 0;
    unsigned variant = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_attention *a = &model->blocks[b].attention;
        if (a->kind == MODEL_ATTENTION_MLA) {
            latent = a;
            layers += model->blocks[b].layers;
        }
    }
    for (size_t i = 0; i < jobs->count; i++) {
        const struct run_job *job = &jobs->list[i];
        variant += job->op == MODEL_OP_QKV && job->prefill == base->prefill &&
                           job->batch == base->batch && job->context == base->context &&
                           job->prompt == base->prompt && job->dtype == base->dtype
                       ? 1
                       : 0;
    }
    return latent == NULL ? status_ok() : add_latent(jobs, base, latent, layers, variant);
}

static bool same_mlp(const struct model_mlp *a, const struct model_mlp *b)
{
    return a->experts == b->experts && a->experts_used == b->experts_used &&
           a->expert_width == b->expert_width && a->gated == b->gated;
}

static double all_expert_bytes(const struct model_block *block, enum dtype_id dtype)
{
    double bytes = 0;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *m = &block->matrices[i];
        if (model_role_operator(m->role) == MODEL_OP_EXPERTS) {
            bytes += (double)(model_matrix_bytes(m, dtype) + model_bias_bytes(m, dtype));
        }
    }
    return bytes;
}

static struct run_job experts_job(const struct run_job *base, const struct model_block *block,
                                  uint64_t d)
{
    const struct model_mlp *mlp = &block->mlp;
    struct run_job job = *base;
    job.op = MODEL_OP_EXPERTS;
    job.rows = rows_of(base, MODEL_OP_EXPERTS);
    job.experts = mlp->experts;
    job.experts_used = mlp->experts_used;
    job.expert_width = mlp->expert_width;
    job.gated = mlp->gated;
    job.n = mlp->expert_width * (mlp->gated ? 2 : 1);
    job.k = d;
    double weights = (double)(job.n * d + d * mlp->expert_width);
    job.flop = 2.0 * (double)(job.rows * mlp->experts_used) * weights;
    job.instance_bytes = all_expert_bytes(block, job.dtype);
    job.bytes = job.instance_bytes / (double)mlp->experts *
                step_distinct_experts(mlp->experts, mlp->experts_used, (double)job.rows);
    return job;
}

static struct status add_experts(struct run_jobs *jobs, const struct model *model,
                                 const struct run_job *base)
{
    unsigned variant = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_mlp *mlp = &model->blocks[b].mlp;
        bool found = mlp->experts == 0;
        for (uint32_t i = 0; i < b && !found; i++) {
            found = same_mlp(&model->blocks[i].mlp, mlp);
        }
        if (found) {
            continue;
        }
        struct run_job job = experts_job(base, &model->blocks[b], model->d);
        job.variant = variant++;
        for (uint32_t i = b; i < model->block_count; i++) {
            job.layers += same_mlp(&model->blocks[i].mlp, mlp) ? model->blocks[i].layers : 0;
        }
        job.step_bytes = job.layers * job.instance_bytes;
        TRY(append(jobs, &job));
    }
    return status_ok();
}

static bool same_attention(const struct model_attention *a, const struct model_attention *b)
{
    return a->kind == b->kind && a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->k_dim == b->k_dim && a->v_dim == b->v_dim && a->window == b->window &&
           a->chunked == b->chunked && a->kv_rank == b->kv_rank;
}

// Latent attention as it is computed: one KV head of latent rows, or all heads in prefill.
static void set_latent(struct run_job *job)
{
    struct model_attention *a = &job->attention;
    if (!job->prefill) {
        job->latent = true;
        job->scale_dim = (unsigned)a->k_dim;
        a->kv_heads = 1;
        a->k_dim = a->kv_rank + a->rope_dim;
        a->v_dim = a->kv_rank;
    }
}

static void cost_attention(struct run_job *job)
{
    const struct model_attention stored = job->attention;
    const struct model_attention *a = &job->attention;
    uint64_t cached = job->prefill ? 0 : job->context;
    double pairs = step_attention_pairs(a, cached, job->rows);
    double row = step_kv_row_bytes(a, job->kv_dtype);
    double tokens = (step_visible_cached(a, cached) + (double)job->rows) * job->batch;
    if (stored.kind == MODEL_ATTENTION_MLA) {
        set_latent(job);
    }
    job->flop = 2.0 * (double)(a->heads * (a->k_dim + a->v_dim)) * pairs * job->batch;
    job->bytes = row * tokens;
    struct model_attention made = job->attention; // the rows that the kernel reads
    made.kind = MODEL_ATTENTION_HEADS;
    job->instance_bytes =
        job->latent ? job->bytes : step_kv_row_bytes(&made, job->kv_dtype) * tokens;
}

static struct status add_attention(struct run_jobs *jobs, const struct model *model,
                                   const struct run_job *base)
{
    struct model_attention kinds[SHAPES_MAX];
    struct run_job found[SHAPES_MAX];
    unsigned count = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_attention *a = &model->blocks[b].attention;
        if (a->kind == MODEL_ATTENTION_NONE) {
            continue;
        }
        unsigned i = 0;
        while (i < count && !same_attention(&kinds[i], a)) {
            i++;
        }
        if (i == SHAPES_MAX) {
            return status_error(STATUS_UNAVAILABLE, "more than %d kinds of attention", SHAPES_MAX);
        }
        if (i == count) {
            kinds[count] = *a;
            found[count] = *base;
            found[count].op = MODEL_OP_ATTENTION;
            found[count].variant = count;
            found[count].attention = *a;
            found[count].sinks = model->blocks[b].sinks.elements > 0;
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
    TRY(add_latents(jobs, model, &base));
    struct run_job attention = base;
    attention.kv_dtype = request->kv_dtype;
    TRY(add_attention(jobs, model, &attention));
    TRY(add_linears(jobs, model, &base, MODEL_OP_ATTN_OUT));
    TRY(add_linears(jobs, model, &base, MODEL_OP_ROUTER));
    TRY(add_experts(jobs, model, &base));
    TRY(add_linears(jobs, model, &base, MODEL_OP_GATE_UP));
    TRY(add_linears(jobs, model, &base, MODEL_OP_DOWN));
    return add_linears(jobs, model, &base, MODEL_OP_HEAD);
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
