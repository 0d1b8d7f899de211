#include "profiler/model_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_note(struct model_answer *answer, const char *code, const char *text)
{
    if (answer->note_count == sizeof answer->notes / sizeof *answer->notes) {
        return;
    }
    struct model_note *note = &answer->notes[answer->note_count++];
    (void)snprintf(note->code, sizeof note->code, "%s", code);
    (void)snprintf(note->text, sizeof note->text, "%s", text);
}

// True if --dtype says itself what the model's file leaves open.
static bool is_settled(const struct model_note *note, const struct model_request *request)
{
    return strcmp(note->code, "dtype_assumed") == 0 && request->step.dtype != DTYPE_STORED;
}

static void note_beyond_training(struct model_answer *answer)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < answer->step_count; i++) {
        const struct step_request *step = &answer->steps[i].request;
        uint64_t end = step->context + step->prompt;
        longest = end > longest ? end : longest;
    }
    uint64_t trained = answer->model->trained_context;
    if (trained == 0 || longest <= trained) {
        return;
    }
    char text[200];
    (void)snprintf(text, sizeof text,
                   "a step sees %" PRIu64 " positions; the model was trained for %" PRIu64, longest,
                   trained);
    add_note(answer, "context_beyond_trained", text);
}

static void note_experts(struct model_answer *answer)
{
    for (uint32_t i = 0; i < answer->model->block_count; i++) {
        if (answer->model->blocks[i].mlp.experts > 0) {
            add_note(answer, "uniform_routing",
                     "expert bytes are those of uniform routing: an upper estimate of the distinct "
                     "experts that a step touches");
            return;
        }
    }
}

// Tells which matrices do not get the type that was asked for.
static void note_fallback(struct model_answer *answer)
{
    enum dtype_id dtype = answer->request->step.dtype;
    for (uint32_t b = 0; dtype != DTYPE_STORED && b < answer->model->block_count; b++) {
        const struct model_block *block = &answer->model->blocks[b];
        for (uint32_t i = 0; i < block->matrix_count; i++) {
            const struct model_matrix *matrix = &block->matrices[i];
            if (dtype_fits(dtype, matrix->k)) {
                continue;
            }
            char text[200];
            (void)snprintf(
                text, sizeof text,
                "rows of %" PRIu64 " (%s and others) are no whole number of %s blocks of "
                "%u: those matrices are counted as %s",
                matrix->k, model_role_name(matrix->role), dtype_name(dtype),
                dtype_get(dtype)->block_elements, dtype_name(dtype_for_row(dtype, matrix->k)));
            add_note(answer, "dtype_fallback", text);
            return;
        }
    }
}

static struct status compute_phase(struct model_answer *out, enum step_phase phase)
{
    const struct model_request *request = out->request;
    const struct option_counts one_token = {1, {1}};
    const struct option_counts *prompts = phase == STEP_DECODE ? &one_token : &request->prompt;
    for (size_t b = 0; b < request->batch.count; b++) {
        for (size_t c = 0; c < request->context.count; c++) {
            for (size_t p = 0; p < prompts->count; p++) {
                struct step_request step = request->step;
                step.phase = phase;
                step.batch = request->batch.values[b];
                step.context = request->context.values[c];
                step.prompt = prompts->values[p];
                TRY(step_compute(&out->steps[out->step_count], out->model, &step));
                out->step_count++;
            }
        }
    }
    return status_ok();
}

enum { STEPS_MAX = 16384 };

static struct status allocate_steps(struct model_answer *out)
{
    const struct model_request *request = out->request;
    size_t contexts = request->context.count;
    size_t decode = request->decode ? request->batch.count * contexts : 0;
    size_t prefill = request->prefill ? request->batch.count * contexts * request->prompt.count : 0;
    if (decode + prefill > STEPS_MAX) {
        return status_error(STATUS_INVALID,
                            "--batch, --context and --prompt ask for %zu steps; accepted up to %d",
                            decode + prefill, STEPS_MAX);
    }
    out->steps = calloc(decode + prefill + 1, sizeof *out->steps);
    return out->steps != NULL
               ? status_ok()
               : status_error(STATUS_SYSTEM, "no memory for %zu steps", decode + prefill);
}

static struct status compute_extras(struct model_answer *out)
{
    const struct model_request *request = out->request;
    if (out->model->shape_only && (request->train || request->ridge_flop_per_byte > 0)) {
        return status_error(STATUS_INVALID, "the file has no tensors; --phase train and --ridge "
                                            "need them");
    }
    if (request->train) {
        TRY(training_compute(&out->training, out->model, &request->training));
    }
    if (request->ridge_flop_per_byte > 0) {
        struct step_request at = request->step;
        at.phase = STEP_DECODE;
        at.batch = 1;
        at.context = request->context.values[0];
        TRY(estimate_crossover(&out->crossover, out->model, &at, request->ridge_flop_per_byte));
    }
    return status_ok();
}

// A file without tensors tells the shape and no more: nothing that needs weights is computed.
static struct status compute_steps(struct model_answer *out)
{
    const struct model_request *request = out->request;
    if (out->model->shape_only) {
        add_note(out, "no_tensors",
                 "the file has no tensors: parameters, bytes of the weights "
                 "and steps are not known");
        return status_ok();
    }
    TRY(allocate_steps(out));
    if (request->decode) {
        TRY(compute_phase(out, STEP_DECODE));
    }
    return request->prefill ? compute_phase(out, STEP_PREFILL) : status_ok();
}

struct status model_answer_compute(struct model_answer *out, const struct model *model,
                                   const struct model_request *request)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    out->request = request;
    out->dtype = request->step.dtype == DTYPE_STORED ? model->dtype : request->step.dtype;
    model_count(&out->counts, model);
    out->weight_bytes =
        model->shape_only ? (double)NAN : (double)model_weight_bytes(model, request->step.dtype);
    for (uint32_t i = 0; i < model->note_count; i++) {
        if (!is_settled(&model->notes[i], request)) {
            add_note(out, model->notes[i].code, model->notes[i].text);
        }
    }
    TRY(compute_steps(out));
    for (uint32_t i = 0; i < model->block_count; i++) {
        out->kv_bytes_per_token +=
            model->blocks[i].layers *
            step_kv_row_bytes(&model->blocks[i].attention, request->step.kv_dtype);
    }
    note_beyond_training(out);
    note_experts(out);
    note_fallback(out);
    return compute_extras(out);
}

void model_answer_free(struct model_answer *answer)
{
    free(answer->steps);
    answer->steps = NULL;
}
