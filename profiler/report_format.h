#ifndef PROFILER_REPORT_FORMAT_H
#define PROFILER_REPORT_FORMAT_H

/** Reports: what a run's results look like in each output format, from the results alone. A format
 *  is one file report/<name>.c that defines `const struct report_format report_<name>`, and one
 *  word in profiler/CMakeLists.txt. Nothing here measures. */

#include "profiler/chart.h"
#include "profiler/command.h"
#include "profiler/results.h"

#include <stdio.h>

struct report_input {
    const struct result_run *runs; /**< at least one */
    size_t run_count;
    const char *const *labels;             /**< one a run, for example its file's name */
    const struct command_context *context; /**< for the documents that a report carries */
    /** The texts of the documents that the runs were read from, one a run, so that what a report
     *  carries is the original. NULL: made from the runs. */
    const char *const *documents;
    const enum chart_picture *picture; /**< svg, png, pdf, txt: draw this one; NULL: the roofline */
    bool hierarchy;    /**< the roofline by levels of memory in place of the roofline */
    bool thinned;      /**< samples were left out of some document */
    bool ends_at_once; /**< reading and drawing are ended by a signal at any instant */
    bool colour;       /**< txt: ANSI colours */
    unsigned columns;  /**< txt: width to keep to; 0 is 110 */
};

struct report_format {
    const char *name;       /**< also the extension of its files */
    const char *summary;    /**< for --help */
    bool shows_samples;     /**< each of them, also of large runs */
    bool carries_documents; /**< report_input.documents */
    /** Writes to out. Errors: UNAVAILABLE if this host lacks what the format needs, INVALID if
     *  the input has nothing that the format can show, SYSTEM. The caller checks out itself. */
    struct status (*write)(FILE *out, const struct report_input *input);
};

/** All formats, ended by NULL. */
const struct report_format *const *report_formats(void);

/** The format whose extension path has. Errors: INVALID naming the extensions there are, behind
 *  others: what the caller takes besides, such as " .json", or "". */
CHECKED struct status report_find(const struct report_format **out, const char *path,
                                  const char *others);

/** Writes the report to path atomically: on any failure the old file stays. Errors: those of
 *  report_find(), of the format, and of output_replace(). */
CHECKED struct status report_save(const char *path, const struct report_input *input);

#endif
