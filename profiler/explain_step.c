#include "profiler/explain.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>

static void explain_title(FILE *out, const struct step *step)
{
    const struct step_request *request = &step->request;
    (void)fprintf(out,
                  "\n%s: B = %" PRIu64 ", c = %" PRIu64 ", n = %" PRIu64 ", so T = B n = %" PRIu64
                  " rows and C = c + n = %" PRIu64 "\n",
                  request->phase == STEP_DECODE ? "Decode" : "Prefill", request->batch,
                  request->context, request->prompt, step->rows,
                  request->context + request->prompt);
}

// The product of every routed expert's matrix with the rows of the tokens that chose it.
static void explain_expert(FILE *out, const struct step *step, const struct model_matrix *matrix,
                           uint32_t layers, uint64_t used)
{
    char numbers[160];
    (void)snprintf(numbers, sizeof numbers,
                   "%" PRIu32 " x 2 x %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64, layers,
                   step->rows, used, matrix->k, matrix->n);
    double length = (double)matrix->k;
    double factor = step->request.exact ? 2 * length - 1 : 2 * length;
    explain_line(out, model_role_name(matrix->role), "L 2 T e K N, e experts a token", numbers,
                 layers * (double)step->rows * (double)used * factor * (double)matrix->n, "FLOP");
}

// "2 T K N" of one matrix over its layers; only the head has R rows instead of T.
static void explain_product(FILE *out, const struct step *step, const struct model_matrix *matrix,
                            uint32_t layers)
{
    char numbers[160];
    bool head = matrix->role == MODEL_HEAD;
    bool exact = step->request.exact;
    uint64_t rows = head ? step->head_rows : step->rows;
    uint64_t length = exact ? 2 * matrix->k - 1 : matrix->k;
    (void)snprintf(numbers, sizeof numbers, "%" PRIu32 " x %s%" PRIu64 " x %" PRIu64 " x %" PRIu64,
                   layers, exact ? "" : "2 x ", rows, length, matrix->n);
    const char *formula = exact ? "L T (2 K - 1) N" : "L 2 T K N";
    explain_line(out, model_role_name(matrix->role),
                 head ? "2 R K N, R rows that need logits" : formula, numbers,
                 layers * (double)rows * matrix->count * (exact ? 1 : 2) * (double)length *
                     (double)matrix->n,
                 "FLOP");
}

static bool is_latent_product(enum model_role role)
{
    return role == MODEL_KV_B || role == MODEL_K_B || role == MODEL_V_B;
}

static void explain_products(FILE *out, const struct model *model, const struct step *step)
{
    (void)fprintf(out, "\n  Products of a matrix [N, K] with T rows\n");
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_block *block = &model->blocks[b];
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            const struct model_matrix *matrix = &block->matrices[i];
            bool expands = is_latent_product(matrix->role) && step->request.mla == STEP_MLA_NAIVE &&
                           step->request.context > 0;
            if (expands) {
                (void)fprintf(out,
                              "  %-13s all c + n positions are expanded again, see the "
                              "table\n",
                              model_role_name(matrix->role));
                continue;
            }
            if (model_role_operator(matrix->role) == MODEL_OP_EXPERTS) {
                explain_expert(out, step, matrix, block->layers, block->mlp.experts_used);
            } else {
                explain_product(out, step, matrix, block->layers);
            }
        }
    }
    explain_product(out, step, &model->head, 1);
    for (size_t i = 0; i < 2; i++) {
        if (model->projections[i].count > 0) {
            explain_product(out, step, &model->projections[i], 1);
        }
    }
}

static const char *pairs_formula(const struct model_attention *attention,
                                 const struct step_request *request)
{
    if (attention->window > 0) {
        return attention->chunked ? "A = sum over the new tokens of their place in the chunk"
                                  : "A = sum over the new tokens of min(positions, W)";
    }
    return request->phase == STEP_DECODE ? "A = C" : "A = n c + n (n + 1) / 2";
}

static void explain_attention(FILE *out, const struct model *model, const struct step *step)
{
    char text[EXPLAIN_NUMBER];
    (void)fprintf(out, "\n  Attention: A pairs of a new token and a position it sees\n");
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_attention *attention = &model->blocks[b].attention;
        const struct step_request *request = &step->request;
        if (attention->kind == MODEL_ATTENTION_NONE) {
            continue;
        }
        double pairs = step_attention_pairs(attention, request->context, request->prompt);
        bool absorbed = attention->kind == MODEL_ATTENTION_MLA && request->mla == STEP_MLA_ABSORBED;
        uint64_t values = absorbed ? 2 * attention->kv_rank + attention->rope_dim
                                   : attention->k_dim + attention->v_dim;
        char numbers[160];
        (void)fprintf(out, "  %-13s %s = %s\n", "pairs", pairs_formula(attention, request),
                      explain_number(text, pairs));
        (void)snprintf(numbers, sizeof numbers,
                       "%" PRIu64 " x %" PRIu32 " x 2 x %" PRIu64 " x %" PRIu64 " x %.0f",
                       request->batch, model->blocks[b].layers, attention->heads, values, pairs);
        explain_line(out, "scores and V",
                     absorbed ? "B L 2 h (2 r_kv + k_r) A, absorbed" : "B L 2 h_q (k + k_v) A",
                     numbers,
                     (double)request->batch * model->blocks[b].layers * 2 *
                         (double)attention->heads * (double)values * pairs,
                     "FLOP");
    }
}

// Layers with a window keep the total from being a product of what a token caches.
static bool has_window(const struct model *model)
{
    for (uint32_t b = 0; b < model->block_count; b++) {
        if (model->blocks[b].attention.window > 0) {
            return true;
        }
    }
    return false;
}

static void explain_cache(FILE *out, const struct model_answer *answer, const struct step *step)
{
    char text[EXPLAIN_NUMBER];
    char numbers[128];
    const struct step_request *request = &step->request;
    if (has_window(answer->model)) {
        (void)fprintf(out,
                      "  %-13s %s B: each layer reads the c cached rows, one with a window at most "
                      "W - 1\n",
                      "cache read", explain_number(text, step->sum.bytes.kv_read));
    } else {
        (void)snprintf(numbers, sizeof numbers, "%" PRIu64 " x %" PRIu64 " x %.10g", request->batch,
                       request->context, answer->kv_bytes_per_token);
        explain_line(out, "cache read", "B c (bytes a token)", numbers, step->sum.bytes.kv_read,
                     "B");
    }
    (void)snprintf(numbers, sizeof numbers, "%" PRIu64 " x %.10g", step->rows,
                   answer->kv_bytes_per_token);
    explain_line(out, "cache write", "T (bytes a token)", numbers, step->sum.bytes.kv_write, "B");
}

// Elements of the routed experts' matrices, of all layers.
static uint64_t expert_elements(const struct model *model)
{
    uint64_t elements = 0;
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_block *block = &model->blocks[b];
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            const struct model_matrix *matrix = &block->matrices[i];
            bool routed = model_role_operator(matrix->role) == MODEL_OP_EXPERTS;
            elements +=
                routed ? (uint64_t)block->layers * matrix->count * matrix->n * matrix->k : 0;
        }
    }
    return elements;
}

// Weights other than experts by their formula, where one type makes it exact.
static bool explain_plain_weights(FILE *out, const struct model_answer *answer,
                                  const struct step *step, double found)
{
    const struct model *model = answer->model;
    const struct model_counts *counts = &answer->counts;
    if (answer->dtype == DTYPE_STORED || model->shape_only) {
        return false;
    }
    const struct dtype *type = dtype_get(answer->dtype);
    double bytes = (double)type->block_bytes / type->block_elements;
    uint64_t experts = expert_elements(model);
    uint64_t matrices = counts->linear - experts;
    uint64_t positions = model->positions.n * model->positions.k;
    uint64_t stored_once = model->tied ? model->head.n * model->head.k : 0;
    uint64_t vectors = counts->total + stored_once - counts->linear - counts->embedding - positions;
    uint64_t row = model->embedding.k + (positions > 0 ? model->d : 0);
    double result =
        bytes * (step->passes * (double)(matrices + vectors) + (double)(step->rows * row));
    if (fabs(result - found) > 1e-9 * found) {
        return false;
    }
    char formula[96];
    char numbers[160];
    char chunks[24] = "";
    if (step->passes > 1) {
        (void)snprintf(chunks, sizeof chunks, "%u x ", step->passes);
    }
    (void)snprintf(formula, sizeof formula, "%s(P_lin%s + norms and biases) b_w + T %s b_w",
                   step->passes > 1 ? "chunks " : "", experts > 0 ? " less experts" : "",
                   positions > 0 ? "(rows of embedding and positions)" : "d");
    (void)snprintf(numbers, sizeof numbers,
                   "%s(%" PRIu64 " + %" PRIu64 ") x %.6g + %" PRIu64 " x %" PRIu64 " x %.6g",
                   chunks, matrices, vectors, bytes, step->rows, row, bytes);
    explain_line(out, experts > 0 ? "but experts" : "weights", formula, numbers, result, "B");
    return true;
}

static void explain_experts(FILE *out, const struct model *model, const struct step *step)
{
    for (uint32_t b = 0; b < model->block_count; b++) {
        const struct model_mlp *mlp = &model->blocks[b].mlp;
        if (mlp->experts > 0 && step->passes == 1) {
            (void)fprintf(
                out, "  %-13s E (1 - (1 - e/E)^T) = %.6g of %" PRIu64 " are touched\n", "experts",
                step_distinct_experts(mlp->experts, mlp->experts_used, (double)step->rows),
                mlp->experts);
            return;
        }
    }
}

static void explain_weights(FILE *out, const struct model_answer *answer, const struct step *step)
{
    char text[EXPLAIN_NUMBER];
    const struct step_bytes *bytes = &step->sum.bytes;
    const struct step_cost *experts = step_find(step, MODEL_OP_EXPERTS);
    double routed = experts != NULL ? experts->bytes.weights : 0;
    bool told = explain_plain_weights(out, answer, step, bytes->weights - routed);
    if (experts != NULL) {
        explain_experts(out, answer->model, step);
        (void)fprintf(out, "  %-13s %s B\n", "expert bytes", explain_number(text, routed));
    }
    if (!told || experts != NULL) {
        (void)fprintf(out, "  %-13s %s B: every matrix, bias and norm %s,\n", "all weights",
                      explain_number(text, bytes->weights),
                      step->passes == 1 ? "once" : "once a chunk");
        (void)fprintf(out, "  %-13s one embedding row a token\n", "");
    }
}

static void explain_bytes(FILE *out, const struct model_answer *answer, const struct step *step)
{
    char text[EXPLAIN_NUMBER];
    const struct step_bytes *bytes = &step->sum.bytes;
    (void)fprintf(out, "\n  Bytes from and to memory\n");
    explain_weights(out, answer, step);
    explain_cache(out, answer, step);
    (void)fprintf(out, "  %-13s %s B\n", "sum", explain_number(text, bytes->dram_lower_bound));
    (void)fprintf(out, "  %-13s %s B more, from cache: inputs and outputs of the products\n",
                  "activations", explain_number(text, bytes->activations));
}

static void explain_result(FILE *out, const struct step *step)
{
    char flop[EXPLAIN_NUMBER];
    char bytes[EXPLAIN_NUMBER];
    const struct step_cost *sum = &step->sum;
    (void)fprintf(out, "\n  %-13s %s FLOP", "useful", explain_number(flop, sum->flop));
    (void)fprintf(out, "; a kernel that skips no masked score does %s\n",
                  explain_number(flop, sum->flop_executed));
    (void)fprintf(out,
                  "  %-13s %s FLOP of softmax, norms, rotary, activation and residual, apart\n",
                  "element-wise", explain_number(flop, sum->flop_other));
    (void)fprintf(out, "  %-13s FLOP / byte = %s / %s = %.4g\n", "intensity",
                  explain_number(flop, sum->flop),
                  explain_number(bytes, sum->bytes.dram_lower_bound), sum->flop_per_byte);
    (void)fprintf(out, "  %-13s %s B: weights, cache and live activations\n", "memory needed",
                  explain_number(bytes, step->memory_bytes));
    (void)fprintf(out, "\n  %-10s %6s %22s %20s %9s\n", "operator", "layers", "FLOP", "bytes",
                  "FLOP/B");
    for (size_t i = 0; i < step->operator_count; i++) {
        const struct step_cost *cost = &step->operators[i];
        (void)fprintf(out, "  %-10s %6u %22s %20s", model_operator_name(cost->op), cost->layers,
                      explain_number(flop, cost->flop),
                      explain_number(bytes, cost->bytes.dram_lower_bound));
        (void)fprintf(out, isnan(cost->flop_per_byte) ? "         -\n" : " %9.4g\n",
                      cost->flop_per_byte);
    }
}

// The short forms that the long count must agree with.
static void explain_checks(FILE *out, const struct model_answer *answer, const struct step *step)
{
    char numbers[128];
    const struct model_attention *attention = &answer->model->blocks[0].attention;
    if (step->request.phase != STEP_DECODE) {
        return;
    }
    (void)fprintf(out, "\n  To check by\n");
    (void)snprintf(numbers, sizeof numbers, "2 x %" PRIu64, answer->counts.linear_active);
    explain_line(out, "a token", "2 P_lin", numbers, 2 * (double)answer->counts.linear_active,
                 "FLOP");
    if (answer->dtype != DTYPE_STORED) {
        const struct dtype *type = dtype_get(answer->dtype);
        double bytes = (double)type->block_bytes / type->block_elements;
        (void)snprintf(numbers, sizeof numbers, "2 x %" PRIu64 " / %.6g", step->request.batch,
                       bytes);
        explain_line(out, "weights", "2 B / b_w (dense)", numbers,
                     2 * (double)step->request.batch / bytes, "FLOP/B");
    }
    if (attention->kind == MODEL_ATTENTION_HEADS) {
        const struct dtype *type = dtype_get(step->request.kv_dtype);
        double bytes = (double)type->block_bytes / type->block_elements;
        (void)snprintf(numbers, sizeof numbers, "2 x %" PRIu64 " / %" PRIu64 " / %.6g",
                       attention->heads, attention->kv_heads, bytes);
        explain_line(out, "attention", "2 h_q / h_kv / b_kv, whatever B and c", numbers,
                     2 * (double)attention->heads / (double)attention->kv_heads / bytes, "FLOP/B");
    }
}

void explain_steps(FILE *out, const struct model_answer *answer)
{
    for (size_t i = 0; i < answer->step_count; i++) {
        const struct step *step = &answer->steps[i];
        explain_title(out, step);
        explain_products(out, answer->model, step);
        explain_attention(out, answer->model, step);
        explain_bytes(out, answer, step);
        explain_result(out, step);
        explain_checks(out, answer, step);
    }
}

void explain_training(FILE *out, const struct model_answer *answer)
{
    if (!answer->request->train) {
        return;
    }
    const struct training *training = &answer->training;
    const struct training_request *request = &answer->request->training;
    char numbers[128];
    (void)fprintf(out, "\nTraining: forward 2 P, gradient of the inputs 2 P, of the weights 2 P\n");
    (void)snprintf(numbers, sizeof numbers, "6 x %.0f x %.6g", training->linear_parameters,
                   request->tokens);
    explain_line(out, "linears", "6 P D", numbers, training->flop_linear, "FLOP");
    (void)fprintf(out, "  %-13s 6 L h_q (k + k_v) S a token full square, half of it causal:\n",
                  "attention");
    (void)fprintf(out, "  %-13s = %.4g of 6 P at S = %" PRIu64 ", causal %.4g\n", "",
                  training->attention_share_full, request->sequence,
                  training->attention_share_causal);
    (void)fprintf(out, "  %-13s %.6g FLOP; with full recomputation (8 P D) %.6g\n", "sum, causal",
                  training->flop, training->flop_recomputed);
    if (!isnan(training->days)) {
        (void)snprintf(numbers, sizeof numbers, "%.6g / (%.6g x %.6g x %.4g) / 86400",
                       training->flop, request->devices, request->device_flop_per_s,
                       request->mfu_fraction);
        explain_line(out, "days", "FLOP / (devices x dense peak x utilisation)", numbers,
                     training->days, "days");
    }
}
