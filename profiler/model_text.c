#include "profiler/model_request.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Of a GGUF whose tensors differ in type.
static void print_type_bytes(FILE *out, const struct model *model)
{
    const char *separator = ": ";
    for (int id = 0; id < DTYPE_COUNT; id++) {
        char text[UNITS_TEXT];
        if (model->type_bytes[id] > 0) {
            (void)fprintf(out, "%s%s %s", separator, dtype_name((enum dtype_id)id),
                          units_format_decimal(text, (double)model->type_bytes[id], "B"));
            separator = ", ";
        }
    }
}

static void print_parameters(FILE *out, const struct model_answer *answer)
{
    char text[UNITS_TEXT];
    const struct model_counts *counts = &answer->counts;
    bool stored = answer->request->step.dtype == DTYPE_STORED;
    (void)fprintf(out, "parameters %" PRIu64 ", in matrices that a step multiplies by %" PRIu64,
                  counts->total, counts->linear);
    if (counts->active != counts->total) {
        (void)fprintf(out, ", active for a token %" PRIu64, counts->active);
    }
    if (counts->mtp > 0) {
        (void)fprintf(out, ", and %" PRIu64 " in prediction layers apart", counts->mtp);
    }
    (void)fprintf(out, "\nweights %s in %s", units_format_decimal(text, answer->weight_bytes, "B"),
                  answer->dtype == DTYPE_STORED ? "the types of the file"
                                                : dtype_name(answer->dtype));
    if (stored) {
        print_type_bytes(out, answer->model);
    }
    (void)fputc('\n', out);
}

static void print_head(FILE *out, const struct model_answer *answer)
{
    char text[UNITS_TEXT];
    const struct model *model = answer->model;
    const struct model_counts *counts = &answer->counts;
    const char *head = model->tied ? ", tied head" : ", untied head";
    head = model->shape_only ? "" : head;
    (void)fprintf(
        out, "%s (%s): %" PRIu64 " layers, hidden size %" PRIu64 ", vocabulary %" PRIu64 "%s\n",
        model->name, model->family, counts->layers, model->d, model->vocab, head);
    if (!model->shape_only) {
        print_parameters(out, answer);
    }
    (void)fprintf(out, "cache %s a token in %s (%" PRIu64 " values)\n",
                  units_format_decimal(text, answer->kv_bytes_per_token, "B"),
                  dtype_name(answer->request->step.kv_dtype), counts->kv_values_per_token);
}

static void print_block(FILE *out, const struct model_block *block, bool shape_only)
{
    const struct model_attention *attention = &block->attention;
    const struct model_mlp *mlp = &block->mlp;
    (void)fprintf(out, "  %4" PRIu32 " x ", block->layers);
    if (attention->kind == MODEL_ATTENTION_NONE) {
        (void)fprintf(out, "no attention");
    } else if (attention->kind == MODEL_ATTENTION_MLA) {
        (void)fprintf(out, "latent attention, %" PRIu64 " heads, rank %" PRIu64, attention->heads,
                      attention->kv_rank);
    } else {
        (void)fprintf(out, "%" PRIu64 " heads of %" PRIu64 ", %" PRIu64 " KV", attention->heads,
                      attention->k_dim, attention->kv_heads);
    }
    if (attention->window > 0) {
        (void)fprintf(out, ", %s %" PRIu64, attention->chunked ? "chunk" : "window",
                      attention->window);
    }
    if (mlp->experts > 0) {
        (void)fprintf(out, "; %" PRIu64 " of %" PRIu64 " experts of %" PRIu64, mlp->experts_used,
                      mlp->experts, mlp->expert_width);
        if (mlp->shared_width > 0) {
            (void)fprintf(out, " and a shared one of %" PRIu64, mlp->shared_width);
        }
    } else {
        const char *kind = mlp->gated ? "gated " : "plain ";
        (void)fprintf(out, "; %sMLP of %" PRIu64, shape_only ? "" : kind, mlp->width);
    }
    (void)fputc('\n', out);
}

static void print_step_title(FILE *out, const struct step *step)
{
    const struct step_request *request = &step->request;
    (void)fprintf(out, "\n%s, batch %" PRIu64 ", ", step_phase_name(request->phase),
                  request->batch);
    if (request->phase == STEP_PREFILL) {
        (void)fprintf(out, "prompt %" PRIu64 ", ", request->prompt);
    }
    (void)fprintf(out, "%" PRIu64 " tokens cached", request->context);
    if (step->passes > 1) {
        (void)fprintf(out, ", weights streamed %u times", step->passes);
    }
    (void)fputc('\n', out);
}

static void print_cost(FILE *out, const char *name, unsigned layers, const struct step_cost *cost,
                       double all_bytes)
{
    char flop[UNITS_TEXT];
    char weights[UNITS_TEXT];
    char cache[UNITS_TEXT];
    char count[16] = "";
    char intensity[24] = "-";
    if (layers > 0) {
        (void)snprintf(count, sizeof count, "%u", layers);
    }
    if (!isnan(cost->flop_per_byte)) {
        (void)snprintf(intensity, sizeof intensity, "%.3g", cost->flop_per_byte);
    }
    (void)fprintf(out, "  %-10s %6s %13s %11s %11s %8s %7.1f\n", name, count,
                  units_format_decimal(flop, cost->flop, "FLOP"),
                  units_format_decimal(weights, cost->bytes.weights, "B"),
                  units_format_decimal(cache, cost->bytes.kv_read + cost->bytes.kv_write, "B"),
                  intensity, 100 * cost->bytes.dram_lower_bound / all_bytes);
}

static void print_step(FILE *out, const struct step *step)
{
    char text[UNITS_TEXT];
    print_step_title(out, step);
    (void)fprintf(out, "  %-10s %6s %13s %11s %11s %8s %7s\n", "operator", "layers", "work",
                  "weights", "cache", "FLOP/B", "bytes %");
    for (size_t i = 0; i < step->operator_count; i++) {
        const struct step_cost *cost = &step->operators[i];
        print_cost(out, model_operator_name(cost->op), cost->layers, cost,
                   step->sum.bytes.dram_lower_bound);
    }
    print_cost(out, "step", 0, &step->sum, step->sum.bytes.dram_lower_bound);
    (void)fprintf(out, "  executed with masked pairs %s, element-wise work apart ",
                  units_format_decimal(text, step->sum.flop_executed, "FLOP"));
    (void)fprintf(out, "%s, ", units_format_decimal(text, step->sum.flop_other, "FLOP"));
    (void)fprintf(out, "activations %s\n",
                  units_format_decimal(text, step->sum.bytes.activations, "B"));
    (void)fprintf(out, "  memory needed %s ", units_format_decimal(text, step->memory_bytes, "B"));
    (void)fprintf(out, "(%s): weights ", units_format_binary(text, (uint64_t)step->memory_bytes));
    (void)fprintf(out, "%s, cache ", units_format_decimal(text, step->weight_bytes, "B"));
    (void)fprintf(out, "%s, activations ", units_format_decimal(text, step->kv_bytes, "B"));
    (void)fprintf(out, "%s\n", units_format_decimal(text, step->activation_bytes, "B"));
}

static void print_training(FILE *out, const struct model_answer *answer)
{
    const struct training *training = &answer->training;
    const struct training_request *request = &answer->request->training;
    (void)fprintf(out, "\ntrain on %.4g tokens in sequences of %" PRIu64 "\n", request->tokens,
                  request->sequence);
    (void)fprintf(out, "  linears 6P            %.4g FLOP (P = %.0f)\n", training->flop_linear,
                  training->linear_parameters);
    (void)fprintf(out, "  with causal attention %.4g FLOP (+%.2f %%), full square +%.2f %%\n",
                  training->flop, 100 * training->attention_share_causal,
                  100 * training->attention_share_full);
    (void)fprintf(out, "  with recomputation    %.4g FLOP\n", training->flop_recomputed);
    if (!isnan(training->days)) {
        (void)fprintf(out,
                      "  on %.6g devices of %.4g FLOP/s at %.3g utilisation: %.4g days, "
                      "%.4g with recomputation\n",
                      request->devices, request->device_flop_per_s, request->mfu_fraction,
                      training->days, training->days_recomputed);
    }
}

static void print_batch(FILE *out, const char *what, bool never, double batch, double limit)
{
    (void)fprintf(out, "  %-8s ", what);
    if (never) {
        (void)fprintf(out, "never: at most %.3g FLOP/B, whatever the batch\n", limit);
    } else {
        (void)fprintf(out, "batch %.0f\n", batch);
    }
}

static void print_crossover(FILE *out, const struct model_answer *answer)
{
    const struct estimate_crossover *crossover = &answer->crossover;
    (void)fprintf(out, "\ndecode turns compute-bound at a ridge of %.4g FLOP/B\n",
                  answer->request->ridge_flop_per_byte);
    print_batch(out, "linears", crossover->linears_never, crossover->linears_batch,
                crossover->linears_limit_flop_per_byte);
    print_batch(out, "step", crossover->step_never, crossover->step_batch,
                crossover->step_limit_flop_per_byte);
}

void model_print(FILE *out, const struct model_answer *answer)
{
    enum { BLOCKS_SHOWN = 8 };
    print_head(out, answer);
    for (uint32_t i = 0; i < answer->model->block_count && i < BLOCKS_SHOWN; i++) {
        print_block(out, &answer->model->blocks[i], answer->model->shape_only);
    }
    if (answer->model->block_count > BLOCKS_SHOWN) {
        (void)fprintf(out, "  ... and %u further kinds of layer\n",
                      (unsigned)answer->model->block_count - BLOCKS_SHOWN);
    }
    for (size_t i = 0; i < answer->step_count; i++) {
        print_step(out, &answer->steps[i]);
    }
    if (answer->request->train) {
        print_training(out, answer);
    }
    if (answer->request->ridge_flop_per_byte > 0) {
        print_crossover(out, answer);
    }
}
