#ifndef PROFILER_CHART_JSON_H
#define PROFILER_CHART_JSON_H

/** A struct chart as JSON: what the page of the html format draws, and what tests compare. */

#include "profiler/chart.h"

#include <jansson.h>

/** {"name", "title", "x_title", "y_title", "log_x", "bars", "stacked", "categories": [text],
 *  "series": [{"label", "bound", "points": [[x, y, low, high]]}]}; null where not known. NULL if
 *  memory is short. */
json_t *chart_to_json(const struct chart *chart);

#endif
