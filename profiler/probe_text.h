#ifndef PROFILER_PROBE_TEXT_H
#define PROFILER_PROBE_TEXT_H

/** A machine's ceilings as tables for people. */

#include "profiler/results.h"

#include <stdio.h>

/** Bandwidth, compute, latency, scaling, node matrix and warnings of run, to out. */
void probe_print(FILE *out, const struct result_run *run);

/** The warnings of run alone, of one code two in full, with what to try. Nothing without any. */
void probe_print_warnings(FILE *out, const struct result_run *run);

#endif
