#ifndef MACHINES_BIND_H
#define MACHINES_BIND_H

/** Where threads run and where memory lies. A binding is read back before it counts. */

#include "machines/machine.h"
#include "roofline/status.h"

/** Opaque: a loaded topology of the running system. Its functions may be called by several threads
 *  at once. */
struct binder;

/** Loads. Errors: UNAVAILABLE, SYSTEM. The caller releases with binder_destroy(). */
CHECKED struct status binder_create(struct binder **out);

/** Releases; accepts NULL. Bindings stay. */
void binder_destroy(struct binder *binder);

/** Writes os cpu indices in the order in which threads should take them, at most
 *  machine->usable_count: first one PU of each usable core, taking turns over the NUMA nodes (so
 *  that every memory controller works), the fastest core kind first; then, with smt, the second
 *  PUs of the cores, and so on. Returns how many: usable_cores, or usable_count with smt. */
size_t bind_order(unsigned *out, const struct machine *machine, bool smt);

/** bind_order() for a wanted number of threads into out[0..threads). Errors: INVALID, naming both
 *  numbers, if threads is 0 or more than there are (with smt off: usable cores). */
CHECKED struct status bind_choose(unsigned *out, const struct machine *machine, unsigned threads,
                                  bool smt);

/** Binds the calling thread to one cpu and checks that the kernel then says so and that the thread
 *  runs there. Errors: UNAVAILABLE, naming the cpu. */
CHECKED struct status bind_thread(const struct binder *binder, unsigned os_index);

/** Where the pages of a range come from, decided at first touch; pages already there are not moved.
 *  The nodes are os indices. */
enum bind_placement {
    BIND_FIRST_TOUCH, /**< the node of the touching thread (the default policy) */
    BIND_ON_NODES,    /**< the nodes given, strictly */
    BIND_INTERLEAVE   /**< page by page over the nodes given */
};

/** Sets the policy of the pages in [address, address + bytes), which is widened to whole pages.
 *  Errors: INVALID without a node where one is needed or for a node that is not there;
 *  UNAVAILABLE if the kernel refuses (a kernel without NUMA; a single node always works). */
CHECKED struct status bind_memory(const struct binder *binder, void *address, size_t bytes,
                                  enum bind_placement placement, const unsigned *nodes,
                                  size_t node_count);

/** Writes the os indices of the nodes that hold pages of the range now, at most size of them, and
 *  their number to *count: 0 if no page was touched yet. Errors: UNAVAILABLE. */
CHECKED struct status bind_nodes_of(unsigned *out, size_t *count, size_t size,
                                    const struct binder *binder, const void *address, size_t bytes);

#endif
