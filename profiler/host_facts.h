#ifndef PROFILER_HOST_FACTS_H
#define PROFILER_HOST_FACTS_H

/** What a document says of the host and of the conditions it was measured under: everything that
 *  is needed to reproduce it. */

#include "machines/machine.h"
#include "profiler/results.h"
#include "profiler/team.h"
#include "workloads/blas.h"
#include "workloads/isa.h"

/** Adds the machine's facts to run->host. */
void host_facts_add(struct result_run *run, const struct machine *machine, struct isa_set isa);

/** Adds threads, binding, pages asked for, governor, compiler, BLAS and OpenMP environment to
 *  run->conditions. blas and team may be NULL. */
void condition_facts_add(struct result_run *run, const struct machine *machine,
                         const struct team *team, const struct blas *blas);

/** "0-1,4": the cpus of a team in ascending order. Returns out. */
char *host_cpu_list(char *out, size_t bytes, const struct team *team);

#endif
