#include "workloads/forward.h"

#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum model_operator product_ops[FORWARD_PRODUCTS] = {
    [FORWARD_QKV] = MODEL_OP_QKV,
    [FORWARD_OUT] = MODEL_OP_ATTN_OUT,
    [FORWARD_GATE_UP] = MODEL_OP_GATE_UP,
    [FORWARD_DOWN] = MODEL_OP_DOWN,
};

static struct status no_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory for the activations of a step");
}

static enum line_format format_of(enum dtype_id dtype, uint64_t k)
{
    enum line_format format = LINE_F32;
    bool found = line_find(&format, dtype_name(dtype_for_row(dtype, k)));
    assert(found); // the caller accepts no other dtype
    (void)found;
    return format;
}

uint64_t forward_chunks(const struct forward *f)
{
    return (f->rows + LINEAR_BATCH_MAX - 1) / LINEAR_BATCH_MAX;
}

uint64_t forward_chunk_rows(const struct forward *f, uint64_t chunk)
{
    uint64_t left = f->rows - chunk * LINEAR_BATCH_MAX;
    return left < LINEAR_BATCH_MAX ? left : LINEAR_BATCH_MAX;
}

struct linear *forward_linear_of(const struct forward_linear *linear, uint64_t rows)
{
    return linear->rest != NULL && rows != linear->chunk->params.batch ? linear->rest
                                                                       : linear->chunk;
}

static void count_linear(struct forward *f, const struct linear *l)
{
    f->activation_bytes += sizeof(float) * l->params.batch * (2 * l->ldx + l->ldy);
}

static struct status create_one(struct linear **out, struct forward *f,
                                const struct linear_params *params, uint64_t rows)
{
    struct linear_params p = *params;
    p.batch = (unsigned)rows;
    TRY(linear_create(out, &p));
    memset((*out)->x, 0, sizeof(float) * p.batch * (*out)->ldx);
    count_linear(f, *out);
    return status_ok();
}

static struct status create_linear(struct forward_linear *out, struct forward *f,
                                   enum model_operator op, uint64_t rows)
{
    const struct forward_way *way = &f->params.ways[op];
    struct linear_params params = {.format = format_of(f->params.dtype, out->k),
                                   .class_ = way->class_,
                                   .isa = way->isa,
                                   .n = out->n,
                                   .k = out->k,
                                   .threads = f->params.threads,
                                   .prefetch_bytes = way->prefetch_bytes};
    params.class_ = line_is_blocks(params.format) ? LINEAR_DOT : way->class_;
    if (!linear_supported(params.format, params.class_, params.isa)) {
        params.class_ = LINEAR_FMA; // a row that fell back to a plain format
    }
    uint64_t full = rows < LINEAR_BATCH_MAX ? rows : LINEAR_BATCH_MAX;
    TRY(create_one(&out->chunk, f, &params, full));
    return rows % full == 0 ? status_ok() : create_one(&out->rest, f, &params, rows % full);
}

static struct status create_attention(struct forward_block *block, struct forward *f)
{
    const struct forward_params *p = &f->params;
    const struct model_attention *a = &block->shape;
    const struct forward_way *way = &p->ways[MODEL_OP_ATTENTION];
    uint64_t context = p->context;
    if (a->window > 0 && context > a->window - 1) {
        context = a->window - 1;
    }
    const struct attention_params params = {.format = p->kv_format,
                                            .isa = way->isa,
                                            .batch = p->batch,
                                            .heads = (unsigned)a->heads,
                                            .kv_heads = (unsigned)a->kv_heads,
                                            .k_dim = (unsigned)a->k_dim,
                                            .v_dim = (unsigned)a->v_dim,
                                            .context = p->prefill ? 0 : context,
                                            .rows = f->tokens,
                                            .prefill = p->prefill,
                                            .threads = p->threads,
                                            .prefetch_bytes = way->prefetch_bytes};
    TRY(attention_create(&block->attention, &params));
    f->activation_bytes +=
        sizeof(float) * f->rows * a->heads * (a->k_dim + block->attention->out_floats);
    return status_ok();
}

// Values around 1 for weights, small ones for biases; reproducible.
static void fill_vector(float *out, size_t n, float middle, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = middle + line_random(state) / 8;
    }
}

static struct status create_vectors(struct forward_block *block, const struct forward *f)
{
    struct forward_vectors *at = &block->at;
    size_t next = 0;
    for (int i = 0; i < FORWARD_NORMS; i++) {
        at->norm_weight[i] = next;
        at->norm_bias[i] = next + f->d;
        at->head_weight[i] = next + 2 * f->d;
        next += 2 * f->d + block->shape.k_dim;
    }
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        at->bias[i] = next;
        next += block->products[i].n;
    }
    at->floats = next;
    block->vectors = calloc(block->layers * at->floats, sizeof *block->vectors);
    if (block->vectors == NULL) {
        return no_memory();
    }
    uint64_t state = 17;
    for (unsigned layer = 0; layer < block->layers; layer++) {
        float *v = block->vectors + layer * at->floats;
        fill_vector(v, at->floats, 0, &state);
        for (int i = 0; i < FORWARD_NORMS; i++) {
            fill_vector(v + at->norm_weight[i], f->d, 1, &state);
            fill_vector(v + at->head_weight[i], block->shape.k_dim, 1, &state);
        }
    }
    return status_ok();
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

static struct status create_block(struct forward_block *block, struct forward *f,
                                  const struct model_block *shape)
{
    const struct model_attention *a = &shape->attention;
    unsigned limit = f->params.layers == 0 ? shape->layers : f->params.layers;
    block->layers = shape->layers < limit ? shape->layers : limit;
    block->shape = *a;
    block->width = shape->mlp.width;
    block->gated = shape->mlp.gated;
    struct forward_linear *p = block->products;
    p[FORWARD_QKV].n = a->heads * a->k_dim + a->kv_heads * (a->k_dim + a->v_dim);
    p[FORWARD_QKV].k = f->d;
    p[FORWARD_OUT].n = f->d;
    p[FORWARD_OUT].k = a->heads * a->v_dim;
    p[FORWARD_GATE_UP].n = block->width * (block->gated ? 2 : 1);
    p[FORWARD_GATE_UP].k = f->d;
    p[FORWARD_DOWN].n = f->d;
    p[FORWARD_DOWN].k = block->width;
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        p[i].biased = has_bias(shape, product_ops[i]);
        TRY(create_linear(&p[i], f, product_ops[i], f->rows));
    }
    TRY(create_attention(block, f));
    return create_vectors(block, f);
}

static struct status create_head(struct forward *f, const struct model *model)
{
    f->head.n = model->head.n;
    f->head.k = model->head.k;
    f->head.biased = model->head.bias > 0;
    TRY(create_linear(&f->head, f, MODEL_OP_HEAD, f->params.batch));
    uint64_t state = 19;
    if (f->head.biased) {
        f->head_bias = calloc(f->head.n, sizeof *f->head_bias);
        if (f->head_bias == NULL) {
            return no_memory();
        }
        fill_vector(f->head_bias, f->head.n, 0, &state);
    }
    if (model->final_norm_values > 0) {
        f->final_norm = calloc(2 * f->d, sizeof *f->final_norm);
        if (f->final_norm == NULL) {
            return no_memory();
        }
        fill_vector(f->final_norm, f->d, 1, &state);
        fill_vector(f->final_norm + f->d, f->d, 0, &state);
    }
    return status_ok();
}

static void plan_table(struct forward_table *table, const struct forward *f,
                       const struct model_matrix *matrix)
{
    if (matrix->count == 0) {
        return;
    }
    table->format = format_of(f->params.dtype, matrix->k);
    table->n = matrix->n;
    table->k = matrix->k;
    table->group_bytes = line_count(table->format, matrix->k) * LINE_BYTES;
}

// Base 10000, as in the paper (Su et al., arXiv:2104.09864): the work is the same for any other.
static void fill_turns(struct forward *f)
{
    uint64_t half = f->rope_dim / 2;
    for (uint64_t token = 0; token < f->tokens; token++) {
        float *turn = f->turns + token * f->rope_dim;
        double position = (double)(f->first_position + token);
        for (uint64_t i = 0; i < half; i++) {
            double angle = position * pow(10000, -2.0 * (double)i / (double)f->rope_dim);
            turn[i] = (float)cos(angle);
            turn[half + i] = (float)sin(angle);
        }
    }
}

static struct status create_rows(struct forward *f, const struct model *model)
{
    f->rope_dim = model->blocks[0].attention.rope_dim;
    f->residual = calloc(f->rows * f->d, sizeof *f->residual);
    f->turns = calloc(f->tokens * f->rope_dim + 1, sizeof *f->turns);
    f->ids = calloc(f->rows, sizeof *f->ids);
    f->scratch = calloc(f->params.threads * f->d, sizeof *f->scratch);
    if (f->residual == NULL || f->turns == NULL || f->ids == NULL || f->scratch == NULL) {
        return no_memory();
    }
    f->activation_bytes += sizeof(float) * (f->rows * f->d + f->tokens * f->rope_dim);
    fill_turns(f);
    uint64_t state = 23;
    for (uint64_t i = 0; i < f->rows; i++) {
        float at = (line_random(&state) + 1) / 2;
        f->ids[i] = (uint32_t)fmin((double)at * (double)model->vocab, (double)model->vocab - 1);
    }
    return status_ok();
}

static struct status create(struct forward *f, const struct model *model)
{
    const struct forward_params *p = &f->params;
    f->form = forward_form_find(model->family);
    f->elementwise = elementwise_find(p->ways[MODEL_OP_ATTENTION].isa);
    f->layer_norm = model->layer_norm;
    f->d = model->d;
    f->tokens = p->prefill ? p->prompt : 1;
    if (f->tokens == 0 || p->batch == 0 || p->threads == 0 || p->threads > FORWARD_THREADS_MAX ||
        p->batch > LINEAR_BATCH_MAX ||
        __builtin_mul_overflow(f->tokens, (uint64_t)p->batch, &f->rows) || f->rows > 1 << 26) {
        return status_error(STATUS_INVALID,
                            "a step of %u sequences of %llu tokens: accepted are "
                            "1 to 512 sequences and 2^26 tokens in all",
                            p->batch, (unsigned long long)f->tokens);
    }
    f->first_position = p->prefill ? 0 : p->context;
    TRY(create_rows(f, model));
    for (uint32_t i = 0; i < model->block_count; i++) {
        f->block_count++;
        TRY(create_block(&f->blocks[i], f, &model->blocks[i]));
    }
    TRY(create_head(f, model));
    plan_table(&f->embedding, f, &model->embedding);
    plan_table(&f->positions, f, &model->positions);
    if (f->positions.n > 0 && f->first_position + f->tokens > f->positions.n) {
        return status_error(STATUS_INVALID,
                            "--step: position %llu of a model that has learned %llu of them",
                            (unsigned long long)(f->first_position + f->tokens),
                            (unsigned long long)f->positions.n);
    }
    f->embedding.offset = model->tied ? SIZE_MAX : 0; // forward_layout() sees which
    forward_layout(f);
    return status_ok();
}

struct status forward_create(struct forward **out, const struct forward_params *params)
{
    *out = NULL;
    TRY(forward_supported(params->model, params->prefill, params->prompt));
    struct forward *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return no_memory();
    }
    f->params = *params;
    struct status status = create(f, params->model);
    f->params.model = NULL;
    if (status.code != STATUS_OK) {
        forward_destroy(f);
        return status;
    }
    *out = f;
    return status;
}

static void destroy_linear(struct forward_linear *linear)
{
    linear_destroy(linear->chunk);
    linear_destroy(linear->rest);
}

void forward_destroy(struct forward *forward)
{
    if (forward == NULL) {
        return;
    }
    for (unsigned b = 0; b < forward->block_count; b++) {
        struct forward_block *block = &forward->blocks[b];
        for (int i = 0; i < FORWARD_PRODUCTS; i++) {
            destroy_linear(&block->products[i]);
        }
        attention_destroy(block->attention);
        free(block->vectors);
    }
    destroy_linear(&forward->head);
    free(forward->head_bias);
    free(forward->final_norm);
    free(forward->residual);
    free(forward->turns);
    free(forward->ids);
    free(forward->scratch);
    free(forward);
}

size_t forward_thread_bytes(const struct forward *forward)
{
    return forward->thread_bytes;
}

size_t forward_activation_bytes(const struct forward *forward)
{
    return forward->activation_bytes;
}

unsigned forward_layers(const struct forward *forward)
{
    unsigned layers = 0;
    for (unsigned b = 0; b < forward->block_count; b++) {
        layers += forward->blocks[b].layers;
    }
    return layers;
}
