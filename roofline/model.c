#include "roofline/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Name, operator and shared input (model_role_input()) of each role.
static const struct {
    const char *name;
    enum model_operator op;
    unsigned input;
} roles[MODEL_ROLES] = {
    [MODEL_Q] = {"q", MODEL_OP_QKV, 0},
    [MODEL_K] = {"k", MODEL_OP_QKV, 0},
    [MODEL_V] = {"v", MODEL_OP_QKV, 0},
    [MODEL_QKV] = {"qkv", MODEL_OP_QKV, 0},
    [MODEL_KV] = {"kv", MODEL_OP_QKV, 0},
    [MODEL_Q_A] = {"q_a", MODEL_OP_QKV, 0},
    [MODEL_Q_B] = {"q_b", MODEL_OP_QKV, 1},
    [MODEL_KV_A] = {"kv_a", MODEL_OP_QKV, 0},
    [MODEL_KV_B] = {"kv_b", MODEL_OP_QKV, 2},
    [MODEL_K_B] = {"k_b", MODEL_OP_QKV, 2},
    [MODEL_V_B] = {"v_b", MODEL_OP_QKV, 3},
    [MODEL_ATTN_OUT] = {"attn_out", MODEL_OP_ATTN_OUT, 0},
    [MODEL_GATE] = {"gate", MODEL_OP_GATE_UP, 0},
    [MODEL_UP] = {"up", MODEL_OP_GATE_UP, 0},
    [MODEL_GATE_UP_FUSED] = {"gate_up", MODEL_OP_GATE_UP, 0},
    [MODEL_DOWN] = {"down", MODEL_OP_DOWN, 0},
    [MODEL_ROUTER] = {"router", MODEL_OP_ROUTER, 0},
    [MODEL_EXPERT_GATE] = {"expert_gate", MODEL_OP_EXPERTS, 0},
    [MODEL_EXPERT_UP] = {"expert_up", MODEL_OP_EXPERTS, 0},
    [MODEL_EXPERT_GATE_UP_FUSED] = {"expert_gate_up", MODEL_OP_EXPERTS, 0},
    [MODEL_EXPERT_DOWN] = {"expert_down", MODEL_OP_EXPERTS, 1},
    [MODEL_SHARED_GATE] = {"shared_gate", MODEL_OP_GATE_UP, 0},
    [MODEL_SHARED_UP] = {"shared_up", MODEL_OP_GATE_UP, 0},
    [MODEL_SHARED_DOWN] = {"shared_down", MODEL_OP_DOWN, 0},
    [MODEL_SHARED_ROUTER] = {"shared_router", MODEL_OP_ROUTER, 0},
    [MODEL_HEAD] = {"head", MODEL_OP_HEAD, 0},
    [MODEL_PROJECT_IN] = {"project_in", MODEL_OP_HEAD, 1},
    [MODEL_PROJECT_OUT] = {"project_out", MODEL_OP_HEAD, 2},
    [MODEL_EMBEDDING] = {"embedding", MODEL_OP_NORMS, 0},
    [MODEL_POSITIONS] = {"positions", MODEL_OP_NORMS, 0},
};

static const char *const operator_names[MODEL_OPERATORS] = {
    [MODEL_OP_NORMS] = "norms",       [MODEL_OP_QKV] = "qkv",
    [MODEL_OP_ROPE] = "rope",         [MODEL_OP_ATTENTION] = "attention",
    [MODEL_OP_ATTN_OUT] = "attn_out", [MODEL_OP_ROUTER] = "router",
    [MODEL_OP_EXPERTS] = "experts",   [MODEL_OP_GATE_UP] = "gate_up",
    [MODEL_OP_DOWN] = "down",         [MODEL_OP_ACT_QUANT] = "act_quant",
    [MODEL_OP_HEAD] = "head",
};

const char *model_operator_name(enum model_operator op)
{
    return op < MODEL_OPERATORS ? operator_names[op] : "none";
}

enum model_operator model_operator_find(const char *name)
{
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        if (strcmp(operator_names[op], name) == 0) {
            return (enum model_operator)op;
        }
    }
    return MODEL_OPERATORS;
}

enum model_operator model_role_operator(enum model_role role)
{
    return roles[role].op;
}

unsigned model_role_input(enum model_role role)
{
    return roles[role].input;
}

const char *model_role_name(enum model_role role)
{
    return roles[role].name;
}

uint64_t model_matrix_bytes(const struct model_matrix *matrix, enum dtype_id dtype)
{
    return dtype == DTYPE_STORED ? matrix->stored_bytes
                                 : dtype_matrix_bytes(dtype, matrix->count * matrix->n, matrix->k);
}

uint64_t model_bias_bytes(const struct model_matrix *matrix, enum dtype_id dtype)
{
    if (dtype == DTYPE_STORED || matrix->bias == 0) {
        return matrix->bias_bytes;
    }
    return dtype_matrix_bytes(dtype, 1, matrix->bias);
}

uint64_t model_vector_bytes(const struct model_vectors *vectors, enum dtype_id dtype)
{
    if (dtype == DTYPE_STORED || vectors->elements == 0) {
        return vectors->stored_bytes;
    }
    return dtype_matrix_bytes(dtype, 1, vectors->elements);
}

struct model_matrix *model_add_matrix(struct model_block *block, enum model_role role, uint64_t n,
                                      uint64_t k, bool bias, enum dtype_id dtype,
                                      enum dtype_id bias_dtype)
{
    if (block->matrix_count == MODEL_MATRICES_MAX) {
        return NULL;
    }
    struct model_matrix *matrix = &block->matrices[block->matrix_count++];
    *matrix = (struct model_matrix){
        .role = role, .count = 1, .n = n, .k = k, .bias = bias ? n : 0, .dtype = dtype};
    matrix->stored_bytes = model_matrix_bytes(matrix, dtype);
    matrix->bias_bytes = model_bias_bytes(matrix, bias_dtype);
    return matrix;
}

static bool same_vectors(const struct model_vectors *a, const struct model_vectors *b)
{
    return a->elements == b->elements && a->stored_bytes == b->stored_bytes;
}

static bool same_matrix(const struct model_matrix *a, const struct model_matrix *b)
{
    return a->role == b->role && a->count == b->count && a->n == b->n && a->k == b->k &&
           a->bias == b->bias && a->dtype == b->dtype && a->stored_bytes == b->stored_bytes &&
           a->bias_bytes == b->bias_bytes;
}

static bool same_matrices(const struct model_matrix *a, size_t a_count,
                          const struct model_matrix *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!same_matrix(&a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

static bool same_attention(const struct model_attention *a, const struct model_attention *b)
{
    return a->kind == b->kind && a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->k_dim == b->k_dim && a->v_dim == b->v_dim && a->window == b->window &&
           a->chunked == b->chunked && a->kv_rank == b->kv_rank && a->rope_dim == b->rope_dim &&
           a->kv_values == b->kv_values;
}

static bool same_mlp(const struct model_mlp *a, const struct model_mlp *b)
{
    return a->width == b->width && a->experts == b->experts && a->experts_used == b->experts_used &&
           a->expert_width == b->expert_width && a->shared_width == b->shared_width &&
           a->gated == b->gated;
}

static bool same_block(const struct model_block *a, const struct model_block *b)
{
    return same_attention(&a->attention, &b->attention) && same_mlp(&a->mlp, &b->mlp) &&
           same_vectors(&a->norms, &b->norms) && a->norm_values == b->norm_values &&
           same_vectors(&a->sinks, &b->sinks) &&
           same_matrices(a->matrices, a->matrix_count, b->matrices, b->matrix_count);
}

struct status model_add_layers(struct model *model, const struct model_block *block)
{
    uint64_t layers = block->layers;
    for (uint32_t i = 0; i < model->block_count; i++) {
        layers += model->blocks[i].layers;
    }
    if (layers > MODEL_LAYERS_MAX) {
        return status_error(STATUS_INVALID, "more than %d layers; accepted 1..%d", MODEL_LAYERS_MAX,
                            MODEL_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < model->block_count; i++) {
        if (same_block(&model->blocks[i], block)) {
            model->blocks[i].layers += block->layers;
            return status_ok();
        }
    }
    if (model->block_count == MODEL_BLOCKS_MAX) {
        return status_error(STATUS_INVALID, "more than %d layers of different shape",
                            MODEL_BLOCKS_MAX);
    }
    model->blocks[model->block_count++] = *block;
    return status_ok();
}

void model_add_note(struct model *model, const char *code, const char *format, ...)
{
    if (model->note_count == MODEL_NOTES_MAX) {
        return;
    }
    struct model_note *note = &model->notes[model->note_count++];
    (void)snprintf(note->code, sizeof note->code, "%s", code);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
}

static void set_matrix_dtype(struct model_matrix *matrix, enum dtype_id dtype)
{
    matrix->stored_bytes = model_matrix_bytes(matrix, dtype);
    matrix->bias_bytes = model_bias_bytes(matrix, dtype);
    matrix->dtype = dtype_for_row(dtype, matrix->k);
}

static void set_vectors_dtype(struct model_vectors *vectors, enum dtype_id dtype)
{
    vectors->stored_bytes = model_vector_bytes(vectors, dtype);
}

void model_set_dtype(struct model *model, enum dtype_id dtype)
{
    model->dtype = dtype;
    for (uint32_t b = 0; b < model->block_count; b++) {
        struct model_block *block = &model->blocks[b];
        set_vectors_dtype(&block->norms, dtype);
        set_vectors_dtype(&block->sinks, dtype);
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            set_matrix_dtype(&block->matrices[i], dtype);
        }
    }
    set_matrix_dtype(&model->embedding, dtype);
    set_matrix_dtype(&model->positions, dtype);
    set_matrix_dtype(&model->head, dtype);
    set_matrix_dtype(&model->projections[0], dtype);
    set_matrix_dtype(&model->projections[1], dtype);
    set_vectors_dtype(&model->final_norms, dtype);
    set_vectors_dtype(&model->mtp, dtype);
}
