#ifndef PROFILER_REPORT_DATA_JSON_H
#define PROFILER_REPORT_DATA_JSON_H

/** What a page carries: the plot's description and the documents that it is drawn from. */

#include "profiler/report_format.h"

/** Writes {"plot": {...} or null with "no_plot" the reason, "thinned": bool, "runs": [{"label",
 *  "document"}]}, JSON in which no '<' occurs, so that it can stand in a script element.
 *  thinned: samples have been left out of a large document. Errors: SYSTEM. */
CHECKED struct status report_data_write(FILE *out, const struct report_input *input);

#endif
