#ifndef PROFILER_PREDICTION_TEXT_H
#define PROFILER_PREDICTION_TEXT_H

/** Predictions as tables for a terminal. */

#include "profiler/prediction.h"

#include <stdio.h>

/** A table a step, machines by rank, then the crossovers and what the columns mean. */
void prediction_print(FILE *out, const struct prediction *prediction);

/** Which of at least two machines: how much faster the best is than the next, and which gives the
 *  most for its price where prices are given; by the first step. */
void prediction_print_choice(FILE *out, const struct prediction *prediction);

/** The built-in machines: name, title, channels, cores, peaks. Errors: INVALID if a built-in sheet
 *  is broken. */
CHECKED struct status prediction_list_machines(FILE *out);

#endif
