#include "workloads/gguf_layer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct status not_understood(const struct gguf_layer *layer,
                                    const struct gguf_tensor *tensor)
{
    return status_error(STATUS_INVALID,
                        "tensor '%s' is not one that layers of architecture '%s' "
                        "are known to have",
                        tensor->name, layer->shape->architecture->name);
}

static struct status collect_one(struct gguf_layer *layer, const struct gguf_tensor *tensor)
{
    uint32_t number = 0;
    const char *rest = "";
    (void)gguf_name_layer(&number, &rest, tensor->name);
    struct gguf_name name = gguf_name_parse(rest);
    if (name.kind == GGUF_NAME_UNKNOWN || (name.kind == GGUF_NAME_BIAS && name.expert >= 0)) {
        return not_understood(layer, tensor);
    }
    if (name.kind == GGUF_NAME_TABLE) {
        layer->table_bytes += tensor->bytes;
        return status_ok();
    }
    const struct gguf_tensor **slot =
        name.kind == GGUF_NAME_BIAS ? &layer->biases[name.part] : &layer->weights[name.part];
    if (*slot != NULL) {
        (void)gguf_name_layer(&number, &rest, (*slot)->name);
        if (name.expert < 0 || gguf_name_parse(rest).expert < 0) {
            return status_error(STATUS_INVALID, "tensors '%s' and '%s' hold the same experts",
                                (*slot)->name, tensor->name);
        }
        return status_ok();
    }
    *slot = tensor;
    return status_ok();
}

struct status gguf_layer_collect(struct gguf_layer *layer)
{
    for (size_t i = 0; i < layer->tensor_count; i++) {
        TRY(collect_one(layer, &layer->tensors[i]));
    }
    return status_ok();
}

struct status gguf_check_dims(const struct gguf_tensor *tensor, uint64_t first, uint64_t second,
                              uint64_t third)
{
    const uint64_t *found = tensor->dims;
    if (first == 0 || second == 0 || third == 0) {
        return status_error(STATUS_INVALID, "tensor '%s' is not expected by the metadata",
                            tensor->name);
    }
    if (found[0] != first || found[1] != second || found[2] != third || found[3] != 1) {
        return status_error(STATUS_INVALID,
                            "tensor '%s': found %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64
                            ", accepted by the metadata %" PRIu64 " x %" PRIu64 " x %" PRIu64,
                            tensor->name, found[0], found[1], found[2], found[3], first, second,
                            third);
    }
    return status_ok();
}

// The block's matrix of that role, added if there is none. Experts stored one by one share it; if
// their types differ, bytes are still exact and dtype is that of the first.
static struct model_matrix *matrix_of(struct model_block *block, enum model_role role,
                                      enum dtype_id dtype)
{
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        if (block->matrices[i].role == role) {
            return &block->matrices[i];
        }
    }
    if (block->matrix_count == MODEL_MATRICES_MAX) {
        return NULL;
    }
    struct model_matrix *matrix = &block->matrices[block->matrix_count++];
    matrix->role = role;
    matrix->dtype = dtype;
    return matrix;
}

static struct status add_matrix(struct model_block *out, const struct gguf_tensor *tensor,
                                enum model_role role, uint64_t n, uint64_t k, uint64_t count)
{
    struct model_matrix *matrix = matrix_of(out, role, tensor->dtype);
    if (matrix == NULL) {
        return status_error(STATUS_INVALID, "tensor '%s': its layer has more than %d matrices",
                            tensor->name, MODEL_MATRICES_MAX);
    }
    matrix->n = n;
    matrix->k = k;
    matrix->count += (uint32_t)count;
    matrix->stored_bytes += tensor->bytes;
    return status_ok();
}

static struct status add_bias(struct model_block *out, const struct gguf_tensor *bias,
                              enum model_role role, uint64_t n, uint64_t count)
{
    if (bias == NULL) {
        return status_ok();
    }
    TRY(gguf_check_dims(bias, n, count, 1));
    for (uint32_t i = 0; i < out->matrix_count; i++) {
        struct model_matrix *matrix = &out->matrices[i];
        if (matrix->role == role) {
            matrix->bias += bias->elements;
            matrix->bias_bytes += bias->bytes;
            return status_ok();
        }
    }
    return status_error(STATUS_INVALID, "tensor '%s' has no matrix that it belongs to", bias->name);
}

// Experts stored one by one: each number below E exactly once (names are unique).
static struct status add_single_experts(struct model_block *out, const struct gguf_layer *layer,
                                        enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    uint64_t experts = layer->dims[GGUF_DIM_E];
    uint64_t seen = 0;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const struct gguf_tensor *tensor = &layer->tensors[i];
        uint32_t number = 0;
        const char *rest = "";
        (void)gguf_name_layer(&number, &rest, tensor->name);
        struct gguf_name name = gguf_name_parse(rest);
        if (name.kind != GGUF_NAME_WEIGHT || name.part != id) {
            continue;
        }
        if (name.expert >= (int64_t)experts) {
            return status_error(STATUS_INVALID,
                                "tensor '%s': accepted experts below expert_count "
                                "%" PRIu64,
                                tensor->name, experts);
        }
        TRY(gguf_check_dims(tensor, layer->dims[part->k], layer->dims[part->n], 1));
        TRY(add_matrix(out, tensor, part->role, tensor->dims[1], tensor->dims[0], 1));
        seen++;
    }
    if (seen != experts) {
        return status_error(STATUS_INVALID,
                            "layer %" PRIu32 ": %s of %" PRIu64 " experts, accepted "
                            "all %" PRIu64,
                            layer->number, part->name, seen, experts);
    }
    return status_ok();
}

static struct status add_experts(struct model_block *out, const struct gguf_layer *layer,
                                 enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    const struct gguf_tensor *tensor = layer->weights[id];
    uint32_t number = 0;
    const char *rest = "";
    (void)gguf_name_layer(&number, &rest, tensor->name);
    uint64_t experts = layer->dims[GGUF_DIM_E];
    if (gguf_name_parse(rest).expert >= 0) {
        TRY(add_single_experts(out, layer, id));
    } else {
        TRY(gguf_check_dims(tensor, layer->dims[part->k], layer->dims[part->n], experts));
        TRY(add_matrix(out, tensor, part->role, tensor->dims[1], tensor->dims[0], experts));
    }
    return add_bias(out, layer->biases[id], part->role, layer->dims[part->n], experts);
}

static struct status add_plain(struct model_block *out, const struct gguf_layer *layer,
                               enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    const struct gguf_tensor *tensor = layer->weights[id];
    uint64_t n = layer->dims[part->n];
    uint64_t k = layer->dims[part->k];
    enum model_role role = part->role;
    // Phi-3, ChatGLM and GLM-4 store gate and up as one tensor of that name.
    if (id == GGUF_FFN_UP && layer->weights[GGUF_FFN_GATE] == NULL && tensor->dims[1] == 2 * n) {
        role = MODEL_GATE_UP_FUSED;
        n *= 2;
    }
    TRY(gguf_check_dims(tensor, k, n, 1));
    TRY(add_matrix(out, tensor, role, n, k, 1));
    return add_bias(out, layer->biases[id], role, n, 1);
}

static struct status add_per_head(struct model_block *out, const struct gguf_layer *layer,
                                  enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    const struct gguf_tensor *tensor = layer->weights[id];
    uint64_t heads = layer->dims[GGUF_DIM_HEADS];
    TRY(gguf_check_dims(tensor, layer->dims[part->k], layer->dims[part->n], heads));
    return add_matrix(out, tensor, part->role, heads * layer->dims[part->n], tensor->dims[0], 1);
}

static void add_vectors(struct model_vectors *out, const struct gguf_tensor *tensor)
{
    out->elements += tensor->elements;
    out->stored_bytes += tensor->bytes;
}

// A norm's weight and, in LayerNorm, its bias of the same size.
static struct status add_norm(struct model_block *out, const struct gguf_layer *layer,
                              enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    const struct gguf_tensor *tensor = layer->weights[id];
    const struct gguf_tensor *bias = layer->biases[id];
    uint64_t n = layer->dims[part->n];
    uint64_t k = layer->dims[part->k];
    if (part->kind == GGUF_PART_HEAD_NORM && tensor->dims[0] == k) {
        uint64_t heads = tensor->dims[1] > 1 ? n / k : 1;
        TRY(gguf_check_dims(tensor, k, heads, 1));
    } else {
        TRY(gguf_check_dims(tensor, n, 1, 1));
    }
    add_vectors(&out->norms, tensor);
    out->norm_values += n;
    if (bias != NULL) {
        TRY(gguf_check_dims(bias, tensor->dims[0], tensor->dims[1], 1));
        add_vectors(&out->norms, bias);
    }
    return status_ok();
}

static struct status add_part(struct model_block *out, const struct gguf_layer *layer,
                              enum gguf_part_id id)
{
    const struct gguf_part *part = gguf_part_get(id);
    switch (part->kind) {
    case GGUF_PART_MATRIX:
        return add_plain(out, layer, id);
    case GGUF_PART_PER_HEAD:
        return add_per_head(out, layer, id);
    case GGUF_PART_EXPERTS:
        return add_experts(out, layer, id);
    case GGUF_PART_NORM:
    case GGUF_PART_HEAD_NORM:
        return add_norm(out, layer, id);
    case GGUF_PART_VECTOR:
        TRY(gguf_check_dims(layer->weights[id], layer->dims[part->n], 1, 1));
        add_vectors(&out->sinks, layer->weights[id]);
        return status_ok();
    case GGUF_PART_ROUTER_BIAS:
        break;
    }
    return status_ok();
}

struct status gguf_layer_add_parts(struct model_block *out, const struct gguf_layer *layer)
{
    for (unsigned i = 0; i < GGUF_PARTS; i++) {
        enum gguf_part_id id = (enum gguf_part_id)i;
        if (layer->weights[i] != NULL) {
            TRY(add_part(out, layer, id));
        } else if (layer->biases[i] != NULL && id != GGUF_EXP_PROBS_B) {
            return status_error(STATUS_INVALID, "tensor '%s' has no weight beside it",
                                layer->biases[i]->name);
        }
    }
    return add_bias(out, layer->biases[GGUF_EXP_PROBS_B], MODEL_ROUTER, layer->dims[GGUF_DIM_E], 1);
}
