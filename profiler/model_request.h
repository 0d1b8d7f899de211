#ifndef PROFILER_MODEL_REQUEST_H
#define PROFILER_MODEL_REQUEST_H

/** What `lmroof model` was asked for, and what it found: plain data between parsing, computing
 *  and the writers (model_json.c, model_text.c, explain.c). */

#include "profiler/command.h"
#include "profiler/option_list.h"
#include "roofline/estimate.h"
#include "roofline/model.h"
#include "roofline/step.h"
#include "roofline/training.h"

struct model_request {
    struct command_input input; /**< first: command_option_error() */
    const char *word;           /**< the MODEL; NULL if not given */
    const char *output;         /**< -o; NULL if not given */
    bool list, json, explain, quiet;
    bool decode, prefill, train;
    struct option_counts batch;
    struct option_counts context;
    struct option_counts prompt;
    struct step_request step; /**< everything but phase, batch, context, prompt */
    struct training_request training;
    double ridge_flop_per_byte; /**< 0: not asked */
};

/** One answer. steps is owned by whoever called model_answer_compute(). */
struct model_answer {
    const struct model *model;
    const struct model_request *request;
    struct model_counts counts;
    double kv_bytes_per_token;
    double weight_bytes;
    enum dtype_id dtype; /**< of the weights, as computed: the model's or --dtype */
    struct step *steps;
    size_t step_count;
    struct training training;            /**< if request->train */
    struct estimate_crossover crossover; /**< if request->ridge_flop_per_byte > 0 */
    uint32_t note_count;
    struct model_note notes[MODEL_NOTES_MAX + 4]; /**< of the model and of the steps */
};

/** Computes every step asked for: phases x batches x contexts x prompts. Errors: INVALID. */
CHECKED struct status model_answer_compute(struct model_answer *out, const struct model *model,
                                           const struct model_request *request);

/** Frees the steps. */
void model_answer_free(struct model_answer *answer);

/** The tables for a terminal. */
void model_print(FILE *out, const struct model_answer *answer);

/** The hand count: formula, numbers put in, result, in a textbook's order. */
void model_explain(FILE *out, const struct model_answer *answer);

/** Writes the document to -o and, with --json, to stdout. */
CHECKED struct status model_write_document(const struct command_context *context,
                                           const struct model_answer *answer);

#endif
