#include "profiler/document_json.h"
#include "profiler/model_request.h"

#include <math.h>

static const char no_tensors[] = "the file has no tensors";

static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

// A count that 0 means the absence of.
static void put_count_or_absent(json_t *object, const char *key, uint64_t value, const char *why)
{
    if (value > 0) {
        json_put_count(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, why, NULL);
    }
}

static json_t *attention_json(const struct model_attention *attention)
{
    static const char *const kinds[] = {[MODEL_ATTENTION_NONE] = "none",
                                        [MODEL_ATTENTION_HEADS] = "heads",
                                        [MODEL_ATTENTION_MLA] = "mla"};
    json_t *object = json_object();
    json_put_text(object, "kind", kinds[attention->kind]);
    json_put_count(object, "heads", attention->heads);
    json_put_count(object, "kv_heads", attention->kv_heads);
    json_put_count(object, "head_dim", attention->k_dim);
    json_put_count(object, "v_head_dim", attention->v_dim);
    put_count_or_absent(object, "window", attention->window, "these layers see every position");
    put(object, "chunked", json_boolean(attention->chunked));
    put_count_or_absent(object, "kv_lora_rank", attention->kv_rank, "no latent attention");
    json_put_count(object, "kv_values_per_token", attention->kv_values);
    return object;
}

static json_t *mlp_json(const struct model_mlp *mlp, bool shape_only)
{
    json_t *object = json_object();
    if (shape_only) {
        json_put_absent_because(object, "gated", ABSENT_UNSUPPORTED, no_tensors, NULL);
    } else {
        put(object, "gated", json_boolean(mlp->gated));
    }
    put_count_or_absent(object, "width", mlp->width, "no dense MLP in these layers");
    json_put_count(object, "experts", mlp->experts);
    put_count_or_absent(object, "experts_used", mlp->experts_used, "no experts");
    put_count_or_absent(object, "expert_width", mlp->expert_width, "no experts");
    put_count_or_absent(object, "shared_width", mlp->shared_width, "no shared experts");
    return object;
}

static json_t *matrix_json(const struct model_matrix *matrix)
{
    json_t *object = json_object();
    json_put_text(object, "role", model_role_name(matrix->role));
    json_put_count(object, "count", matrix->count);
    json_put_count(object, "n", matrix->n);
    json_put_count(object, "k", matrix->k);
    json_put_text(object, "dtype", dtype_name(matrix->dtype));
    json_put_count(object, "bytes", matrix->stored_bytes);
    return object;
}

static json_t *block_json(const struct model_block *block, bool shape_only)
{
    json_t *object = json_object();
    json_put_count(object, "layers", block->layers);
    put(object, "attention", attention_json(&block->attention));
    put(object, "mlp", mlp_json(&block->mlp, shape_only));
    json_put_count(object, "norm_parameters", block->norms.elements);
    json_t *matrices = json_array();
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        (void)json_array_append_new(matrices, matrix_json(&block->matrices[i]));
    }
    put(object, "matrices", matrices);
    return object;
}

static json_t *model_json(const struct model_answer *answer)
{
    static const char *const origins[] = {[MODEL_FROM_BUILTIN] = "builtin",
                                          [MODEL_FROM_CONFIG] = "config",
                                          [MODEL_FROM_GGUF] = "gguf"};
    const struct model *model = answer->model;
    json_t *object = json_object();
    json_put_text(object, "name", model->name);
    json_put_text(object, "family", model->family);
    json_put_text(object, "source", origins[model->origin]);
    json_put_text(object, "dtype", dtype_name(model->dtype));
    json_put_count(object, "layers", answer->counts.layers);
    json_put_count(object, "hidden_size", model->d);
    json_put_count(object, "vocab_size", model->vocab);
    put_count_or_absent(object, "trained_context", model->trained_context,
                        "the file does not tell it");
    if (model->shape_only) {
        json_put_absent_because(object, "tied", ABSENT_UNSUPPORTED, no_tensors, NULL);
    } else {
        put(object, "tied", json_boolean(model->tied));
    }
    json_t *blocks = json_array();
    for (uint32_t i = 0; i < model->block_count; i++) {
        (void)json_array_append_new(blocks, block_json(&model->blocks[i], model->shape_only));
    }
    put(object, "blocks", blocks);
    return object;
}

static void put_parameters(json_t *object, const char *key, const struct model *model,
                           uint64_t count)
{
    if (model->shape_only) {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, no_tensors, NULL);
    } else {
        json_put_count(object, key, count);
    }
}

static json_t *parameters_json(const struct model_answer *answer)
{
    const struct model_counts *counts = &answer->counts;
    json_t *object = json_object();
    put_parameters(object, "total", answer->model, counts->total);
    put_parameters(object, "linear", answer->model, counts->linear);
    put_parameters(object, "linear_active", answer->model, counts->linear_active);
    put_parameters(object, "embedding", answer->model, counts->embedding);
    put_parameters(object, "active", answer->model, counts->active);
    put_parameters(object, "mtp", answer->model, counts->mtp);
    return object;
}

static json_t *type_bytes_json(const struct model *model)
{
    json_t *object = json_object();
    for (int id = 0; id < DTYPE_COUNT; id++) {
        if (model->type_bytes[id] > 0) {
            json_put_count(object, dtype_name((enum dtype_id)id), model->type_bytes[id]);
        }
    }
    return object;
}

static void put_weight_bytes(json_t *document, const struct model_answer *answer)
{
    if (answer->model->shape_only) {
        json_put_absent_because(document, "weight_bytes", ABSENT_UNSUPPORTED, no_tensors, NULL);
    } else {
        json_put_number(document, "weight_bytes", answer->weight_bytes);
    }
    if (answer->model->origin == MODEL_FROM_GGUF) {
        put(document, "stored_bytes_by_dtype", type_bytes_json(answer->model));
    }
}

static json_t *bytes_json(const struct step_bytes *bytes)
{
    json_t *object = json_object();
    json_put_number(object, "weights", bytes->weights);
    json_put_number(object, "kv_read", bytes->kv_read);
    json_put_number(object, "kv_write", bytes->kv_write);
    json_put_number(object, "activations", bytes->activations);
    json_put_number(object, "dram_lower_bound", bytes->dram_lower_bound);
    json_put_number(object, "requested", bytes->requested);
    return object;
}

static void put_intensity(json_t *object, const char *key, double flop, double bytes)
{
    if (bytes > 0) {
        json_put_number(object, key, flop / bytes);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, "no bytes to divide by", NULL);
    }
}

static void put_cost(json_t *object, const struct step_cost *cost)
{
    json_put_number(object, "flop", cost->flop);
    json_put_number(object, "flop_executed", cost->flop_executed);
    json_put_number(object, "flop_other", cost->flop_other);
    put(object, "bytes", bytes_json(&cost->bytes));
    put_intensity(object, "flop_per_byte", cost->flop, cost->bytes.dram_lower_bound);
    put_intensity(object, "flop_per_byte_requested", cost->flop, cost->bytes.requested);
}

enum { SHAPES_MAX = 32 };

static json_t *shapes_json(const struct model *model, enum model_operator op, double rows)
{
    struct model_shape shapes[SHAPES_MAX];
    size_t count = model_shapes(shapes, SHAPES_MAX, model, op);
    json_t *array = json_array();
    for (size_t i = 0; i < count && i < SHAPES_MAX; i++) {
        json_t *object = json_object();
        json_put_count(object, "layers", shapes[i].layers);
        json_put_number(object, "m", rows);
        json_put_count(object, "n", shapes[i].n);
        json_put_count(object, "k", shapes[i].k);
        (void)json_array_append_new(array, object);
    }
    return array;
}

static json_t *operator_json(const struct model *model, const struct step *step,
                             const struct step_cost *cost)
{
    json_t *object = json_object();
    json_put_text(object, "name", model_operator_name(cost->op));
    json_put_count(object, "layers", cost->layers);
    put_cost(object, cost);
    double rows = cost->op == MODEL_OP_HEAD ? (double)step->head_rows : (double)step->rows;
    put(object, "shapes", shapes_json(model, cost->op, rows));
    return object;
}

static json_t *step_json(const struct model *model, const struct step *step)
{
    const struct step_request *request = &step->request;
    json_t *object = json_object();
    json_put_text(object, "phase", step_phase_name(request->phase));
    json_put_count(object, "batch", request->batch);
    json_put_count(object, "context", request->context);
    json_put_count(object, "prompt", request->prompt);
    json_put_count(object, "rows", step->rows);
    json_put_count(object, "head_rows", step->head_rows);
    json_put_count(object, "weight_passes", step->passes);
    put_cost(object, &step->sum);
    json_t *memory = json_object();
    json_put_number(memory, "weights", step->weight_bytes);
    json_put_number(memory, "kv", step->kv_bytes);
    json_put_number(memory, "activations", step->activation_bytes);
    json_put_number(memory, "total", step->memory_bytes);
    put(object, "memory_bytes", memory);
    json_t *operators = json_array();
    for (size_t i = 0; i < step->operator_count; i++) {
        (void)json_array_append_new(operators, operator_json(model, step, &step->operators[i]));
    }
    put(object, "operators", operators);
    return object;
}

static json_t *training_json(const struct model_answer *answer)
{
    const struct training *training = &answer->training;
    const struct training_request *request = &answer->request->training;
    json_t *object = json_object();
    json_put_number(object, "tokens", request->tokens);
    json_put_count(object, "sequence", request->sequence);
    json_put_number(object, "linear_parameters", training->linear_parameters);
    json_put_number(object, "linear_flop_per_token", training->linear_flop_per_token);
    json_put_number(object, "attention_flop_per_token_full",
                    training->attention_flop_per_token_full);
    json_put_number(object, "attention_flop_per_token_causal",
                    training->attention_flop_per_token_causal);
    json_put_number(object, "attention_full_fraction", training->attention_share_full);
    json_put_number(object, "attention_causal_fraction", training->attention_share_causal);
    json_put_number(object, "flop", training->flop);
    json_put_number(object, "flop_linear", training->flop_linear);
    json_put_number(object, "flop_full_square", training->flop_full_square);
    json_put_number(object, "flop_recomputed", training->flop_recomputed);
    static const char why[] = "devices, their peak or their utilisation not given";
    static const char remedy[] = "--devices N --peak FLOP_PER_S --mfu FRACTION";
    if (isnan(training->days)) {
        json_put_absent_because(object, "days", ABSENT_NOT_ASKED, why, remedy);
        json_put_absent_because(object, "days_recomputed", ABSENT_NOT_ASKED, why, remedy);
    } else {
        json_put_number(object, "days", training->days);
        json_put_number(object, "days_recomputed", training->days_recomputed);
    }
    return object;
}

static void put_batch(json_t *object, const char *key, bool never, double batch)
{
    if (never) {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED,
                                "never: no batch reaches the ridge", NULL);
    } else {
        json_put_number(object, key, batch);
    }
}

static void put_limit(json_t *object, const char *key, double limit)
{
    if (isfinite(limit)) {
        json_put_number(object, key, limit);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED,
                                "grows with the batch without limit", NULL);
    }
}

static json_t *crossover_json(const struct model_answer *answer)
{
    const struct estimate_crossover *crossover = &answer->crossover;
    json_t *object = json_object();
    json_put_number(object, "ridge_flop_per_byte", answer->request->ridge_flop_per_byte);
    put_batch(object, "predicted_linears", crossover->linears_never, crossover->linears_batch);
    put_batch(object, "predicted_step", crossover->step_never, crossover->step_batch);
    put_limit(object, "linears_limit_flop_per_byte", crossover->linears_limit_flop_per_byte);
    put_limit(object, "step_limit_flop_per_byte", crossover->step_limit_flop_per_byte);
    return object;
}

struct status model_write_document(const struct command_context *context,
                                   const struct model_answer *answer)
{
    json_t *document = document_new("model", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    for (uint32_t i = 0; i < answer->note_count; i++) {
        document_warn(document, answer->notes[i].code, answer->notes[i].text, NULL);
    }
    put(document, "model", model_json(answer));
    put(document, "parameters", parameters_json(answer));
    json_put_text(document, "dtype", dtype_name(answer->dtype));
    json_put_text(document, "kv_dtype", dtype_name(answer->request->step.kv_dtype));
    json_put_count(document, "kv_values_per_token", answer->counts.kv_values_per_token);
    json_put_number(document, "kv_bytes_per_token", answer->kv_bytes_per_token);
    put_weight_bytes(document, answer);
    json_t *steps = json_array();
    for (size_t i = 0; i < answer->step_count; i++) {
        (void)json_array_append_new(steps, step_json(answer->model, &answer->steps[i]));
    }
    put(document, "steps", steps);
    if (answer->request->train) {
        put(document, "training", training_json(answer));
    }
    if (answer->request->ridge_flop_per_byte > 0) {
        put(document, "crossover_batch", crossover_json(answer));
    }
    put(document, "complete", json_true());
    struct status status =
        document_write(document, context, answer->request->output, answer->request->json);
    json_decref(document);
    return status;
}
