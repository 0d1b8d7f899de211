#ifndef PROFILER_PLOT_JSON_H
#define PROFILER_PLOT_JSON_H

/** A struct plot as JSON: what the page of the html format draws, and what tests compare. */

#include "profiler/plot.h"

#include <jansson.h>

/** {"title", "subtitle", "x": {title, low, high, ticks: [[value, text]]}, "y", "ridge",
 *  "roofs": [{label, role, run, main, rate, from: [x, y], to: [x, y]}], "colours": [{label,
 *  colour, letter}], "marks": [{label, mark}], "notes": [[x, y, text]], "skipped", "points":
 *  [[x, y, low, high, attainable, colour, mark, hollow, run, index]]}; null where not known.
 *  NULL if memory is short. */
json_t *plot_to_json(const struct plot *plot);

#endif
