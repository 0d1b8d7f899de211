#include "roofline/model.h"

#include <inttypes.h>

enum { EXPERTS_MAX = 1 << 16 };

static struct status check_dim(const char *what, uint64_t value)
{
    if (value < 1 || value > MODEL_DIM_MAX) {
        return status_error(STATUS_INVALID, "%s is %" PRIu64 "; accepted 1..%" PRIu64, what, value,
                            MODEL_DIM_MAX);
    }
    return status_ok();
}

static struct status add_elements(uint64_t *total, uint64_t elements)
{
    *total += elements;
    if (elements >= MODEL_ELEMENTS_MAX || *total >= MODEL_ELEMENTS_MAX) {
        return status_error(STATUS_INVALID,
                            "more than %" PRIu64 " parameters; no model is that large",
                            MODEL_ELEMENTS_MAX);
    }
    return status_ok();
}

static struct status check_matrix(uint64_t *total, const struct model_matrix *matrix,
                                  uint64_t layers)
{
    const char *name = model_role_name(matrix->role);
    TRY(status_prefix(check_dim("rows", matrix->n), "matrix '%s'", name));
    TRY(status_prefix(check_dim("columns", matrix->k), "matrix '%s'", name));
    if (matrix->count < 1 || matrix->count > EXPERTS_MAX) {
        return status_error(STATUS_INVALID, "matrix '%s': count is %" PRIu32 "; accepted 1..%d",
                            name, matrix->count, EXPERTS_MAX);
    }
    // n k <= 2^48; what does not fit 64 bits with the counts is far beyond the limit.
    uint64_t elements = matrix->n * matrix->k;
    if (__builtin_mul_overflow(elements, matrix->count * layers, &elements)) {
        elements = MODEL_ELEMENTS_MAX;
    }
    TRY(add_elements(total, elements));
    return add_elements(total, matrix->bias < MODEL_ELEMENTS_MAX / MODEL_LAYERS_MAX
                                   ? matrix->bias * layers
                                   : MODEL_ELEMENTS_MAX);
}

static struct status check_vectors(uint64_t *total, const struct model_vectors *vectors,
                                   uint64_t layers)
{
    return add_elements(total, vectors->elements < MODEL_ELEMENTS_MAX / MODEL_LAYERS_MAX
                                   ? vectors->elements * layers
                                   : MODEL_ELEMENTS_MAX);
}

static struct status check_attention(const struct model_attention *attention)
{
    if (attention->kind == MODEL_ATTENTION_NONE) {
        return status_ok();
    }
    TRY(check_dim("number of heads", attention->heads));
    TRY(check_dim("number of KV heads", attention->kv_heads));
    TRY(check_dim("head dimension", attention->k_dim));
    TRY(check_dim("head dimension of V", attention->v_dim));
    TRY(check_dim("KV values per token", attention->kv_values));
    if (attention->heads % attention->kv_heads != 0) {
        return status_error(STATUS_INVALID,
                            "%" PRIu64 " heads do not divide among %" PRIu64 " KV heads",
                            attention->heads, attention->kv_heads);
    }
    if (attention->rope_dim > attention->k_dim) {
        return status_error(STATUS_INVALID,
                            "rotary part %" PRIu64 " is larger than the head dimension %" PRIu64,
                            attention->rope_dim, attention->k_dim);
    }
    return status_ok();
}

static struct status check_mlp(const struct model_mlp *mlp)
{
    if (mlp->experts > 0 && (mlp->experts_used < 1 || mlp->experts_used > mlp->experts)) {
        return status_error(STATUS_INVALID,
                            "%" PRIu64 " experts used of %" PRIu64 "; accepted 1..%" PRIu64,
                            mlp->experts_used, mlp->experts, mlp->experts);
    }
    return status_ok();
}

static struct status check_block(uint64_t *total, const struct model_block *block)
{
    TRY(check_attention(&block->attention));
    TRY(check_mlp(&block->mlp));
    TRY(check_vectors(total, &block->norms, block->layers));
    TRY(check_vectors(total, &block->sinks, block->layers));
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        TRY(check_matrix(total, &block->matrices[i], block->layers));
    }
    return status_ok();
}

static struct status check_outside(uint64_t *total, const struct model *model)
{
    TRY(check_dim("hidden size", model->d));
    TRY(check_dim("vocabulary", model->vocab));
    TRY(check_matrix(total, &model->embedding, 1));
    TRY(check_matrix(total, &model->head, 1));
    if (model->positions.count > 0) {
        TRY(check_matrix(total, &model->positions, 1));
    }
    for (size_t i = 0; i < 2; i++) {
        if (model->projections[i].count > 0) {
            TRY(check_matrix(total, &model->projections[i], 1));
        }
    }
    TRY(check_vectors(total, &model->final_norms, 1));
    return check_vectors(total, &model->mtp, 1);
}

struct status model_check(const struct model *model)
{
    uint64_t total = 0;
    TRY(model->shape_only ? check_dim("hidden size", model->d) : check_outside(&total, model));
    if (model->block_count == 0) {
        return status_error(STATUS_INVALID, "no layers; accepted 1..%d", MODEL_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < model->block_count; i++) {
        TRY(check_block(&total, &model->blocks[i]));
    }
    return status_ok();
}
