#include "profiler/run_job.h"

#include "profiler/result_build.h"
#include "roofline/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHAPES_MAX = 32 };

bool run_job_is_integer(const struct run_job *job)
{
    return job->op != MODEL_OP_ATTENTION && job->op != MODEL_OP_ACT_QUANT &&
           line_is_blocks(run_weight_format(job));
}

enum run_job_kind run_job_kind(const struct run_job *job)
{
    return job->op == MODEL_OP_ATTENTION   ? RUN_ATTENTION
           : job->op == MODEL_OP_EXPERTS   ? RUN_EXPERTS
           : job->op == MODEL_OP_ACT_QUANT ? RUN_QUANTISE
           : job->heads > 0                ? RUN_HEADS
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

static uint64_t rows_of(const struct run_job *base, enum model_operator op)
{
    return op == MODEL_OP_HEAD || !base->prefill ? base->batch : base->batch * base->prompt;
}

// One product for the matrices of an operator that share an input and a type; n = 0 if there are
// none.
static struct run_job linear_job(const struct run_job *base, enum model_operator op,
                                 const struct model_shape *shape, unsigned input,
                                 enum dtype_id dtype)
{
    struct run_job job = *base;
    job.op = op;
    job.dtype = dtype;
    job.layers = shape->layers;
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        const struct model_matrix *m = &shape->matrices[i];
        if (model_role_input(m->role) == input && run_matrix_type(base->recipe, m) == dtype) {
            job.n += m->n * m->count;
            job.k = m->k;
            job.bytes +=
                (double)(model_matrix_bytes(m, base->recipe) + model_bias_bytes(m, base->recipe));
        }
    }
    job.rows = rows_of(base, op);
    job.flop = 2.0 * (double)job.rows * (double)job.n * (double)job.k;
    return job;
}

static bool same_linear(const struct run_job *a, const struct run_job *b)
{
    return a->op == b->op && a->heads == b->heads && a->n == b->n && a->k == b->k &&
           a->dtype == b->dtype && fabs(a->bytes - b->bytes) < 1;
}

// Of the step whose jobs begin at `first`: an equal one takes the layers, or the next variant is
// appended.
static struct status add_linear(struct run_jobs *jobs, size_t first, struct run_job job)
{
    for (size_t i = first; i < jobs->count; i++) {
        struct run_job *other = &jobs->list[i];
        if (same_linear(other, &job)) {
            other->layers += job.layers;
            return status_ok();
        }
        job.variant += other->op == job.op ? 1 : 0;
    }
    return append(jobs, &job);
}

static struct status add_shape(struct run_jobs *jobs, size_t first, const struct run_job *base,
                               enum model_operator op, const struct model_shape *shape)
{
    enum { INPUTS = 2 }; // those of latent attention's kv_b are added apart
    for (unsigned input = 0; input < (op == MODEL_OP_QKV ? INPUTS : 1); input++) {
        for (uint32_t i = 0; i < shape->matrix_count; i++) {
            enum dtype_id dtype = run_matrix_type(base->recipe, &shape->matrices[i]);
            bool again = false;
            for (uint32_t j = 0; j < i; j++) {
                again = again || run_matrix_type(base->recipe, &shape->matrices[j]) == dtype;
            }
            struct run_job job = linear_job(base, op, shape, input, dtype);
            if (!again && job.n > 0) {
                TRY(add_linear(jobs, first, job));
            }
        }
    }
    return status_ok();
}

static struct status add_linears(struct run_jobs *jobs, size_t first, const struct model *model,
                                 const struct run_job *base, enum model_operator op)
{
    struct model_shape shapes[SHAPES_MAX];
    size_t count = model_shapes(shapes, SHAPES_MAX, model, op);
    if (count > SHAPES_MAX) {
        return status_error(STATUS_UNAVAILABLE, "more than %d kinds of %s", SHAPES_MAX,
                            model_operator_name(op));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(add_shape(jobs, first, base, op, &shapes[i]));
    }
    return status_ok();
}

static const struct model_matrix *find_role(const struct model_block *block, enum model_role role,
                                            enum model_role other)
{
    const struct model_matrix *found = NULL;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *m = &block->matrices[i];
        found = m->role == role || (found == NULL && m->role == other) ? m : found;
    }
    return found;
}

// n x k of each of so many heads (0: one matrix), in the type of a part of kv_b.
static struct status add_latent_part(struct run_jobs *jobs, size_t first, struct run_job job,
                                     const struct model_matrix *part)
{
    uint64_t n = job.n * (job.heads > 0 ? job.heads : 1);
    job.op = MODEL_OP_QKV;
    job.dtype = part == NULL ? job.recipe : run_matrix_type(job.recipe, part);
    job.rows = rows_of(&job, MODEL_OP_QKV);
    job.flop = 2.0 * (double)job.rows * (double)n * (double)job.k;
    job.bytes = (double)dtype_matrix_bytes(job.dtype, n, job.k);
    return add_linear(jobs, first, job);
}

// kv_b of latent attention: in decode a matrix a head on either side of the attention, in prefill
// one product.
static struct status add_latent(struct run_jobs *jobs, size_t first, const struct run_job *base,
                                const struct model_block *block)
{
    const struct model_attention *a = &block->attention;
    const struct model_matrix *k_part = find_role(block, MODEL_K_B, MODEL_KV_B);
    const struct model_matrix *v_part = find_role(block, MODEL_V_B, MODEL_KV_B);
    uint64_t nope = a->k_dim - a->rope_dim;
    struct run_job job = *base;
    job.layers = block->layers;
    job.n = a->heads * (nope + a->v_dim);
    job.k = a->kv_rank;
    if (base->prefill) {
        return add_latent_part(jobs, first, job, k_part);
    }
    job.heads = (unsigned)a->heads;
    job.n = a->kv_rank;
    job.k = nope;
    TRY(add_latent_part(jobs, first, job, k_part));
    job.n = a->v_dim;
    job.k = a->kv_rank;
    return add_latent_part(jobs, first, job, v_part);
}

static struct status add_latents(struct run_jobs *jobs, size_t first, const struct model *model,
                                 const struct run_job *base)
{
    for (uint32_t b = 0; b < model->block_count; b++) {
        if (model->blocks[b].attention.kind == MODEL_ATTENTION_MLA) {
            TRY(add_latent(jobs, first, base, &model->blocks[b]));
        }
    }
    return status_ok();
}

// Experts of equal shape and, as the step takes them, of equal types.
static bool same_experts(const struct run_job *a, const struct run_job *b)
{
    return a->op == b->op && a->experts == b->experts && a->experts_used == b->experts_used &&
           a->expert_width == b->expert_width && a->gated == b->gated && a->dtype == b->dtype &&
           a->down_dtype == b->down_dtype && fabs(a->instance_bytes - b->instance_bytes) < 1;
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
    const struct model_matrix *up = find_role(block, MODEL_EXPERT_UP, MODEL_EXPERT_GATE_UP_FUSED);
    const struct model_matrix *down = find_role(block, MODEL_EXPERT_DOWN, MODEL_EXPERT_DOWN);
    job.dtype = up == NULL ? base->recipe : run_matrix_type(base->recipe, up);
    job.down_dtype = down == NULL ? base->recipe : run_matrix_type(base->recipe, down);
    double weights = (double)(job.n * d + d * mlp->expert_width);
    job.flop = 2.0 * (double)(job.rows * mlp->experts_used) * weights;
    job.instance_bytes = all_expert_bytes(block, base->recipe);
    job.bytes = job.instance_bytes / (double)mlp->experts *
                step_distinct_experts(mlp->experts, mlp->experts_used, (double)job.rows);
    return job;
}

static struct status add_experts(struct run_jobs *jobs, size_t first, const struct model *model,
                                 const struct run_job *base)
{
    for (uint32_t b = 0; b < model->block_count; b++) {
        if (model->blocks[b].mlp.experts == 0) {
            continue;
        }
        struct run_job job = experts_job(base, &model->blocks[b], model->d);
        struct run_job *same = NULL;
        job.layers = model->blocks[b].layers;
        for (size_t i = first; i < jobs->count; i++) {
            same = same_experts(&jobs->list[i], &job) ? &jobs->list[i] : same;
            job.variant += jobs->list[i].op == job.op ? 1 : 0;
        }
        if (same == NULL) {
            TRY(append(jobs, &job));
            same = &jobs->list[jobs->count - 1];
        } else {
            same->layers += job.layers;
        }
        same->step_bytes = same->layers * same->instance_bytes;
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
    wanted.dtype = base.recipe;
    wanted.kv_dtype = request->kv_dtype;
    TRY(step_compute(&step, model, &wanted));
    base.step_bytes = step.sum.bytes.dram_lower_bound;
    size_t first = jobs->count;
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_QKV));
    TRY(add_latents(jobs, first, model, &base));
    struct run_job attention = base;
    attention.kv_dtype = request->kv_dtype;
    TRY(add_attention(jobs, model, &attention));
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_ATTN_OUT));
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_ROUTER));
    TRY(add_experts(jobs, first, model, &base));
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_GATE_UP));
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_DOWN));
    TRY(add_linears(jobs, first, model, &base, MODEL_OP_HEAD));
    return run_jobs_add_quantise(jobs, first);
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
        struct run_job base = {
            .dtype = request->dtypes[d], .recipe = request->dtypes[d], .kv_dtype = DTYPE_NONE};
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
