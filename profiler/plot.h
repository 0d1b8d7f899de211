#ifndef PROFILER_PLOT_H
#define PROFILER_PLOT_H

/** The description of a picture, as plain data in axis units: what to draw, not how. Every plot
 *  format (terminal, SVG, PNG, PDF, HTML) renders this one description; tests compare it instead
 *  of pixels. Both axes are logarithmic. Knows nothing of gnuplot, JSON or files. */

#include "profiler/results.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_TEXT = 128, PLOT_TICKS_MAX = 48 };

/** A tick of an axis; without text a minor one. */
struct plot_tick {
    double value;
    char text[40];
};

struct plot_axis {
    char title[PLOT_TEXT];
    double low; /**< > 0 */
    double high;
    struct plot_tick ticks[PLOT_TICKS_MAX];
    size_t tick_count;
};

enum plot_role {
    PLOT_MEMORY, /**< roof of slope 1 */
    PLOT_COMPUTE /**< plateau */
};

/** A roof from (x0, y0) to (x1, y1); the label names it with its rate. */
struct plot_roof {
    char label[PLOT_TEXT];
    enum plot_role role;
    unsigned run; /**< index of the run that measured it */
    bool main;    /**< the pair of roofs that is drawn strong */
    double rate;  /**< bytes/s or FLOP/s */
    double x0, y0, x1, y1;
};

enum plot_mark {
    PLOT_CIRCLE,
    PLOT_SQUARE,
    PLOT_TRIANGLE,
    PLOT_DIAMOND,
    PLOT_INVERTED,
    PLOT_PENTAGON,
    PLOT_MARKS
};

/** A measured point, with what its roof predicts at the same x. */
struct plot_point {
    double x;
    double y;
    double y_low; /**< 95 % interval; NaN unknown */
    double y_high;
    double attainable; /**< predicted y; NaN unknown */
    unsigned colour;   /**< index into colour_keys */
    unsigned mark;     /**< index into mark_keys */
    bool hollow;       /**< some counter ran less than 95 % of the time */
    unsigned run;
    size_t index; /**< of the point in its run */
};

/** A row of the legend. */
struct plot_key {
    char label[PLOT_TEXT];
    unsigned colour; /**< of the palette; for a mark unused */
    enum plot_mark mark;
    char letter; /**< what a terminal draws */
};

/** A short text at a place, for example the batch under its column of points. */
struct plot_note {
    double x, y;
    char text[32];
};

enum { PLOT_KEYS_MAX = 32 };

struct plot {
    char title[PLOT_TEXT];
    char subtitle[256];
    struct plot_axis x;
    struct plot_axis y;
    double ridge; /**< x where the main roofs meet; NaN if they are not both known */
    struct plot_roof *roofs;
    size_t roof_count;
    struct plot_point *points;
    size_t point_count;
    struct plot_note *notes;
    size_t note_count;
    struct plot_key colour_keys[PLOT_KEYS_MAX];
    size_t colour_key_count;
    struct plot_key mark_keys[PLOT_KEYS_MAX];
    size_t mark_key_count;
    size_t skipped; /**< points of the runs that have no place in the picture: a figure is absent */
};

/** The roofline of one run (colours are operators), or of several laid over each other (colours
 *  are runs, named by labels): x the predicted FLOP per byte, y the measured FLOP/s. Errors:
 *  INVALID if there is neither a roof nor a point to draw; SYSTEM. The caller frees out with
 *  plot_free() in either case. */
CHECKED struct status plot_roofline(struct plot *out, const struct result_run *runs,
                                    size_t run_count, const char *const *labels);

/** The hierarchical roofline: every point once for each level of memory whose bytes its counters
 *  told, at the same height, x the FLOP per byte counted there; colours are levels, attainable is
 * by the read roof of that level. The files that are laid over each other may bring the roofs that
 * the run lacks. Errors: INVALID if no point has such a count; SYSTEM. As plot_roofline() else. */
CHECKED struct status plot_hierarchy(struct plot *out, const struct result_run *runs,
                                     size_t run_count, const char *const *labels);

/** Ticks at 1, 2, 5 x 10^n (only 10^n where there would be too many), labelled by
 *  units_format_short(). */
void plot_axis_ticks(struct plot_axis *axis);

/** Moves n <= PLOT_KEYS_MAX positions, sorted downwards, so little that each is at least the
 *  factor gap > 1 below the one before it: labels of plateaus that nearly coincide. */
void plot_spread(double *ys, size_t n, double gap);

/** Releases what the plot owns and zeroes it. */
void plot_free(struct plot *plot);

#endif
