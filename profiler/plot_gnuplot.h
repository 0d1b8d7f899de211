#ifndef PROFILER_PLOT_GNUPLOT_H
#define PROFILER_PLOT_GNUPLOT_H

/** Renders a struct plot through gnuplot. */

#include "profiler/plot.h"

#include <stdio.h>

enum plot_target { PLOT_SVG, PLOT_PNG, PLOT_PDF };

/** Draws a picture to out. Errors: as gnuplot_run(). */
CHECKED struct status plot_render(FILE *out, const struct plot *plot, enum plot_target target);

/** How a terminal is drawn to. */
struct plot_terminal {
    unsigned columns; /**< at least 60 */
    bool colour;      /**< ANSI sequences */
};

/** Draws with characters, and a legend below. Errors: as gnuplot_run(). */
CHECKED struct status plot_render_text(FILE *out, const struct plot *plot,
                                       struct plot_terminal terminal);

#endif
