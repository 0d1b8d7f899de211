#ifndef PROFILER_DOCTOR_RULES_H
#define PROFILER_DOCTOR_RULES_H

/** The rules of doctor_examine() by what they look at. */

#include "profiler/doctor.h"

/** Pages, modules, nodes, limits and swap. */
void doctor_examine_memory(struct result_run *run, const struct doctor_facts *facts);

/** Clocks, instruction sets and what is told of caches and counters. */
void doctor_examine_core(struct result_run *run, const struct doctor_facts *facts);

#endif
