#ifndef PROFILER_COUNTER_RESOLVE_H
#define PROFILER_COUNTER_RESOLVE_H

/** From rows of an event table to the events of this machine: names for libpfm4, codes and types
 *  for the kernel, one for each box and socket. Opens nothing. */

#include "profiler/counter_source.h"

#include <stddef.h>

enum { COUNTER_RESOLVED_MAX = 512 };

struct counter_resolver {
    const struct event_table *table;
    const char *root;                 /**< for sysfs; "" = here */
    uint32_t sve_bytes;               /**< length of an SVE vector; 0: none */
    const enum counter_fault *banned; /**< one for each row: what its certificate found */
    char papi_pmu[32];                /**< the one of table->pmus that PAPI knows here; "" none */
};

/** All events of a rank of a metric, at most COUNTER_RESOLVED_MAX. Returns their number; 0 with
 *  *fault and what (COUNTER_DETAIL bytes) set if the rank has no rows (FAULT_NO_EVENT), a row is
 *  banned (what it was banned for) or its PMU or alias is not here (FAULT_UNSUPPORTED). */
size_t counter_resolve(struct counter_event *out, enum counter_fault *fault, char *what,
                       const struct counter_resolver *resolver, enum metric metric, unsigned rank);

#endif
