#ifndef PROFILER_PLACE_TEXT_H
#define PROFILER_PLACE_TEXT_H

/** Placements as a table for a terminal. */

#include "profiler/place.h"

#include <stdio.h>

/** A line a point, then the findings. */
void place_print(FILE *out, const struct placement *placement);

#endif
