#ifndef PROFILER_WORKING_SET_H
#define PROFILER_WORKING_SET_H

/** How much memory a measurement must walk so that one level of the memory hierarchy serves it,
 *  from the topology alone. Pure arithmetic; never a fixed buffer size. */

#include "machines/machine.h"
#include "roofline/status.h"

/** Levels in the order of distance. */
enum memory_level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LEVEL_COUNT };

/** "L1", ... "DRAM". Static text. */
const char *memory_level_name(enum memory_level level);

/** Level of a name. False if there is none. */
bool memory_level_of_name(enum memory_level *out, const char *name);

/** Bytes in total over the threads that use them. */
struct working_set {
    uint64_t bytes;         /**< to measure with */
    uint64_t plateau_bytes; /**< a second, smaller size that the same level must serve as fast;
                                 0: none (DRAM) */
    uint64_t least_bytes;   /**< clearly more than the level inside; 0 for L1 and DRAM */
};

/** True if the machine tells sizes to plan with: a last-level cache, no data cache below 4 KiB, no
 *  L1 above 1 MiB, no level smaller than the one inside, none above 4 GiB an instance. Where not,
 *  *why (of size bytes) says what is missing or absurd. */
bool working_set_sizes_sane(char *why, size_t size, const struct machine *machine);

/** For threads bound to cpus (OS indices): an inner level gets half of what these threads have of
 *  it, and must hold clearly more than all of the level inside: L2 at least 2x their L1, L3 at
 *  least 4x their L2. DRAM gets 4x the sum of all last-level caches that the process reaches.
 *  Errors: UNAVAILABLE, saying which size is missing, absurd or too close to its neighbour. */
CHECKED struct status working_set_of(struct working_set *out, const struct machine *machine,
                                     const unsigned *cpus, unsigned threads,
                                     enum memory_level level);

#endif
