#include "workloads/forward.h"

#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t forward_chunks(const struct forward *f)
{
    return (f->rows + LINEAR_BATCH_MAX - 1) / LINEAR_BATCH_MAX;
}

uint64_t forward_chunk_rows(const struct forward *f, uint64_t chunk)
{
    uint64_t left = f->rows - chunk * LINEAR_BATCH_MAX;
    return left < LINEAR_BATCH_MAX ? left : LINEAR_BATCH_MAX;
}

static enum dtype_id own_type(const struct forward *f, const struct model_matrix *matrix)
{
    return f->params.dtype == DTYPE_STORED ? matrix->dtype : f->params.dtype;
}

static struct status create_head(struct forward *f, const struct model *model)
{
    f->head.n = model->head.n;
    f->head.k = model->head.k;
    f->head.biased = model->head.bias > 0;
    f->head.part_count = 1;
    f->head.parts[0].n = model->head.n;
    f->head.parts[0].dtype = own_type(f, &model->head);
    TRY(forward_create_linear(&f->head, f, MODEL_OP_HEAD, f->params.batch));
    uint64_t state = 19;
    if (f->head.biased) {
        f->head_bias = calloc(f->head.n, sizeof *f->head_bias);
        if (f->head_bias == NULL) {
            return forward_no_memory();
        }
        forward_fill_vector(f->head_bias, f->head.n, 0, &state);
    }
    if (model->final_norm_values > 0) {
        f->final_norm = calloc(2 * f->d, sizeof *f->final_norm);
        if (f->final_norm == NULL) {
            return forward_no_memory();
        }
        forward_fill_vector(f->final_norm, f->d, 1, &state);
        forward_fill_vector(f->final_norm + f->d, f->d, 0, &state);
    }
    return status_ok();
}

static void plan_table(struct forward_table *table, const struct forward *f,
                       const struct model_matrix *matrix)
{
    if (matrix->count == 0) {
        return;
    }
    table->format = forward_format(own_type(f, matrix), matrix->k);
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
    f->steps = calloc((size_t)f->params.threads * 8, sizeof *f->steps);
    if (f->steps == NULL || f->residual == NULL || f->turns == NULL || f->ids == NULL ||
        f->scratch == NULL) {
        return forward_no_memory();
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
        TRY(forward_create_block(&f->blocks[i], f, &model->blocks[i]));
    }
    TRY(create_head(f, model));
    plan_table(&f->embedding, f, &model->embedding);
    plan_table(&f->positions, f, &model->positions);
    unsigned long long past = f->first_position + f->tokens;
    if (f->positions.n > 0 && past > f->positions.n) {
        return status_error(STATUS_INVALID,
                            "--step: position %llu of a model that has learned %llu of them", past,
                            (unsigned long long)f->positions.n);
    }
    f->embedding.offset = model->tied ? SIZE_MAX : 0; // forward_layout() sees which
    forward_layout(f);
    return status_ok();
}

struct status forward_create(struct forward **out, const struct forward_params *params)
{
    *out = NULL;
    TRY(forward_supported(params->model));
    struct forward *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return forward_no_memory();
    }
    f->params = *params;
    f->stop_before = UINT_MAX;
    struct status status = create(f, params->model);
    f->params.model = NULL;
    if (status.code != STATUS_OK) {
        forward_destroy(f);
        return status;
    }
    *out = f;
    return status;
}

void forward_destroy(struct forward *forward)
{
    if (forward == NULL) {
        return;
    }
    for (unsigned b = 0; b < forward->block_count; b++) {
        forward_destroy_block(&forward->blocks[b]);
    }
    forward_destroy_linear(&forward->head);
    free(forward->head_bias);
    free(forward->final_norm);
    free(forward->residual);
    free(forward->turns);
    free(forward->ids);
    free(forward->scratch);
    free(forward->steps);
    free(forward);
}

size_t forward_thread_bytes(const struct forward *forward)
{
    return forward->thread_bytes;
}

unsigned forward_block_layers(const struct forward *forward, unsigned block)
{
    return forward->blocks[block].layers;
}

size_t forward_thread_bytes_of(const struct forward *forward, unsigned layers)
{
    size_t bytes = forward->thread_bytes;
    for (unsigned b = 0; b < forward->block_count; b++) {
        const struct forward_block *block = &forward->blocks[b];
        bytes -= block->layers > layers ? (block->layers - layers) * block->layer_bytes : 0;
    }
    return bytes;
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
