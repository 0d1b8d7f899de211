#include "workloads/families.h"

#include <assert.h>
#include <string.h>

static uint64_t norm_elements(enum shape_norm norm, uint64_t width)
{
    switch (norm) {
    case SHAPE_LAYER:
        return 2 * width;
    case SHAPE_LAYER_BARE:
        return 0;
    case SHAPE_RMS:
    case SHAPE_LAYER_NO_BIAS:
        break;
    }
    return width;
}

static void add(struct model_block *block, enum model_role role, uint64_t n, uint64_t k, bool bias)
{
    struct model_matrix *matrix = model_add_matrix(block, role, n, k, bias, DTYPE_BF16, DTYPE_BF16);
    assert(matrix != NULL); // no layer has MODEL_MATRICES_MAX matrices
}

static void add_experts(struct model_block *block, enum model_role role, uint64_t experts,
                        uint64_t n, uint64_t k, bool bias)
{
    add(block, role, n, k, false);
    struct model_matrix *matrix = &block->matrices[block->matrix_count - 1];
    matrix->count = experts <= UINT32_MAX ? (uint32_t)experts : UINT32_MAX;
    matrix->bias = bias ? experts * n : 0;
}

static uint64_t v_dim_of(const struct shape *shape)
{
    return shape->v_dim > 0 ? shape->v_dim : shape->head_dim;
}

static void add_heads(struct model_block *block, const struct shape *shape)
{
    uint64_t d = shape->d;
    uint64_t k = shape->head_dim;
    uint64_t v = v_dim_of(shape);
    add(block, MODEL_Q, shape->heads * k, d, shape->qkv_bias);
    add(block, MODEL_K, shape->kv_heads * k, d, shape->qkv_bias);
    add(block, MODEL_V, shape->kv_heads * v, d, shape->qkv_bias);
    add(block, MODEL_ATTN_OUT, d, shape->heads * v, shape->out_bias);
    block->attention.kind = MODEL_ATTENTION_HEADS;
    block->attention.kv_heads = shape->kv_heads;
    block->attention.k_dim = k;
    block->attention.v_dim = v;
    block->attention.kv_values = shape->kv_heads * (k + v);
    uint64_t width = shape->qk_norm == SHAPE_QK_SHARED     ? 2 * k
                     : shape->qk_norm == SHAPE_QK_PER_HEAD ? (shape->heads + shape->kv_heads) * k
                                                           : 0;
    block->norms.elements += norm_elements(shape->qk_norm_kind, width);
    if (shape->qk_norm != SHAPE_QK_NONE) {
        block->norm_values += (shape->heads + shape->kv_heads) * k;
    }
}

static void add_latent(struct model_block *block, const struct shape *shape)
{
    uint64_t d = shape->d;
    uint64_t query = shape->nope_dim + shape->rope_dim;
    uint64_t v = v_dim_of(shape);
    if (shape->q_rank > 0) {
        add(block, MODEL_Q_A, shape->q_rank, d, shape->qkv_bias);
        add(block, MODEL_Q_B, shape->heads * query, shape->q_rank, false);
    } else {
        add(block, MODEL_Q, shape->heads * query, d, false);
    }
    add(block, MODEL_KV_A, shape->kv_rank + shape->rope_dim, d, shape->qkv_bias);
    add(block, MODEL_KV_B, shape->heads * (shape->nope_dim + v), shape->kv_rank, false);
    add(block, MODEL_ATTN_OUT, d, shape->heads * v, shape->out_bias);
    block->attention.kind = MODEL_ATTENTION_MLA;
    block->attention.kv_heads = shape->heads;
    block->attention.k_dim = query;
    block->attention.v_dim = v;
    block->attention.kv_rank = shape->kv_rank;
    block->attention.kv_values = shape->kv_rank + shape->rope_dim;
    block->norms.elements += shape->q_rank + shape->kv_rank;
    block->norm_values += shape->q_rank + shape->kv_rank;
}

static void add_mlp(struct model_block *block, const struct shape *shape, uint64_t width)
{
    block->mlp.width = width;
    block->mlp.gated = shape->gated;
    if (shape->gated) {
        add(block, MODEL_GATE, width, shape->d, shape->mlp_bias);
    }
    add(block, MODEL_UP, width, shape->d, shape->mlp_bias);
    add(block, MODEL_DOWN, shape->d, width, shape->mlp_bias);
}

static void add_moe(struct model_block *block, const struct shape *shape)
{
    uint64_t d = shape->d;
    uint64_t width = shape->expert_width;
    uint64_t experts = shape->experts;
    block->mlp = (struct model_mlp){.experts = experts,
                                    .experts_used = shape->experts_used,
                                    .expert_width = width,
                                    .shared_width = shape->shared_width,
                                    .gated = shape->gated};
    add(block, MODEL_ROUTER, experts, d, shape->router_bias);
    if (shape->gated) {
        add_experts(block, MODEL_EXPERT_GATE, experts, width, d, shape->expert_bias);
    }
    add_experts(block, MODEL_EXPERT_UP, experts, width, d, shape->expert_bias);
    add_experts(block, MODEL_EXPERT_DOWN, experts, d, width, shape->expert_bias);
    if (shape->shared_width > 0) {
        add(block, MODEL_SHARED_GATE, shape->shared_width, d, false);
        add(block, MODEL_SHARED_UP, shape->shared_width, d, false);
        add(block, MODEL_SHARED_DOWN, d, shape->shared_width, false);
    }
    if (shape->shared_gate) {
        add(block, MODEL_SHARED_ROUTER, 1, d, false);
    }
}

static void build_layer(struct model_block *block, const struct shape *shape, uint64_t layer)
{
    memset(block, 0, sizeof *block);
    block->layers = 1;
    block->attention.heads = shape->heads;
    block->attention.rope_dim = shape->rope_dim;
    block->norms.elements = shape->norms_per_layer * norm_elements(shape->norm, shape->d);
    block->norm_values = shape->norms_per_layer * shape->d;
    if (shape->kv_rank > 0) {
        add_latent(block, shape);
    } else {
        add_heads(block, shape);
    }
    if (shape->windowed[layer]) {
        block->attention.window = shape->window;
        block->attention.chunked = shape->chunked;
    }
    block->sinks.elements = shape->sinks ? shape->heads : 0;
    if (shape->routed[layer]) {
        add_moe(block, shape);
    } else {
        add_mlp(block, shape, shape->dense_ffn > 0 ? shape->dense_ffn : shape->ffn);
    }
}

static uint64_t block_elements(const struct model_block *block)
{
    uint64_t elements = block->norms.elements + block->sinks.elements;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *matrix = &block->matrices[i];
        elements += matrix->count * matrix->n * matrix->k + matrix->bias;
    }
    return elements;
}

// DeepSeek-V3's report, 2.2, and its checkpoint: a layer like the last one, a projection of the
// joined embedding and hidden state, three norms, and copies of the embedding and the head.
static void add_mtp(struct model *out, const struct shape *shape)
{
    if (shape->mtp_layers == 0) {
        return;
    }
    struct model_block block;
    build_layer(&block, shape, shape->layers - 1);
    uint64_t d = shape->d;
    out->mtp_layers = (unsigned)shape->mtp_layers;
    out->mtp.elements =
        shape->mtp_layers * (block_elements(&block) + 2 * d * d + 3 * d + 2 * shape->vocab * d);
}

static void build_outside(struct model *out, const struct shape *shape)
{
    uint64_t d = shape->d;
    uint64_t width = shape->embedding_width > 0 ? shape->embedding_width : d;
    out->d = d;
    out->vocab = shape->vocab;
    out->trained_context = shape->context;
    out->tied = shape->tied;
    out->layer_norm = shape->norm != SHAPE_RMS;
    out->embedding =
        (struct model_matrix){.role = MODEL_EMBEDDING, .count = 1, .n = shape->vocab, .k = width};
    out->head = (struct model_matrix){.role = MODEL_HEAD,
                                      .count = 1,
                                      .n = shape->vocab,
                                      .k = width,
                                      .bias = shape->head_bias ? shape->vocab : 0};
    if (shape->position_rows > 0) {
        out->positions = (struct model_matrix){
            .role = MODEL_POSITIONS, .count = 1, .n = shape->position_rows, .k = d};
    }
    if (width != d) {
        out->projections[0] =
            (struct model_matrix){.role = MODEL_PROJECT_IN, .count = 1, .n = d, .k = width};
        out->projections[1] =
            (struct model_matrix){.role = MODEL_PROJECT_OUT, .count = 1, .n = width, .k = d};
    }
    uint64_t norms = (shape->final_norm ? 1u : 0u) + (shape->embedding_norm ? 1u : 0u);
    out->final_norms.elements = norms * norm_elements(shape->norm, d);
    out->final_norm_values = norms * d;
}

struct status shape_build(struct model *out, const struct shape *shape, enum dtype_id dtype)
{
    build_outside(out, shape);
    for (uint64_t layer = 0; layer < shape->layers; layer++) {
        struct model_block block;
        build_layer(&block, shape, layer);
        TRY(model_add_layers(out, &block));
    }
    add_mtp(out, shape);
    TRY(model_check(out));
    model_set_dtype(out, dtype);
    return status_ok();
}
