#include "roofline/model.h"

#include <string.h>

static uint64_t matrix_elements(const struct model_matrix *matrix)
{
    return matrix->count * matrix->n * matrix->k;
}

static bool is_routed(const struct model_matrix *matrix)
{
    return model_role_operator(matrix->role) == MODEL_OP_EXPERTS;
}

// Elements, biases included, of the experts that a token is not routed to.
static uint64_t idle_elements(const struct model_matrix *matrix, const struct model_mlp *mlp)
{
    if (!is_routed(matrix)) {
        return 0;
    }
    uint64_t idle = mlp->experts - mlp->experts_used;
    return idle * (matrix->n * matrix->k + matrix->bias / matrix->count);
}

static void count_block(struct model_counts *out, const struct model_block *block)
{
    uint64_t layers = block->layers;
    out->layers += layers;
    out->kv_values_per_token += layers * block->attention.kv_values;
    out->total += layers * (block->norms.elements + block->sinks.elements);
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *matrix = &block->matrices[i];
        uint64_t elements = matrix_elements(matrix);
        uint64_t idle = idle_elements(matrix, &block->mlp);
        uint64_t idle_bias = idle == 0 ? 0
                                       : (block->mlp.experts - block->mlp.experts_used) *
                                             (matrix->bias / matrix->count);
        out->linear += layers * elements;
        out->linear_active += layers * (elements - (idle - idle_bias));
        out->total += layers * (elements + matrix->bias);
        out->active -= layers * idle;
    }
}

void model_count(struct model_counts *out, const struct model *model)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < model->block_count; i++) {
        count_block(out, &model->blocks[i]);
    }
    uint64_t head = matrix_elements(&model->head);
    uint64_t projections =
        matrix_elements(&model->projections[0]) + matrix_elements(&model->projections[1]);
    out->embedding = matrix_elements(&model->embedding);
    out->linear += head + projections;
    out->linear_active += head + projections;
    out->total += out->embedding + (model->tied ? 0 : head) + model->head.bias + projections +
                  model->projections[0].bias + model->projections[1].bias +
                  matrix_elements(&model->positions) + model->final_norms.elements;
    out->active += out->total; // it held minus the idle experts, modulo 2^64
    out->mtp = model->mtp.elements;
}

static uint64_t matrix_bytes(const struct model_matrix *matrix, enum dtype_id dtype)
{
    return matrix->count == 0 ? 0
                              : model_matrix_bytes(matrix, dtype) + model_bias_bytes(matrix, dtype);
}

uint64_t model_weight_bytes(const struct model *model, enum dtype_id dtype)
{
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_block *block = &model->blocks[b];
        uint64_t layer =
            model_vector_bytes(&block->norms, dtype) + model_vector_bytes(&block->sinks, dtype);
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            layer += matrix_bytes(&block->matrices[i], dtype);
        }
        bytes += block->layers * layer;
    }
    bytes += matrix_bytes(&model->embedding, dtype) + matrix_bytes(&model->positions, dtype) +
             matrix_bytes(&model->projections[0], dtype) +
             matrix_bytes(&model->projections[1], dtype) +
             model_vector_bytes(&model->final_norms, dtype) + model->lookup_bytes;
    bytes +=
        model->tied ? model_bias_bytes(&model->head, dtype) : matrix_bytes(&model->head, dtype);
    if (model->origin == MODEL_FROM_GGUF) {
        bytes += model_vector_bytes(&model->mtp, dtype);
    }
    return bytes;
}

static struct model_shape block_shape(const struct model_block *block, enum model_operator op)
{
    struct model_shape shape = {.layers = block->layers};
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *matrix = &block->matrices[i];
        if (model_role_operator(matrix->role) != op ||
            shape.matrix_count == sizeof shape.matrices / sizeof *shape.matrices) {
            continue;
        }
        shape.matrices[shape.matrix_count++] = *matrix;
        shape.k = shape.matrices[0].k;
        shape.n += matrix->k == shape.k ? matrix->n : 0;
    }
    return shape;
}

static bool same_product(const struct model_shape *a, const struct model_shape *b)
{
    if (a->matrix_count != b->matrix_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->matrix_count; i++) {
        const struct model_matrix *x = &a->matrices[i];
        const struct model_matrix *y = &b->matrices[i];
        if (x->n != y->n || x->k != y->k || x->count != y->count || x->dtype != y->dtype) {
            return false;
        }
    }
    return true;
}

// Adds a shape to the list, or its layers to an equal one; returns the new number of shapes.
static size_t add_shape(struct model_shape *out, size_t max, size_t count,
                        const struct model_shape *shape)
{
    for (size_t i = 0; i < count && i < max; i++) {
        if (same_product(&out[i], shape)) {
            out[i].layers += shape->layers;
            return count;
        }
    }
    if (count < max) {
        out[count] = *shape;
    }
    return count + 1;
}

static struct model_shape head_shape(const struct model_matrix *matrix)
{
    struct model_shape shape = {.layers = 1, .matrix_count = 1, .n = matrix->n, .k = matrix->k};
    shape.matrices[0] = *matrix;
    return shape;
}

size_t model_shapes(struct model_shape *out, size_t max, const struct model *model,
                    enum model_operator op)
{
    size_t count = 0;
    if (op == MODEL_OP_HEAD) {
        struct model_shape shape = head_shape(&model->head);
        count = add_shape(out, max, count, &shape);
        for (size_t i = 0; i < 2; i++) {
            if (model->projections[i].count > 0) {
                shape = head_shape(&model->projections[i]);
                count = add_shape(out, max, count, &shape);
            }
        }
        return count;
    }
    for (uint32_t b = 0; op != MODEL_OP_NORMS && b < model->block_count; b++) {
        struct model_shape shape = block_shape(&model->blocks[b], op);
        if (shape.matrix_count > 0) {
            count = add_shape(out, max, count, &shape);
        }
    }
    return count;
}
