#include "workloads/gguf_layer.h"

#include <inttypes.h>
#include <string.h>

static bool has(const struct gguf_layer *layer, enum gguf_part_id id)
{
    return layer->weights[id] != NULL;
}

static struct status missing(const struct gguf_layer *layer, enum gguf_part_id id)
{
    return status_error(STATUS_INVALID, "tensor 'blk.%" PRIu32 ".%s.weight' is missing",
                        layer->number, gguf_part_get(id)->name);
}

static struct status require(const struct gguf_layer *layer, enum gguf_part_id id)
{
    return has(layer, id) ? status_ok() : missing(layer, id);
}

// Exactly one of `one` alone, and `first` with `second` (and `third`, unless it is GGUF_PARTS).
static struct status require_either(const struct gguf_layer *layer, enum gguf_part_id one,
                                    enum gguf_part_id first, enum gguf_part_id second,
                                    enum gguf_part_id third)
{
    bool any =
        has(layer, first) || has(layer, second) || (third != GGUF_PARTS && has(layer, third));
    if (has(layer, one) && any) {
        return status_error(STATUS_INVALID, "layer %" PRIu32 " has both %s and its parts (%s, %s)",
                            layer->number, gguf_part_get(one)->name, gguf_part_get(first)->name,
                            gguf_part_get(second)->name);
    }
    if (has(layer, one)) {
        return status_ok();
    }
    if (!any) {
        return missing(layer, one);
    }
    TRY(require(layer, first));
    TRY(require(layer, second));
    return third != GGUF_PARTS ? require(layer, third) : status_ok();
}

static struct status require_attention(const struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    if (shape->heads[layer->number] == 0) {
        return status_ok();
    }
    TRY(require(layer, GGUF_ATTN_OUTPUT));
    if (shape->kv_heads[layer->number] == 0) {
        return status_ok();
    }
    if (!has(layer, GGUF_ATTN_NORM) && !has(layer, GGUF_POST_ATTENTION_NORM) &&
        !shape->architecture->norms_without_weights) {
        return missing(layer, GGUF_ATTN_NORM);
    }
    if (shape->kv_rank == 0) {
        if (!has(layer, GGUF_ATTN_QKV) && !has(layer, GGUF_ATTN_K) && !has(layer, GGUF_ATTN_V)) {
            return missing(layer, has(layer, GGUF_ATTN_Q) ? GGUF_ATTN_K : GGUF_ATTN_Q);
        }
        return require_either(layer, GGUF_ATTN_QKV, GGUF_ATTN_Q, GGUF_ATTN_K, GGUF_ATTN_V);
    }
    TRY(require(layer, GGUF_ATTN_KV_A));
    TRY(require(layer, GGUF_ATTN_KV_A_NORM));
    TRY(require_either(layer, GGUF_ATTN_Q, GGUF_ATTN_Q_A, GGUF_ATTN_Q_B, GGUF_PARTS));
    return require_either(layer, GGUF_ATTN_KV_B, GGUF_ATTN_K_B, GGUF_ATTN_V_B, GGUF_PARTS);
}

static bool has_dense(const struct gguf_layer *layer)
{
    return has(layer, GGUF_FFN_GATE) || has(layer, GGUF_FFN_UP) || has(layer, GGUF_FFN_DOWN);
}

static bool has_experts(const struct gguf_layer *layer)
{
    return has(layer, GGUF_FFN_GATE_EXPS) || has(layer, GGUF_FFN_UP_EXPS) ||
           has(layer, GGUF_FFN_GATE_UP_EXPS) || has(layer, GGUF_FFN_DOWN_EXPS) ||
           has(layer, GGUF_FFN_GATE_INP);
}

static bool has_shared(const struct gguf_layer *layer)
{
    return has(layer, GGUF_FFN_GATE_SHEXP) || has(layer, GGUF_FFN_UP_SHEXP) ||
           has(layer, GGUF_FFN_DOWN_SHEXP) || has(layer, GGUF_FFN_GATE_INP_SHEXP);
}

static struct status require_mlp(const struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    bool none = shape->ff_told && shape->ff[layer->number] == 0 && shape->experts == 0;
    if (!has_dense(layer) && !has_experts(layer) && !none) {
        return missing(layer, shape->experts > 0 ? GGUF_FFN_DOWN_EXPS : GGUF_FFN_DOWN);
    }
    if (has_dense(layer)) {
        TRY(require(layer, GGUF_FFN_DOWN));
        TRY(require(layer, GGUF_FFN_UP));
    }
    if (has_experts(layer)) {
        TRY(require(layer, GGUF_FFN_GATE_INP));
        TRY(require(layer, GGUF_FFN_DOWN_EXPS));
        if (!has(layer, GGUF_FFN_GATE_UP_EXPS)) {
            TRY(require(layer, GGUF_FFN_UP_EXPS));
        }
    }
    if (has_shared(layer)) {
        TRY(require(layer, GGUF_FFN_DOWN_SHEXP));
        TRY(require(layer, GGUF_FFN_UP_SHEXP));
    }
    return status_ok();
}

// The first of count candidates that is what the tensor has; else the first that is told; else
// what the tensor has: nothing in the file contradicts it.
static uint64_t choose(uint64_t found, const uint64_t *candidates, size_t count)
{
    uint64_t told = 0;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == found) {
            return found;
        }
        told = told == 0 ? candidates[i] : told;
    }
    return told != 0 ? told : found;
}

static uint64_t row(const struct gguf_layer *layer, enum gguf_part_id id)
{
    return has(layer, id) ? layer->weights[id]->dims[0] : 0;
}

// Widths of dense MLP, experts and shared experts. Files written before a key existed leave it
// out: then the expert width is f or, in qwen2moe, f / e.
static void set_widths(struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    uint64_t *dims = layer->dims;
    uint64_t f = shape->ff[layer->number];
    dims[GGUF_DIM_F] = shape->ff_told ? f : row(layer, GGUF_FFN_DOWN);
    if (shape->experts == 0 || layer->number < shape->leading_dense) {
        return;
    }
    dims[GGUF_DIM_E] = shape->experts;
    const uint64_t experts[] = {f, f / shape->experts_used};
    dims[GGUF_DIM_F_E] = shape->expert_ff > 0 ? shape->expert_ff
                                              : choose(row(layer, GGUF_FFN_DOWN_EXPS), experts, 2);
    dims[GGUF_DIM_2F_E] = 2 * dims[GGUF_DIM_F_E];
    const uint64_t shared[] = {shape->shared_ff, shape->shared_count * dims[GGUF_DIM_F_E],
                               shape->shared_count * shape->shared_ff};
    dims[GGUF_DIM_F_S] = choose(row(layer, GGUF_FFN_DOWN_SHEXP), shared, 3);
}

static void set_latent_dims(struct gguf_layer *layer, uint64_t heads)
{
    const struct gguf_shape *shape = layer->shape;
    uint64_t *dims = layer->dims;
    uint64_t k_n = shape->k - shape->rope_dim;
    dims[GGUF_DIM_R_Q] = shape->q_rank;
    dims[GGUF_DIM_R_KV] = shape->kv_rank;
    dims[GGUF_DIM_KV_A] = shape->kv_rank + shape->rope_dim;
    dims[GGUF_DIM_KV_B] = heads * (k_n + shape->v);
    dims[GGUF_DIM_K_N] = k_n;
    dims[GGUF_DIM_V_HEAD] = shape->v;
}

static void set_dims(struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    uint64_t *dims = layer->dims;
    uint64_t heads = shape->heads[layer->number];
    uint64_t kv_heads = shape->kv_heads[layer->number];
    uint64_t k = shape->windowed[layer->number] ? shape->k_window : shape->k;
    uint64_t v = shape->windowed[layer->number] ? shape->v_window : shape->v;
    dims[GGUF_DIM_ONE] = 1;
    dims[GGUF_DIM_D] = shape->d;
    set_widths(layer);
    if (heads > 0 && kv_heads == 0) {
        dims[GGUF_DIM_OUT_IN] = shape->d;
        return;
    }
    dims[GGUF_DIM_HEADS] = heads;
    dims[GGUF_DIM_HEAD] = heads > 0 ? k : 0;
    dims[GGUF_DIM_Q] = heads * k;
    dims[GGUF_DIM_OUT_IN] = heads * v;
    if (shape->kv_rank > 0) {
        set_latent_dims(layer, heads);
        return;
    }
    dims[GGUF_DIM_K] = kv_heads * k;
    dims[GGUF_DIM_V] = kv_heads * v;
    dims[GGUF_DIM_QKV] = heads * k + kv_heads * (k + v);
}

static void set_attention(struct model_attention *out, const struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    uint32_t i = layer->number;
    if (layer->dims[GGUF_DIM_HEADS] == 0) {
        return;
    }
    bool latent = shape->kv_rank > 0;
    uint64_t rope = shape->rope_dim;
    unsigned period = shape->architecture->rope_period;
    out->kind = latent ? MODEL_ATTENTION_MLA : MODEL_ATTENTION_HEADS;
    out->heads = shape->heads[i];
    out->kv_heads = latent ? shape->heads[i] : shape->kv_heads[i];
    out->k_dim = layer->dims[GGUF_DIM_HEAD];
    out->v_dim = layer->dims[GGUF_DIM_OUT_IN] / shape->heads[i];
    out->window = shape->windowed[i] ? shape->window : 0;
    out->chunked = out->window > 0 && shape->architecture->chunked;
    out->kv_rank = shape->kv_rank;
    out->rope_dim = rope < out->k_dim ? rope : out->k_dim;
    if (period > 0 && (i + 1) % period == 0) {
        out->rope_dim = 0;
    }
    out->kv_values = latent ? shape->kv_rank + rope : out->kv_heads * (out->k_dim + out->v_dim);
}

static void set_mlp(struct model_mlp *out, const struct gguf_layer *layer)
{
    const struct gguf_shape *shape = layer->shape;
    const uint64_t *dims = layer->dims;
    if (has_dense(layer)) {
        out->width = dims[GGUF_DIM_F];
        out->gated = has(layer, GGUF_FFN_GATE) ||
                     layer->weights[GGUF_FFN_UP]->dims[1] == 2 * dims[GGUF_DIM_F];
    }
    if (has_experts(layer)) {
        out->experts = shape->experts;
        out->experts_used = shape->experts_used;
        out->expert_width = dims[GGUF_DIM_F_E];
        out->gated = has(layer, GGUF_FFN_GATE_EXPS) || has(layer, GGUF_FFN_GATE_UP_EXPS);
    }
    out->shared_width = has_shared(layer) ? dims[GGUF_DIM_F_S] : 0;
}

struct status gguf_layer_block(struct model_block *out, struct gguf_layer *layer)
{
    memset(out, 0, sizeof *out);
    out->layers = 1;
    TRY(require_attention(layer));
    TRY(require_mlp(layer));
    set_dims(layer);
    TRY(gguf_layer_add_parts(out, layer));
    set_attention(&out->attention, layer);
    set_mlp(&out->mlp, layer);
    if (layer->shape->architecture->norms_without_weights) {
        out->norm_values += 2 * layer->shape->d;
    }
    return status_ok();
}

void gguf_layer_shape(struct model_block *out, struct gguf_layer *layer)
{
    memset(out, 0, sizeof *out);
    out->layers = 1;
    set_dims(layer);
    set_attention(&out->attention, layer);
    bool mixture = layer->dims[GGUF_DIM_E] > 0;
    out->mlp.width = mixture ? 0 : layer->dims[GGUF_DIM_F];
    out->mlp.experts = layer->dims[GGUF_DIM_E];
    out->mlp.experts_used = mixture ? layer->shape->experts_used : 0;
    out->mlp.expert_width = layer->dims[GGUF_DIM_F_E];
}
