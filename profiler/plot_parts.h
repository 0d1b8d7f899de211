#ifndef PROFILER_PLOT_PARTS_H
#define PROFILER_PLOT_PARTS_H

/** The parts that plot_roofline() is made of; for its own files only. */

#include "profiler/plot.h"

/** Finite and above 0: has a place on a logarithmic axis. */
bool plot_drawable(double value);

/** A reading that is there and drawable. */
bool plot_present(const struct reading *reading);

/** Adds the roofs of all runs, not yet placed: the best load of each level, the best class of each
 *  kind and dtype that the points use. Errors: SYSTEM. */
CHECKED struct status plot_add_roofs(struct plot *plot, const struct result_run *runs,
                                     size_t run_count);

/** Gives each roof its ends within the ranges and the main pair its weight; sets the ridge. */
void plot_place_roofs(struct plot *plot);

/** Highest (or lowest) rate of a role in a run; NaN if it has none. */
double plot_extreme_rate(const struct plot *plot, unsigned run, enum plot_role role, bool highest);

/** Adds the points of all runs with their keys. Errors: SYSTEM. */
CHECKED struct status plot_add_points(struct plot *plot, const struct result_run *runs,
                                      size_t run_count, const char *const *labels);

/** The key of a point's mark: phase and dtype. */
unsigned plot_add_mark(struct plot *plot, const struct result_point *point);

/** Adds a note, a little lower where something is; leaves it out where there is no room. The notes
 *  are allocated for PLOT_KEYS_MAX. */
void plot_add_note(struct plot *plot, struct plot_note note);

/** Adds the points of all runs once for each level whose bytes were counted. Errors: INVALID if
 *  there is none; SYSTEM. */
CHECKED struct status plot_add_levels(struct plot *plot, const struct result_run *runs,
                                      size_t run_count, const char *const *labels);

/** Names the points of a single run that plot_add_levels() added. Errors: SYSTEM. */
CHECKED struct status plot_add_level_notes(struct plot *plot, const struct result_run *run);

/** Adds the batch (or tokens) under each column of points of a single run. Errors: SYSTEM. */
CHECKED struct status plot_add_notes(struct plot *plot, const struct result_run *run);

#endif
