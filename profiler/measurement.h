#ifndef PROFILER_MEASUREMENT_H
#define PROFILER_MEASUREMENT_H

/** What people measured on machines that we know only by data sheet: public figures, each with its
 *  source (machines/data/measurements.tsv), as fractions of the sheet's bound. They give the band
 *  in which a prediction from a sheet lies. */

#include "roofline/status.h"
#include "roofline/step.h"

#include <stdbool.h>
#include <stddef.h>

enum { MEASUREMENTS_MAX = 1024 };

struct measurement {
    char machine[48]; /**< as datasheet_find() takes it */
    char model[48];   /**< as model_load() takes it, or a file of tests/models */
    char dtype[16];
    enum step_phase phase;
    uint64_t context;    /**< decode: tokens cached, mean over the run */
    uint64_t prompt;     /**< prefill */
    double file_bytes;   /**< of the model's file where it is a mixture of types; NaN */
    double tokens_per_s; /**< as published */
    double fraction;     /**< of the bound: tokens_per_s over the bound's */
    char source[160];    /**< address */
};

/** Parses text: a line each, columns by tabs, '#' comments. Returns the count in *count. Errors:
 *  INVALID with line, column, found and accepted. */
CHECKED struct status measurement_parse(struct measurement *out, size_t max, size_t *count,
                                        const char *text, const char *name);

/** The built-in ones. Errors: as measurement_parse(). */
CHECKED struct status measurement_load(struct measurement *out, size_t max, size_t *count);

/** Fractions of the bound that were reached. */
struct measurement_band {
    size_t count; /**< 0: nothing known */
    bool own;     /**< of this machine; else of all machines */
    double low;
    double median;
    double high;
};

/** The band of a machine in a phase: its own measurements if there are at least 3, else those of
 *  all machines. In prefill, where arithmetic limits, only types of the same kind count. machine
 * may carry /CORES and @MT, which do not matter here. */
void measurement_band(struct measurement_band *out, const struct measurement *rows, size_t count,
                      const char *machine, enum step_phase phase, enum dtype_kind kind);

#endif
