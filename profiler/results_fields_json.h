#ifndef PROFILER_RESULTS_FIELDS_JSON_H
#define PROFILER_RESULTS_FIELDS_JSON_H

/** The keys of results.h's structs: the contract's names, each once. */

#include "profiler/fields_json.h"

extern const struct field result_machine_fields[];
extern const struct field result_point_fields[];
extern const struct field result_step_fields[];
extern const struct field result_crossover_fields[];
extern const struct field result_warning_fields[];

#endif
