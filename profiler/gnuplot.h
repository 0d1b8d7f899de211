#ifndef PROFILER_GNUPLOT_H
#define PROFILER_GNUPLOT_H

/** Runs the plotting program gnuplot as a child, without a shell. */

#include "roofline/status.h"

#include <stdio.h>

/** Feeds script (rewound here) to gnuplot and copies what it draws to out; the user's gnuplot
 *  settings are not read. Errors: UNAVAILABLE with the package's name if gnuplot is not installed;
 *  SYSTEM with gnuplot's own words if it fails, or if out cannot be written. */
CHECKED struct status gnuplot_run(FILE *out, FILE *script);

/** The same for a drawing of characters, with heading in front: without the form feed that gnuplot
 *  starts with, the blanks that it ends lines with, and empty lines. */
CHECKED struct status gnuplot_run_text(FILE *out, FILE *script, const char *heading);

/** text as a gnuplot string: in single quotes, where nothing is substituted or expanded; control
 *  characters become blanks. */
void gnuplot_quote(FILE *script, const char *text);

#endif
