#ifndef PROFILER_COMPARISON_TEXT_H
#define PROFILER_COMPARISON_TEXT_H

/** Comparisons as tables for a terminal. */

#include "profiler/comparison.h"

#include <stdio.h>

/** The machines, a block a ceiling, and what is unlike. */
void comparison_print(FILE *out, const struct comparison *comparison);

#endif
