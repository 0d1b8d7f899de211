#ifndef PROFILER_PREDICTION_JSON_H
#define PROFILER_PREDICTION_JSON_H

/** Predictions as JSON: the document of `predict` and the part of `compare`. */

#include "profiler/command.h"
#include "profiler/prediction.h"

#include <jansson.h>

/** {name, family, dtype, parameters, weight_bytes}. */
json_t *prediction_model_json(const struct prediction *prediction);

/** One machine: its source, steps, crossovers and, with a price, tokens per unit of money. */
json_t *prediction_machine_json(const struct prediction *prediction,
                                const struct prediction_machine *machine);

/** Appends what the user must know to the document's warnings: the model's notes, data sheets
 *  beside measured machines, machines without a roof. */
void prediction_warn(json_t *document, const struct prediction *prediction);

/** Writes lmroof.prediction/1 to path (may be NULL) and, with to_stdout, to context->out. Errors:
 *  as document_write(). */
CHECKED struct status prediction_write(const struct command_context *context,
                                       const struct prediction *prediction, const char *path,
                                       bool to_stdout);

#endif
