#ifndef PROFILER_CHART_H
#define PROFILER_CHART_H

/** Pictures beside the roofline, as plain data in SI units: what to draw, not how. gnuplot and the
 *  page of the html format render this one description; tests compare it instead of pixels. */

#include "profiler/results.h"
#include "roofline/status.h"

#include <stddef.h>

enum chart_picture {
    CHART_BATCH,     /**< tokens/s of decode over sequences */
    CHART_CONTEXT,   /**< tokens/s of decode over cached tokens */
    CHART_THREADS,   /**< bytes/s over threads; tokens/s of runs that had several */
    CHART_OPERATORS, /**< a step's time by operator: stacked shares; its seconds in the category */
    CHART_LEVELS,    /**< bytes/s by level of memory: the hierarchy of roofs */
    CHART_PICTURES
};

enum { CHART_TEXT = 128, CHART_SERIES_MAX = 24, CHART_CATEGORIES_MAX = 48 };

/** low and high: 95 % interval; NaN unknown. Of bars x is the index of the category. */
struct chart_point {
    double x, y, low, high;
};

struct chart_series {
    char label[CHART_TEXT];
    bool bound; /**< a bound, not a measurement: drawn dashed */
    struct chart_point *points;
    size_t count;
};

struct chart {
    enum chart_picture picture;
    bool bars;    /**< over categories; else lines */
    bool stacked; /**< bars on top of each other; else side by side */
    char title[CHART_TEXT];
    char x_title[CHART_TEXT]; /**< with unit */
    char y_title[CHART_TEXT];
    bool log_x; /**< base 2 */
    char categories[CHART_CATEGORIES_MAX][CHART_TEXT];
    size_t category_count;
    struct chart_series series[CHART_SERIES_MAX];
    size_t series_count;
};

/** "batch", "context", "threads", "operators", "levels". Static text. */
const char *chart_name(enum chart_picture picture);

/** The picture of that name; CHART_PICTURES if unknown. */
enum chart_picture chart_find(const char *name);

/** Makes a picture from runs; labels name them where there are several. What is beyond the limits
 *  above is left out. The caller frees out in either case. Errors: INVALID if the runs hold nothing
 *  for it, with what would; SYSTEM. */
CHECKED struct status chart_make(struct chart *out, enum chart_picture picture,
                                 const struct result_run *runs, size_t run_count,
                                 const char *const *labels);

/** Releases what it owns and zeroes it. */
void chart_free(struct chart *chart);

#endif
