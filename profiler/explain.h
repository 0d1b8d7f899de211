#ifndef PROFILER_EXPLAIN_H
#define PROFILER_EXPLAIN_H

/** Pieces of the hand count that explain.c (parameters, memory) and explain_step.c (steps) share.
 */

#include "profiler/model_request.h"

/** Enough for any number that explain_number() writes. */
enum { EXPLAIN_NUMBER = 64 };

/** A whole number with commas between groups of three, and any above a million rounded to one;
 *  smaller ones with six digits. Returns out. */
char *explain_number(char *out, double value);

/** "  NAME  FORMULA" and, indented below, "= NUMBERS = RESULT UNIT". */
void explain_line(FILE *out, const char *name, const char *formula, const char *numbers,
                  double result, const char *unit);

/** The steps of the answer: products, attention, bytes, intensity. */
void explain_steps(FILE *out, const struct model_answer *answer);

/** Training, if it was asked for. */
void explain_training(FILE *out, const struct model_answer *answer);

#endif
