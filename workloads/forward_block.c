#include "roofline/step.h"
#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const enum model_operator product_ops[FORWARD_PRODUCTS] = {
    [FORWARD_QKV] = MODEL_OP_QKV,       [FORWARD_Q_B] = MODEL_OP_QKV,
    [FORWARD_KV_B] = MODEL_OP_QKV,      [FORWARD_OUT] = MODEL_OP_ATTN_OUT,
    [FORWARD_ROUTER] = MODEL_OP_ROUTER, [FORWARD_GATE_UP] = MODEL_OP_GATE_UP,
    [FORWARD_DOWN] = MODEL_OP_DOWN,
};

struct status forward_no_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory for the activations of a step");
}

enum line_format forward_format(enum dtype_id dtype, uint64_t k)
{
    enum line_format format = LINE_F32;
    bool found = line_find(&format, dtype_name(dtype_for_row(dtype, k)));
    assert(found); // the caller accepts no other dtype
    (void)found;
    return format;
}

struct linear_params forward_linear_params(const struct forward *f, enum model_operator op,
                                           enum dtype_id dtype, uint64_t n, uint64_t k)
{
    const struct forward_way *way = &f->params.ways[op];
    struct linear_params params = {.format = forward_format(dtype, k),
                                   .class_ = way->class_,
                                   .isa = way->isa,
                                   .n = n,
                                   .k = k,
                                   .threads = f->params.threads,
                                   .prefetch_bytes = way->prefetch_bytes};
    params.class_ = line_is_blocks(params.format) ? LINEAR_DOT : way->class_;
    if (!linear_supported(params.format, params.class_, params.isa)) {
        params.class_ = LINEAR_FMA; // a row that fell back to a plain format
    }
    return params;
}

static struct attention_params attention_params_of(const struct forward_block *block,
                                                   const struct forward *f)
{
    const struct forward_params *p = &f->params;
    const struct model_attention *a = &block->shape;
    const struct forward_way *way = &p->ways[MODEL_OP_ATTENTION];
    uint64_t seen = (uint64_t)step_visible_cached(a, p->context);
    return (struct attention_params){.format = p->kv_format,
                                     .isa = way->isa,
                                     .batch = p->batch,
                                     .heads = (unsigned)a->heads,
                                     .kv_heads = (unsigned)a->kv_heads,
                                     .k_dim = (unsigned)a->k_dim,
                                     .v_dim = (unsigned)a->v_dim,
                                     .context = p->prefill ? 0 : seen,
                                     .rows = f->tokens,
                                     .window = p->prefill ? a->window : 0,
                                     .chunked = a->chunked,
                                     .prefill = p->prefill,
                                     .threads = p->threads,
                                     .prefetch_bytes = way->prefetch_bytes};
}

// A latent cache: one row a token for all heads.
static void make_latent(struct attention_params *params, const struct forward_latent *latent)
{
    params->latent = true;
    params->scale_dim = params->k_dim;
    params->kv_heads = 1;
    params->k_dim = (unsigned)(latent->kv_rank + latent->rope);
    params->v_dim = (unsigned)latent->kv_rank;
}

static struct status create_attention(struct forward_block *block, struct forward *f, bool sinks)
{
    struct attention_params params = attention_params_of(block, f);
    params.sinks = sinks;
    if (block->is_latent && !params.prefill) {
        make_latent(&params, &block->latent);
    }
    TRY(attention_create(&block->attention, &params));
    const struct attention *a = block->attention;
    f->activation_bytes +=
        sizeof(float) * f->rows * block->shape.heads * (a->params.k_dim + a->out_floats);
    if (!block->is_latent || !params.prefill) {
        return status_ok();
    }
    make_latent(&params, &block->latent); // as a decode after the prompt would read it
    params.prefill = false;
    params.rows = 1;
    params.context = f->tokens - 1;
    return attention_create(&block->latent.cache, &params);
}

static bool has_bias(const struct model_block *shape, enum model_operator op)
{
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        const struct model_matrix *m = &shape->matrices[i];
        if (model_role_operator(m->role) == op && m->bias > 0) {
            return true;
        }
    }
    return false;
}

static bool has_role(const struct model_block *shape, enum model_role role)
{
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        if (shape->matrices[i].role == role) {
            return true;
        }
    }
    return false;
}

static uint64_t rank_of_queries(const struct model_block *shape)
{
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        if (shape->matrices[i].role == MODEL_Q_A) {
            return shape->matrices[i].n;
        }
    }
    return 0;
}

static void size_latent(struct forward_block *block, const struct forward *f,
                        const struct model_block *shape)
{
    const struct model_attention *a = &shape->attention;
    struct forward_latent *latent = &block->latent;
    struct forward_linear *p = block->products;
    latent->q_rank = rank_of_queries(shape);
    latent->kv_rank = a->kv_rank;
    latent->rope = a->rope_dim;
    latent->nope = a->k_dim - a->rope_dim;
    uint64_t queries = a->heads * a->k_dim;
    p[FORWARD_QKV].n = (latent->q_rank > 0 ? latent->q_rank : queries) + a->kv_rank + a->rope_dim;
    p[FORWARD_Q_B].n = latent->q_rank > 0 ? queries : 0;
    p[FORWARD_Q_B].k = latent->q_rank;
    p[FORWARD_KV_B].n = f->params.prefill ? a->heads * (latent->nope + a->v_dim) : 0;
    p[FORWARD_KV_B].k = a->kv_rank;
}

static void size_products(struct forward_block *block, const struct forward *f,
                          const struct model_block *shape)
{
    const struct model_attention *a = &shape->attention;
    struct forward_linear *p = block->products;
    p[FORWARD_QKV].n = a->heads * a->k_dim + a->kv_heads * (a->k_dim + a->v_dim);
    p[FORWARD_QKV].k = f->d;
    if (block->is_latent) {
        size_latent(block, f, shape);
    }
    p[FORWARD_OUT].n = f->d;
    p[FORWARD_OUT].k = a->heads * a->v_dim;
    block->shared_gate = has_role(shape, MODEL_SHARED_ROUTER);
    p[FORWARD_ROUTER].n =
        shape->mlp.experts > 0 ? shape->mlp.experts + (block->shared_gate ? 1 : 0) : 0;
    p[FORWARD_ROUTER].k = f->d;
    p[FORWARD_GATE_UP].n = block->width * (block->gated ? 2 : 1);
    p[FORWARD_GATE_UP].k = f->d;
    p[FORWARD_DOWN].n = block->width > 0 ? f->d : 0;
    p[FORWARD_DOWN].k = block->width;
}

static struct status create_banks(struct forward_block *block, struct forward *f,
                                  const struct model_block *shape)
{
    struct forward_latent *latent = &block->latent;
    uint64_t heads = block->shape.heads;
    struct bank_params params = {.count = (unsigned)heads, .slots = heads * f->rows, .whole = true};
    enum dtype_id k_type = forward_type_of(shape, MODEL_K_B, MODEL_KV_B, f->params.dtype);
    enum dtype_id v_type = forward_type_of(shape, MODEL_V_B, MODEL_KV_B, f->params.dtype);
    params.linear = forward_linear_params(f, MODEL_OP_QKV, k_type, latent->kv_rank, latent->nope);
    TRY(bank_create(&latent->k_up, &params));
    params.linear =
        forward_linear_params(f, MODEL_OP_QKV, v_type, block->shape.v_dim, latent->kv_rank);
    TRY(bank_create(&latent->v_up, &params));
    f->activation_bytes += bank_slot_bytes(&latent->k_up) + bank_slot_bytes(&latent->v_up);
    return status_ok();
}

static double expert_bytes(const struct model_block *shape, enum dtype_id dtype)
{
    double bytes = 0;
    for (uint32_t i = 0; i < shape->matrix_count; i++) {
        const struct model_matrix *m = &shape->matrices[i];
        if (model_role_operator(m->role) == MODEL_OP_EXPERTS) {
            bytes += (double)(model_matrix_bytes(m, dtype) + model_bias_bytes(m, dtype)) /
                     (double)shape->mlp.experts;
        }
    }
    return bytes;
}

static struct status create_experts(struct forward_block *block, struct forward *f,
                                    const struct model_block *shape)
{
    const struct model_mlp *mlp = &shape->mlp;
    uint64_t rows = f->rows < LINEAR_BATCH_MAX ? f->rows : LINEAR_BATCH_MAX;
    enum dtype_id up =
        forward_type_of(shape, MODEL_EXPERT_UP, MODEL_EXPERT_GATE_UP_FUSED, f->params.dtype);
    enum dtype_id down =
        forward_type_of(shape, MODEL_EXPERT_DOWN, MODEL_EXPERT_DOWN, f->params.dtype);
    if (forward_type_of(shape, MODEL_EXPERT_GATE, MODEL_EXPERT_UP, up) != up) {
        return status_error(STATUS_INVALID,
                            "--step: experts' gate and up of different types; try --dtype");
    }
    const struct experts_params params = {
        .up = forward_linear_params(f, MODEL_OP_EXPERTS, up,
                                    mlp->expert_width * (mlp->gated ? 2 : 1), f->d),
        .down = forward_linear_params(f, MODEL_OP_EXPERTS, down, f->d, mlp->expert_width),
        .experts = (unsigned)mlp->experts,
        .used = (unsigned)mlp->experts_used,
        .rows = (unsigned)rows,
        .gated = mlp->gated,
        .activation = f->form->activation};
    TRY(experts_create(&block->experts, &params));
    f->activation_bytes += experts_activation_bytes(block->experts);
    block->experts_biased = has_bias(shape, MODEL_OP_EXPERTS);
    block->expert_bytes = expert_bytes(shape, f->params.dtype);
    block->router = (struct router){.scores = f->form->router,
                                    .experts = (uint32_t)mlp->experts,
                                    .used = (uint32_t)mlp->experts_used,
                                    .scale = f->form->router_scale};
    if (block->router.scores == ROUTER_ALL && block->products[FORWARD_ROUTER].biased) {
        block->router.scores = ROUTER_SIGMOID; // a GGUF's DeepSeek-V3 is of V2's family
    }
    block->touched = calloc(mlp->experts, sizeof *block->touched);
    return block->touched == NULL ? forward_no_memory() : status_ok();
}

void forward_fill_vector(float *out, size_t n, float middle, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = middle + line_random(state) / 8;
    }
}

static size_t place(size_t *next, size_t floats)
{
    size_t at = *next;
    *next += floats;
    return at;
}

static void place_vectors(struct forward_block *block, const struct forward *f)
{
    struct forward_vectors *at = &block->at;
    const struct forward_latent *latent = &block->latent;
    uint64_t widths[2] = {block->shape.k_dim, block->shape.k_dim};
    size_t next = 0;
    if (block->is_latent) {
        widths[0] = latent->q_rank;
        widths[1] = latent->kv_rank;
    }
    for (int i = 0; i < FORWARD_NORMS; i++) {
        at->norm_weight[i] = place(&next, f->d);
    }
    for (int i = 0; i < 2; i++) {
        at->head_weight[i] = place(&next, widths[i]);
    }
    at->norm_bias[0] = next; // weights are before it
    for (int i = 0; i < FORWARD_NORMS; i++) {
        at->norm_bias[i] = place(&next, f->d);
    }
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        at->bias[i] = place(&next, block->products[i].n);
    }
    if (block->experts_biased) {
        const struct experts_params *p = &block->experts->params;
        at->expert_up = place(&next, p->experts * p->up.n);
        at->expert_down = place(&next, p->experts * p->down.n);
    }
    at->floats = next;
}

static struct status create_vectors(struct forward_block *block, const struct forward *f)
{
    place_vectors(block, f);
    block->vectors = calloc(block->layers * block->at.floats, sizeof *block->vectors);
    if (block->vectors == NULL) {
        return forward_no_memory();
    }
    uint64_t state = 17;
    size_t weights = block->at.norm_bias[0];
    for (unsigned layer = 0; layer < block->layers; layer++) {
        float *v = block->vectors + layer * block->at.floats;
        forward_fill_vector(v, weights, 1, &state);
        forward_fill_vector(v + weights, block->at.floats - weights, 0, &state);
    }
    return status_ok();
}

struct status forward_create_block(struct forward_block *block, struct forward *f,
                                   const struct model_block *shape)
{
    unsigned limit = f->params.layers == 0 ? shape->layers : f->params.layers;
    block->layers = shape->layers < limit ? shape->layers : limit;
    block->model_layers = shape->layers;
    block->shape = shape->attention;
    block->is_latent = shape->attention.kind == MODEL_ATTENTION_MLA;
    block->width = shape->mlp.experts > 0 ? shape->mlp.shared_width : shape->mlp.width;
    block->gated = shape->mlp.gated;
    size_products(block, f, shape);
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        block->products[i].biased =
            has_bias(shape, product_ops[i]) && i != FORWARD_Q_B && i != FORWARD_KV_B;
        if (block->products[i].n > 0) {
            TRY(forward_find_parts(&block->products[i], shape, (enum forward_product)i,
                                   f->params.dtype));
            TRY(forward_create_linear(&block->products[i], f, product_ops[i], f->rows));
        }
    }
    if (block->is_latent && !f->params.prefill) {
        TRY(create_banks(block, f, shape));
    }
    if (shape->mlp.experts > 0) {
        TRY(create_experts(block, f, shape));
    }
    TRY(create_attention(block, f, shape->sinks.elements > 0));
    return create_vectors(block, f);
}

void forward_destroy_block(struct forward_block *block)
{
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        forward_destroy_linear(&block->products[i]);
    }
    attention_destroy(block->attention);
    attention_destroy(block->latent.cache);
    bank_destroy(&block->latent.k_up);
    bank_destroy(&block->latent.v_up);
    experts_destroy(block->experts);
    free(block->touched);
    free(block->vectors);
}
