#ifndef PROFILER_EXEC_REGIONS_JSON_H
#define PROFILER_EXEC_REGIONS_JSON_H

/** Marked regions on the roofline, as JSON. */

#include "profiler/exec_result.h"

#include <jansson.h>

/** [{"name", "calls", "threads", "seconds", "flop", ..., "roof_fraction"}] */
json_t *exec_regions_json(const struct exec_result *result);

#endif
