#include "roofline/step.h"

#include "roofline/step_work.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define STEP_SIZE_MAX ((uint64_t)1 << 32)
#define STEP_POSITIONS_MAX ((uint64_t)1 << 62)

const char *step_phase_name(enum step_phase phase)
{
    return phase == STEP_DECODE ? "decode" : "prefill";
}

struct step_request step_defaults(enum step_phase phase)
{
    struct step_request request = {.phase = phase,
                                   .batch = 1,
                                   .context = phase == STEP_DECODE ? 512 : 0,
                                   .prompt = phase == STEP_DECODE ? 1 : 512,
                                   .dtype = DTYPE_STORED,
                                   .kv_dtype = DTYPE_F16};
    return request;
}

static struct status check_size(const char *option, uint64_t value, uint64_t least)
{
    if (value < least || value > STEP_SIZE_MAX) {
        return status_error(STATUS_INVALID, "%s %" PRIu64 ": accepted %" PRIu64 "..%" PRIu64,
                            option, value, least, STEP_SIZE_MAX);
    }
    return status_ok();
}

static struct status check_kv_vector(enum dtype_id dtype, uint64_t values)
{
    if (!dtype_fits(dtype, values)) {
        return status_error(STATUS_INVALID,
                            "--kv-dtype %s: its blocks of %u values do not divide this model's "
                            "cached vectors of %" PRIu64,
                            dtype_name(dtype), dtype_get(dtype)->block_elements, values);
    }
    return status_ok();
}

static struct status check_kv_dtype(const struct model *model, enum dtype_id dtype)
{
    if (dtype >= DTYPE_COUNT || dtype_get(dtype)->use != DTYPE_WEIGHTS) {
        return status_error(STATUS_INVALID, "--kv-dtype %s is no type of a cache",
                            dtype_name(dtype));
    }
    for (uint32_t i = 0; i < model->block_count; i++) {
        const struct model_attention *attention = &model->blocks[i].attention;
        if (attention->kind == MODEL_ATTENTION_MLA) {
            TRY(check_kv_vector(dtype, attention->kv_values));
        } else if (attention->kind == MODEL_ATTENTION_HEADS) {
            TRY(check_kv_vector(dtype, attention->k_dim));
            TRY(check_kv_vector(dtype, attention->v_dim));
        }
    }
    return status_ok();
}

static struct status check_request(const struct model *model, const struct step_request *request)
{
    TRY(check_size("--batch", request->batch, 1));
    TRY(check_size("--context", request->context, 0));
    TRY(check_size("--prompt", request->prompt, 1));
    TRY(check_size("--ubatch", request->ubatch, 0));
    uint64_t positions = 0;
    if (__builtin_mul_overflow(request->batch, request->context + request->prompt, &positions) ||
        positions > STEP_POSITIONS_MAX) {
        return status_error(STATUS_INVALID,
                            "--batch %" PRIu64 " of %" PRIu64 " positions each: accepted are "
                            "%" PRIu64 " positions in all",
                            request->batch, request->context + request->prompt, STEP_POSITIONS_MAX);
    }
    return check_kv_dtype(model, request->kv_dtype);
}

// Activations have the weights' type where that is a plain float, else f32: the kernels that
// dequantise take and give f32.
static double activation_value_bytes(const struct model *model, enum dtype_id dtype)
{
    enum dtype_id id = dtype == DTYPE_STORED ? model->dtype : dtype;
    bool plain = id == DTYPE_F16 || id == DTYPE_BF16 || id == DTYPE_F64;
    return plain ? (double)dtype_get(id)->block_bytes : 4;
}

static void resolve(struct step_request *out, const struct step_request *request)
{
    *out = *request;
    if (out->phase == STEP_DECODE) {
        out->prompt = 1;
        out->ubatch = 0;
    }
    if (out->mla == STEP_MLA_AUTO) {
        out->mla = out->phase == STEP_DECODE ? STEP_MLA_ABSORBED : STEP_MLA_NAIVE;
    }
}

static unsigned count_passes(const struct model *model, const struct step_request *request)
{
    if (request->ubatch == 0 || request->ubatch >= request->prompt) {
        return 1;
    }
    if (request->llc_bytes > 0 && model_weight_bytes(model, request->dtype) <= request->llc_bytes) {
        return 1;
    }
    uint64_t passes = (request->prompt + request->ubatch - 1) / request->ubatch;
    return passes > UINT32_MAX ? UINT32_MAX : (unsigned)passes;
}

static void start_work(struct step_work *work, const struct model *model,
                       const struct step_request *request)
{
    work->model = model;
    work->request = request;
    work->batch = (double)request->batch;
    work->context = (double)request->context;
    work->tokens = (double)request->prompt;
    work->rows = work->batch * work->tokens;
    work->head_rows = request->all_logits ? work->rows : work->batch;
    work->passes = count_passes(model, request);
    work->activation_bytes = activation_value_bytes(model, request->dtype);
}

// Expected share of the experts' bytes read, summed over the passes.
static double expert_passes(const struct step_work *work, const struct model_mlp *mlp)
{
    double experts = (double)mlp->experts;
    if (work->passes == 1) {
        return step_distinct_experts(mlp->experts, mlp->experts_used, work->rows) / experts;
    }
    double chunk = (double)work->request->ubatch;
    double last = work->tokens - chunk * (work->passes - 1);
    double full =
        step_distinct_experts(mlp->experts, mlp->experts_used, work->batch * chunk) / experts;
    return full * (work->passes - 1) +
           step_distinct_experts(mlp->experts, mlp->experts_used, work->batch * last) / experts;
}

// Rows of activations that a matrix multiplies, over all of its `count` copies.
static double matrix_rows(const struct step_work *work, const struct model_matrix *matrix,
                          const struct model_block *block)
{
    switch (model_role_operator(matrix->role)) {
    case MODEL_OP_EXPERTS:
        return work->rows * (double)block->mlp.experts_used;
    case MODEL_OP_HEAD:
        return matrix->role == MODEL_HEAD ? work->head_rows : work->rows;
    case MODEL_OP_QKV:
        return matrix->role == MODEL_KV_B || matrix->role == MODEL_K_B || matrix->role == MODEL_V_B
                   ? step_latent_rows(work)
                   : work->rows;
    case MODEL_OP_NORMS:
    case MODEL_OP_ROPE:
    case MODEL_OP_ATTENTION:
    case MODEL_OP_ATTN_OUT:
    case MODEL_OP_ROUTER:
    case MODEL_OP_GATE_UP:
    case MODEL_OP_DOWN:
    case MODEL_OP_ACT_QUANT:
    case MODEL_OPERATORS:
        break;
    }
    return work->rows * matrix->count;
}

static bool is_quantised(const struct model_matrix *matrix, enum dtype_id dtype)
{
    enum dtype_id stored = dtype == DTYPE_STORED ? matrix->dtype : dtype_for_row(dtype, matrix->k);
    return stored < DTYPE_COUNT && dtype_get(stored)->kind == DTYPE_INT;
}

// Adds `layers` times the product of a matrix; reads_input: no matrix before it in the operator
// has the same input.
static void add_matrix(struct step *out, struct step_cost *cost, const struct step_work *work,
                       const struct model_matrix *matrix, const struct model_block *block,
                       double layers, bool reads_input)
{
    enum dtype_id dtype = work->request->dtype;
    bool routed = model_role_operator(matrix->role) == MODEL_OP_EXPERTS;
    double n = (double)matrix->n;
    double k = (double)matrix->k;
    double rows = matrix_rows(work, matrix, block);
    double flop = layers * rows * n * (work->request->exact ? 2 * k - 1 : 2 * k);
    double passes = routed ? expert_passes(work, &block->mlp) : work->passes;
    double bytes =
        (double)model_matrix_bytes(matrix, dtype) + (double)model_bias_bytes(matrix, dtype);
    cost->flop += flop;
    cost->flop_executed += flop;
    cost->bytes.weights += layers * passes * bytes;
    cost->bytes.activations += layers * rows * work->activation_bytes * (n + (reads_input ? k : 0));
    if (reads_input && is_quantised(matrix, dtype)) {
        out->quantising.inputs += layers;
        out->quantising.values += layers * rows * k;
    }
}

static bool first_with_input(const struct model_block *block, uint32_t index)
{
    enum model_role role = block->matrices[index].role;
    for (uint32_t i = 0; i < index; i++) {
        enum model_role other = block->matrices[i].role;
        bool shares = model_role_operator(other) == model_role_operator(role) &&
                      model_role_input(other) == model_role_input(role);
        if (shares) {
            return false;
        }
    }
    return true;
}

// Element-wise work of a layer, by the stated convention; not part of any other figure.
static void add_elementwise(struct step_cost *costs, const struct step_work *work,
                            const struct model_block *block)
{
    const struct model_attention *attention = &block->attention;
    const struct model_mlp *mlp = &block->mlp;
    double tokens = (double)block->layers * work->rows;
    double per_value = work->model->layer_norm ? 7 : 4;
    double activation = mlp->gated ? 5 : 4; // SiLU and the product; without gate SiLU alone
    double residual = (double)work->model->d;
    bool latent = attention->kind == MODEL_ATTENTION_MLA;
    double rotated = (double)(attention->heads + (latent ? 1 : attention->kv_heads));
    costs[MODEL_OP_NORMS].flop_other += tokens * per_value * (double)block->norm_values;
    costs[MODEL_OP_ROPE].flop_other += tokens * 3 * (double)attention->rope_dim * rotated;
    costs[MODEL_OP_ATTN_OUT].flop_other += tokens * residual;
    costs[MODEL_OP_GATE_UP].flop_other +=
        tokens * activation * (double)(mlp->width + mlp->shared_width);
    costs[MODEL_OP_EXPERTS].flop_other +=
        tokens * activation * (double)mlp->experts_used * (double)mlp->expert_width;
    costs[mlp->experts > 0 ? MODEL_OP_EXPERTS : MODEL_OP_DOWN].flop_other += tokens * residual;
}

static void add_block(struct step *out, struct step_cost *costs, const struct step_work *work,
                      const struct model_block *block)
{
    bool seen[MODEL_OPERATORS] = {false};
    double residual = (double)work->model->d;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *matrix = &block->matrices[i];
        enum model_operator op = model_role_operator(matrix->role);
        add_matrix(out, &costs[op], work, matrix, block, block->layers, first_with_input(block, i));
        seen[op] = true;
    }
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        costs[op].layers += seen[op] ? block->layers : 0;
    }
    if (block->attention.kind != MODEL_ATTENTION_NONE) {
        step_add_attention(&costs[MODEL_OP_ATTENTION], &out->attention, work, block);
        costs[MODEL_OP_ROPE].layers += block->attention.rope_dim > 0 ? block->layers : 0;
    }
    costs[MODEL_OP_NORMS].layers += block->layers;
    out->norm_calls += (double)block->layers * floor((double)block->norm_values / residual);
    costs[MODEL_OP_NORMS].bytes.weights +=
        (double)block->layers * work->passes *
        (double)model_vector_bytes(&block->norms, work->request->dtype);
    add_elementwise(costs, work, block);
}

static double row_bytes(const struct model_matrix *table, enum dtype_id dtype)
{
    return table->count == 0 ? 0 : (double)model_matrix_bytes(table, dtype) / (double)table->n;
}

// Embedding, final norm, head.
static void add_outside(struct step *out, struct step_cost *costs, const struct step_work *work)
{
    const struct model *model = work->model;
    enum dtype_id dtype = work->request->dtype;
    struct step_cost *norms = &costs[MODEL_OP_NORMS];
    norms->bytes.weights +=
        work->rows * (row_bytes(&model->embedding, dtype) + row_bytes(&model->positions, dtype)) +
        work->passes * (double)model_vector_bytes(&model->final_norms, dtype);
    norms->flop_other +=
        work->rows * (model->layer_norm ? 7 : 4) * (double)model->final_norm_values;
    out->norm_calls += model->final_norm_values > 0 ? 1 : 0;
    const struct model_block none = {0};
    struct step_cost *head = &costs[MODEL_OP_HEAD];
    head->layers = 1;
    add_matrix(out, head, work, &model->head, &none, 1, true);
    for (size_t i = 0; i < 2; i++) {
        if (model->projections[i].count > 0) {
            add_matrix(out, head, work, &model->projections[i], &none, 1, true);
        }
    }
}

static void finish_cost(struct step_cost *cost)
{
    struct step_bytes *bytes = &cost->bytes;
    bytes->dram_lower_bound = bytes->weights + bytes->kv_read + bytes->kv_write;
    bytes->requested = bytes->dram_lower_bound + bytes->activations;
    cost->flop_per_byte =
        bytes->dram_lower_bound > 0 ? cost->flop / bytes->dram_lower_bound : (double)NAN;
}

static void add_to_sum(struct step_cost *sum, const struct step_cost *cost)
{
    sum->flop += cost->flop;
    sum->flop_executed += cost->flop_executed;
    sum->flop_other += cost->flop_other;
    sum->bytes.weights += cost->bytes.weights;
    sum->bytes.kv_read += cost->bytes.kv_read;
    sum->bytes.kv_write += cost->bytes.kv_write;
    sum->bytes.activations += cost->bytes.activations;
}

// Widest intermediate of a row in a layer: what the residual needs beside it.
static double widest_row(const struct model *model)
{
    double widest = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_block *block = &model->blocks[b];
        double outputs[MODEL_OPERATORS] = {0};
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            const struct model_matrix *matrix = &block->matrices[i];
            enum model_operator op = model_role_operator(matrix->role);
            double copies = op == MODEL_OP_EXPERTS ? (double)block->mlp.experts_used : 1;
            outputs[op] += copies * (double)matrix->n;
            widest = fmax(widest, outputs[op]);
        }
    }
    return widest;
}

static void add_memory(struct step *out, const struct step_work *work)
{
    const struct model *model = work->model;
    const struct step_request *request = work->request;
    double visible = work->context + work->tokens;
    for (uint32_t i = 0; i < model->block_count; i++) {
        const struct model_attention *attention = &model->blocks[i].attention;
        double kept = attention->window > 0 ? fmin(visible, (double)attention->window) : visible;
        out->kv_bytes += (double)model->blocks[i].layers * work->batch * kept *
                         step_kv_row_bytes(attention, request->kv_dtype);
    }
    double chunk = work->batch * (request->ubatch > 0 ? fmin((double)request->ubatch, work->tokens)
                                                      : work->tokens);
    out->weight_bytes = (double)model_weight_bytes(model, request->dtype);
    out->activation_bytes =
        chunk * work->activation_bytes * (2 * (double)model->d + widest_row(model)) +
        work->head_rows * (double)model->head.n * 4;
    out->memory_bytes = out->weight_bytes + out->kv_bytes + out->activation_bytes;
}

struct status step_compute(struct step *out, const struct model *model,
                           const struct step_request *request)
{
    memset(out, 0, sizeof *out);
    if (model->shape_only) {
        return status_error(STATUS_INVALID, "the file has no tensors: without weights a step has "
                                            "no cost");
    }
    resolve(&out->request, request);
    TRY(check_request(model, &out->request));
    struct step_work work = {0};
    start_work(&work, model, &out->request);
    out->rows = out->request.batch * out->request.prompt;
    out->head_rows = (uint64_t)work.head_rows;
    out->passes = work.passes;

    struct step_cost costs[MODEL_OPERATORS] = {0};
    for (uint32_t i = 0; i < model->block_count; i++) {
        add_block(out, costs, &work, &model->blocks[i]);
    }
    add_outside(out, costs, &work);
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        if (costs[op].layers > 0) {
            costs[op].op = (enum model_operator)op;
            finish_cost(&costs[op]);
            add_to_sum(&out->sum, &costs[op]);
            out->operators[out->operator_count++] = costs[op];
        }
    }
    finish_cost(&out->sum);
    add_memory(out, &work);
    return status_ok();
}

const struct step_cost *step_find(const struct step *step, enum model_operator op)
{
    for (size_t i = 0; i < step->operator_count; i++) {
        if (step->operators[i].op == op) {
            return &step->operators[i];
        }
    }
    return NULL;
}
