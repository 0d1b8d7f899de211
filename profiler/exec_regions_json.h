#ifndef PROFILER_EXEC_REGIONS_JSON_H
#define PROFILER_EXEC_REGIONS_JSON_H

/** Marked regions on the roofline, as JSON. */

#include "profiler/exec_result.h"

#include <jansson.h>

/** [{"name", "calls", "threads", "seconds", "flop", ..., "roof_fraction"}] */
json_t *exec_regions_json(const struct exec_result *result);

/** {"from", "threads", "name", "bytes_per_s", "flop_per_s", "attainable_flop_per_s"}: the roofs of
 *  place, and which of them holds where `at` was taken. */
json_t *exec_roof_json(const struct exec_placement *place, const struct exec_roof *at);

#endif
