#ifndef PROFILER_SESSION_MEMORY_H
#define PROFILER_SESSION_MEMORY_H

/** The arena of a session on the machine's NUMA nodes. */

#include "profiler/session.h"

/** "local", "interleave" or "replicate"; false for another word. */
bool session_numa_find(enum session_numa *out, const char *word);
const char *session_numa_name(enum session_numa numa);

/** Warns where the machine makes options that were given mean nothing: --numa on one node, --smt on
 *  without siblings. */
void session_memory_note(struct result_run *run, const struct session *session);

/** Copies of the measured data: one a node that has threads if replicated, else 1. The cpus must
 *  be chosen. */
unsigned session_memory_copies(const struct session *session);

/** Maps bytes of arena for each copy and asks the kernel to place them; nothing is touched. Errors:
 *  UNAVAILABLE if the copies are more than the memory that is there, with the numbers, or if the
 *  kernel refuses; SYSTEM. */
CHECKED struct status session_memory_map(struct session *session, uint64_t bytes);

/** After the arena was touched: whether its pages lie where they were asked to. Errors:
 *  UNAVAILABLE, naming the nodes, if they do not. A kernel that does not tell is believed. */
CHECKED struct status session_memory_check(const struct session *session);

#endif
