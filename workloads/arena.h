#ifndef WORKLOADS_ARENA_H
#define WORKLOADS_ARENA_H

/** One large block of anonymous memory, mapped once, touched once by the threads that will read
 *  it, and reused for every measurement: first touch is slow in VMs. Not thread-safe; the pages
 *  are touched by the caller's threads (first touch decides the NUMA node). */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
    unsigned char *base; /**< aligned to ARENA_ALIGN; NULL if empty */
    size_t bytes;
    void *mapping;
    size_t mapping_bytes;
    bool huge_asked;
    unsigned copies;         /**< of bytes each, one after the other; base is the first */
    const unsigned *copy_of; /**< by thread, which of them it reads; NULL: the first. Borrowed */
    const char *placement;   /**< over the NUMA nodes, for reports; NULL: local. Static text */
};

enum { ARENA_ALIGN = 2 << 20 };

/** Maps bytes (rounded up to ARENA_ALIGN) and asks for transparent huge pages if huge, for base
 *  pages if not. Nothing is touched. Errors: SYSTEM if the kernel refuses. The caller owns the
 *  result and releases it with arena_unmap(). */
CHECKED struct status arena_map(struct arena *out, size_t bytes, bool huge);

/** As arena_map(), with room for several copies of bytes. */
CHECKED struct status arena_map_copies(struct arena *out, size_t bytes, unsigned copies, bool huge);

/** Where a thread's share starts: in the copy that it reads, or in a given one. */
unsigned char *arena_share(const struct arena *arena, unsigned thread, size_t share_bytes);
unsigned char *arena_share_in(const struct arena *arena, unsigned copy, unsigned thread,
                              size_t share_bytes);

/** "local", "interleave", "replicate". Static text. */
const char *arena_placement(const struct arena *arena);

/** Unmaps; an empty arena is accepted. */
void arena_unmap(struct arena *arena);

/** Page size that backs most of the arena's first bytes bytes now, from /proc/self/smaps:
 *  the transparent huge page size where AnonHugePages covers at least half, else the kernel's
 *  page size; 0 if it cannot be read. */
uint64_t arena_page_bytes(const struct arena *arena);

#endif
