#include "profiler/explain.h"

#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

char *explain_number(char *out, double value)
{
    char digits[EXPLAIN_NUMBER];
    bool whole = !(fabs(value - nearbyint(value)) > 0);
    if (!(fabs(value) < 0x1p62) || (!whole && fabs(value) < 1e6)) {
        (void)snprintf(out, EXPLAIN_NUMBER, "%.6g", value);
        return out;
    }
    (void)snprintf(digits, sizeof digits, "%.0f", value);
    size_t length = strlen(digits);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        out[at++] = digits[i];
        size_t left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') {
            out[at++] = ',';
        }
    }
    out[at] = '\0';
    return out;
}

void explain_line(FILE *out, const char *name, const char *formula, const char *numbers,
                  double result, const char *unit)
{
    char text[EXPLAIN_NUMBER];
    (void)fprintf(out, "  %-13s %s\n  %-13s = %s = %s%s%s\n", name, formula, "", numbers,
                  explain_number(text, result), unit[0] == '\0' ? "" : " ", unit);
}

// How a matrix's size follows from the model's; the same symbols as in the head of the text.
static const char *role_formula(enum model_role role)
{
    static const char *const formulas[MODEL_ROLES] = {
        [MODEL_Q] = "h_q k d",
        [MODEL_K] = "h_kv k d",
        [MODEL_V] = "h_kv k_v d",
        [MODEL_QKV] = "(h_q k + h_kv (k + k_v)) d",
        [MODEL_KV] = "h_kv (k + k_v) d",
        [MODEL_Q_A] = "r_q d",
        [MODEL_Q_B] = "h (k_n + k_r) r_q",
        [MODEL_KV_A] = "(r_kv + k_r) d",
        [MODEL_KV_B] = "h (k_n + k_v) r_kv",
        [MODEL_K_B] = "h k_n r_kv",
        [MODEL_V_B] = "h k_v r_kv",
        [MODEL_ATTN_OUT] = "d h_q k_v",
        [MODEL_GATE] = "f d",
        [MODEL_UP] = "f d",
        [MODEL_GATE_UP_FUSED] = "2 f d",
        [MODEL_DOWN] = "d f",
        [MODEL_ROUTER] = "E d",
        [MODEL_EXPERT_GATE] = "E f_e d",
        [MODEL_EXPERT_UP] = "E f_e d",
        [MODEL_EXPERT_GATE_UP_FUSED] = "E 2 f_e d",
        [MODEL_EXPERT_DOWN] = "E d f_e",
        [MODEL_SHARED_GATE] = "S f_s d",
        [MODEL_SHARED_UP] = "S f_s d",
        [MODEL_SHARED_DOWN] = "d S f_s",
        [MODEL_SHARED_ROUTER] = "d",
        [MODEL_HEAD] = "V d",
        [MODEL_PROJECT_IN] = "d w",
        [MODEL_PROJECT_OUT] = "w d",
        [MODEL_EMBEDDING] = "V d",
        [MODEL_POSITIONS] = "positions d",
    };
    return formulas[role];
}

static void explain_matrix(FILE *out, const struct model_matrix *matrix)
{
    char numbers[128];
    char bias[64] = "";
    char formula[64];
    if (matrix->bias > 0) {
        (void)snprintf(bias, sizeof bias, " + %" PRIu64, matrix->bias);
    }
    (void)snprintf(formula, sizeof formula, "%s%s", role_formula(matrix->role),
                   matrix->bias > 0 ? " + bias" : "");
    if (matrix->count > 1) {
        (void)snprintf(numbers, sizeof numbers, "%" PRIu32 " x %" PRIu64 " x %" PRIu64 "%s",
                       matrix->count, matrix->n, matrix->k, bias);
    } else {
        (void)snprintf(numbers, sizeof numbers, "%" PRIu64 " x %" PRIu64 "%s", matrix->n, matrix->k,
                       bias);
    }
    double elements =
        (double)matrix->count * (double)matrix->n * (double)matrix->k + (double)matrix->bias;
    explain_line(out, model_role_name(matrix->role), formula, numbers, elements, "");
}

static void explain_symbols(FILE *out, const struct model *model, uint64_t layers)
{
    (void)fprintf(out,
                  "%s (%s)\n\nSymbols: hidden size d = %" PRIu64 ", layers L = %" PRIu64
                  ", vocabulary V = %" PRIu64
                  ";\nh_q and h_kv heads of queries and of keys and values, k and k_v their sizes, "
                  "f MLP width;\nB sequences, c tokens cached, n new tokens a sequence, T = B n "
                  "rows. A multiply-add is 2 FLOP.\n",
                  model->name, model->family, model->d, layers, model->vocab);
}

static void explain_attention_symbols(FILE *out, const struct model_attention *attention)
{
    if (attention->kind == MODEL_ATTENTION_HEADS) {
        (void)fprintf(
            out, "  h_q = %" PRIu64 ", h_kv = %" PRIu64 ", k = %" PRIu64 ", k_v = %" PRIu64 "%s\n",
            attention->heads, attention->kv_heads, attention->k_dim, attention->v_dim,
            attention->heads == attention->kv_heads ? "" : " (groups of heads share K and V)");
    } else if (attention->kind == MODEL_ATTENTION_MLA) {
        (void)fprintf(out,
                      "  latent: h = %" PRIu64 ", r_kv = %" PRIu64 ", k_r = %" PRIu64
                      ", k_n = %" PRIu64 ", k_v = %" PRIu64 "\n",
                      attention->heads, attention->kv_rank, attention->rope_dim,
                      attention->k_dim - attention->rope_dim, attention->v_dim);
    }
    if (attention->window > 0) {
        (void)fprintf(out, "  a token sees %s W = %" PRIu64 "\n",
                      attention->chunked ? "only its own chunk of" : "the last", attention->window);
    }
}

static bool is_attention_operator(enum model_operator op)
{
    return op == MODEL_OP_QKV || op == MODEL_OP_ATTN_OUT;
}

// One kind of layer; returns the elements of one such layer.
static double explain_block(FILE *out, const struct model_block *block)
{
    double attention = 0;
    double mlp = 0;
    char text[EXPLAIN_NUMBER];
    (void)fprintf(out, "\nA layer (%" PRIu32 " of this kind)\n", block->layers);
    explain_attention_symbols(out, &block->attention);
    if (block->mlp.experts > 0) {
        (void)fprintf(out,
                      "  E = %" PRIu64 " experts of width f_e = %" PRIu64 ", e = %" PRIu64
                      " of them for a token, shared S f_s = %" PRIu64 "\n",
                      block->mlp.experts, block->mlp.expert_width, block->mlp.experts_used,
                      block->mlp.shared_width);
    }
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *matrix = &block->matrices[i];
        double elements =
            (double)matrix->count * (double)matrix->n * (double)matrix->k + (double)matrix->bias;
        explain_matrix(out, matrix);
        *(is_attention_operator(model_role_operator(matrix->role)) ? &attention : &mlp) += elements;
    }
    double rest = (double)(block->norms.elements + block->sinks.elements);
    (void)fprintf(out, "  %-13s %s\n", "norms", explain_number(text, rest));
    double layer = attention + mlp + rest;
    (void)fprintf(out, "  %-13s %s, of which attention %.1f %%, MLP %.1f %%\n", "sum",
                  explain_number(text, layer), 100 * attention / layer, 100 * mlp / layer);
    return layer;
}

static void explain_outside(FILE *out, const struct model *model)
{
    char text[EXPLAIN_NUMBER];
    (void)fprintf(out, "\nOutside the layers\n");
    explain_matrix(out, &model->embedding);
    if (model->positions.count > 0) {
        explain_matrix(out, &model->positions);
    }
    for (size_t i = 0; i < 2; i++) {
        if (model->projections[i].count > 0) {
            explain_matrix(out, &model->projections[i]);
        }
    }
    if (model->tied) {
        (void)fprintf(out, "  %-13s the embedding again: stored once, multiplied in every step\n",
                      "head");
    } else {
        explain_matrix(out, &model->head);
    }
    (void)fprintf(out, "  %-13s %s\n", "final norms",
                  explain_number(text, (double)model->final_norms.elements));
}

static void explain_sums(FILE *out, const struct model_answer *answer)
{
    char text[EXPLAIN_NUMBER];
    const struct model_counts *counts = &answer->counts;
    (void)fprintf(out, "\nSums\n  %-13s %s\n", "parameters",
                  explain_number(text, (double)counts->total));
    (void)fprintf(out, "  %-13s %s: the matrices multiplied in a step, head included\n", "P_lin",
                  explain_number(text, (double)counts->linear));
    if (counts->active != counts->total) {
        (void)fprintf(out, "  %-13s %s: without the experts that a token is not routed to\n",
                      "active", explain_number(text, (double)counts->active));
        (void)fprintf(out, "  %-13s %s: of them multiplied\n", "P_lin active",
                      explain_number(text, (double)counts->linear_active));
    }
    if (counts->mtp > 0) {
        (void)fprintf(out, "  %-13s %s, apart\n", "prediction",
                      explain_number(text, (double)counts->mtp));
    }
}

// "parameters x bytes", or why that is not the sum: a GGUF's types, or rows that no block fits.
static void explain_stored(FILE *out, const struct model_answer *answer)
{
    char numbers[96];
    const struct model_counts *counts = &answer->counts;
    if (answer->dtype != DTYPE_STORED) {
        const struct dtype *type = dtype_get(answer->dtype);
        double bytes = (double)counts->total * type->block_bytes / type->block_elements;
        if (type->row_bytes > 0 || !(fabs(bytes - answer->weight_bytes) > 0)) {
            (void)snprintf(numbers, sizeof numbers, "%" PRIu64 " x %u / %u bytes%s", counts->total,
                           type->block_bytes, type->block_elements,
                           type->row_bytes > 0 ? " and a scale a row" : "");
            explain_line(out, "weights", "parameters x bytes of the type", numbers,
                         answer->weight_bytes, "B");
            return;
        }
    }
    explain_line(out, "weights", "elements x bytes of the type, of all tensors",
                 "each tensor by its own type", answer->weight_bytes, "B");
}

static void explain_memory(FILE *out, const struct model_answer *answer)
{
    char numbers[96];
    char text[UNITS_TEXT];
    const struct model_counts *counts = &answer->counts;
    (void)fprintf(out, "\nMemory\n");
    if (!answer->model->shape_only) {
        explain_stored(out, answer);
        (void)fprintf(out, "  %-13s = %s\n", "",
                      units_format_binary(text, (uint64_t)answer->weight_bytes));
    }
    (void)snprintf(numbers, sizeof numbers, "%" PRIu64 " values in %s", counts->kv_values_per_token,
                   dtype_name(answer->request->step.kv_dtype));
    explain_line(out, "cache a token",
                 answer->model->blocks[0].attention.kind == MODEL_ATTENTION_MLA
                     ? "L (r_kv + k_r) b_kv"
                     : "L h_kv (k + k_v) b_kv",
                 numbers, answer->kv_bytes_per_token, "B");
}

// What a file without tensors tells: the shape of its layers and their cache.
static void explain_shape(FILE *out, const struct model_answer *answer)
{
    for (uint32_t i = 0; i < answer->model->block_count; i++) {
        const struct model_block *block = &answer->model->blocks[i];
        (void)fprintf(out, "\nA layer (%" PRIu32 " of this kind)\n", block->layers);
        explain_attention_symbols(out, &block->attention);
    }
    (void)fprintf(out, "\nThe file has no tensors: how many parameters there are is not known.\n");
    explain_memory(out, answer);
}

void model_explain(FILE *out, const struct model_answer *answer)
{
    char text[EXPLAIN_NUMBER];
    char one[EXPLAIN_NUMBER];
    double layers = 0;
    explain_symbols(out, answer->model, answer->counts.layers);
    if (answer->model->shape_only) {
        explain_shape(out, answer);
        return;
    }
    for (uint32_t i = 0; i < answer->model->block_count; i++) {
        const struct model_block *block = &answer->model->blocks[i];
        double layer = explain_block(out, block);
        (void)fprintf(out, "  %-13s %" PRIu32 " x %s = %s\n", "layers", block->layers,
                      explain_number(one, layer), explain_number(text, block->layers * layer));
        layers += block->layers * layer;
    }
    if (answer->model->block_count > 1) {
        (void)fprintf(out, "\nAll layers      %s\n", explain_number(text, layers));
    }
    explain_outside(out, answer->model);
    explain_sums(out, answer);
    explain_memory(out, answer);
    explain_steps(out, answer);
    explain_training(out, answer);
}
