#ifndef PROFILER_RUN_SWEEP_H
#define PROFILER_RUN_SWEEP_H

/** A run at several numbers of threads: one whole run after the other, each with its own team,
 *  memory and roofs, gathered in one result, and what the threads bring. */

#include "profiler/command.h"
#include "profiler/results.h"
#include "roofline/status.h"

/** Appends a run's points (their ids end in "/t" and its threads), steps, roofs, certificates and
 *  warnings to all. Facts, name and times are taken from the first run, crossovers from the last.
 *  Errors: SYSTEM. */
CHECKED struct status run_sweep_add(struct result_run *all, const struct result_run *run);

/** Fills all->sweeps from its steps, where they were run as a whole, else from its operators, and
 *  their knees: the fewest threads that reach 95 % of the most tokens/s, absent if those are the
 *  most threads or some were not measured. */
void run_sweep_summary(struct result_run *all);

/** Writes the document of run, after those of the earlier runs of a sweep (before NULL: it stands
 *  alone), to path. */
CHECKED struct status run_sweep_save(const struct result_run *before, const struct result_run *run,
                                     const struct command_context *context, const char *path);

#endif
