#ifndef PROFILER_EXEC_SERIES_JSON_H
#define PROFILER_EXEC_SERIES_JSON_H

/** The time series of a watch, and its sums, as JSON. */

#include "profiler/watch.h"

#include <jansson.h>

/** {"user_seconds", "system_seconds", "rss_peak_bytes", faults, switches, "read_bytes",
 *  "write_bytes"} from the beginning to the end. */
json_t *exec_totals_json(const struct watch *watch);

/** {"seconds": [end of each interval], "cpu_seconds": [used in it], ...}: lists of one length;
 *  what was not counted is null with its reason. */
json_t *exec_series_json(const struct watch *watch);

#endif
