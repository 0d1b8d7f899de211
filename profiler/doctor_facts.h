#ifndef PROFILER_DOCTOR_FACTS_H
#define PROFILER_DOCTOR_FACTS_H

/** Reads what doctor_examine() needs beyond the machine: kernel settings, limits of this process
 *  and, where readable, the firmware's table of memory modules. */

#include "profiler/doctor.h"

#include <stddef.h>

/** Fills all but machine (which is set), blas, blas_absent and threads from files below root (""
 *  for the running system, NULL where there are none: nothing is known then). */
void doctor_facts_read(struct doctor_facts *out, const char *root);

/** The whole visit of this system: reads the facts, adds the findings to run->warnings and what
 *  is known of the memory modules to run->host. blas may be NULL, then blas_absent says why.
 *  threads: how many measure. */
void doctor_visit(struct result_run *run, const struct machine *machine, const struct blas *blas,
                  const char *blas_absent, unsigned threads);

/** The same of a machine that nothing is measured on: root as in doctor_facts_read(). */
void doctor_visit_root(struct result_run *run, const struct machine *machine, const char *root);

#endif
