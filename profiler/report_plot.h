#ifndef PROFILER_REPORT_PLOT_H
#define PROFILER_REPORT_PLOT_H

/** The formats that are one drawn roofline. */

#include "profiler/plot_gnuplot.h"
#include "profiler/report_format.h"

/** Lays out the roofline of input and draws it to out. Errors: as plot_roofline() and
 *  plot_render(). */
CHECKED struct status report_plot(FILE *out, const struct report_input *input,
                                  enum plot_target target);

/** The same with characters, in input's columns and colours. */
CHECKED struct status report_plot_text(FILE *out, const struct report_input *input);

#endif
