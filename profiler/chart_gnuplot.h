#ifndef PROFILER_CHART_GNUPLOT_H
#define PROFILER_CHART_GNUPLOT_H

/** Renders a struct chart through gnuplot. */

#include "profiler/chart.h"
#include "profiler/plot_gnuplot.h"

/** Draws a picture to out. Errors: as gnuplot_run(). */
CHECKED struct status chart_render(FILE *out, const struct chart *chart, enum plot_target target);

/** Draws with characters. Errors: as gnuplot_run(). */
CHECKED struct status chart_render_text(FILE *out, const struct chart *chart,
                                        struct plot_terminal terminal);

#endif
