#ifndef PROFILER_PLACEMENT_H
#define PROFILER_PLACEMENT_H

/** Which cpus a team of so many threads runs on. Pure. */

#include "machines/machine.h"
#include "roofline/status.h"

/** OS indices of threads cpus: one per core in the machine's order first, then the cores' second
 *  PUs, and so on. cpus has room for threads. Errors: INVALID, naming the range, if threads is 0
 *  or more than the usable cpus. */
CHECKED struct status placement_cpus(unsigned *cpus, const struct machine *machine,
                                     unsigned threads);

/** One cpu per usable core of a kind (index into core_kinds), and
 *  of a node (os_index); returns how many were written, at most max. */
unsigned placement_cpus_of_kind(unsigned *cpus, unsigned max, const struct machine *machine,
                                unsigned kind);
unsigned placement_cpus_of_node(unsigned *cpus, unsigned max, const struct machine *machine,
                                unsigned node);

#endif
