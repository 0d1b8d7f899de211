#include "machines/bind.h"
#include "machines/topology.h"

#include <hwloc.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct binder {
    hwloc_topology_t topology;
    uintptr_t page_bytes;
};

struct status binder_create(struct binder **out)
{
    *out = NULL;
    struct binder *binder = calloc(1, sizeof *binder);
    if (binder == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a topology");
    }
    long page_bytes = sysconf(_SC_PAGESIZE);
    binder->page_bytes = page_bytes > 0 ? (uintptr_t)page_bytes : 4096;
    struct status status = topology_load_system(&binder->topology);
    if (status.code != STATUS_OK) {
        binder_destroy(binder);
        return status;
    }
    *out = binder;
    return status;
}

void binder_destroy(struct binder *binder)
{
    if (binder != NULL) {
        topology_free(binder->topology);
        free(binder);
    }
}

static struct status bind_and_check(const struct binder *binder, hwloc_bitmap_t set,
                                    hwloc_bitmap_t seen, unsigned os_index)
{
    if (hwloc_set_cpubind(binder->topology, set, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) !=
        0) {
        return status_error(STATUS_UNAVAILABLE, "cannot bind a thread to cpu %u: %s", os_index,
                            strerror(errno));
    }
    int cpu = sched_getcpu();
    bool same = hwloc_get_cpubind(binder->topology, seen, HWLOC_CPUBIND_THREAD) == 0 &&
                hwloc_bitmap_isequal(set, seen);
    if (!same || cpu < 0 || (unsigned)cpu != os_index) {
        return status_error(STATUS_UNAVAILABLE,
                            "a thread bound to cpu %u runs on cpu %d instead: the kernel or a "
                            "sandbox ignores bindings",
                            os_index, cpu);
    }
    return status_ok();
}

struct status bind_thread(const struct binder *binder, unsigned os_index)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();
    struct status status = status_error(STATUS_SYSTEM, "no memory for a cpu set");
    if (set != NULL && seen != NULL && hwloc_bitmap_only(set, os_index) == 0) {
        status = bind_and_check(binder, set, seen, os_index);
    }
    hwloc_bitmap_free(set);
    hwloc_bitmap_free(seen);
    return status;
}

static struct status collect_nodes(hwloc_bitmap_t out, const struct binder *binder,
                                   const unsigned *nodes, size_t node_count)
{
    hwloc_const_bitmap_t known = hwloc_topology_get_topology_nodeset(binder->topology);
    hwloc_bitmap_zero(out);
    for (size_t i = 0; i < node_count; i++) {
        if (nodes[i] >= MACHINE_NODES_MAX || !hwloc_bitmap_isset(known, nodes[i])) {
            return status_error(STATUS_INVALID, "there is no NUMA node %u here", nodes[i]);
        }
        if (hwloc_bitmap_set(out, nodes[i]) != 0) {
            return status_error(STATUS_SYSTEM, "no memory for a node set");
        }
    }
    if (node_count == 0) {
        return status_error(STATUS_INVALID, "memory placement needs at least one NUMA node");
    }
    return status_ok();
}

static struct status place(const struct binder *binder, const void *address, size_t bytes,
                           hwloc_membind_policy_t policy, hwloc_const_bitmap_t nodes)
{
    if (hwloc_set_area_membind(binder->topology, address, bytes, nodes, policy,
                               HWLOC_MEMBIND_BYNODESET) == 0) {
        return status_ok();
    }
    // Kernels without NUMA support know no policies; with one node each policy means the same.
    if (hwloc_get_nbobjs_by_type(binder->topology, HWLOC_OBJ_NUMANODE) <= 1) {
        return status_ok();
    }
    return status_error(STATUS_UNAVAILABLE, "the kernel refuses to place %zu bytes of memory: %s",
                        bytes, strerror(errno));
}

struct status bind_memory(const struct binder *binder, void *address, size_t bytes,
                          enum bind_placement placement, const unsigned *nodes, size_t node_count)
{
    uintptr_t start = (uintptr_t)address & ~(binder->page_bytes - 1);
    size_t widened = bytes + ((uintptr_t)address - start);
    const void *from = (const unsigned char *)address - ((uintptr_t)address - start);
    if (placement == BIND_FIRST_TOUCH) {
        return place(binder, from, widened, HWLOC_MEMBIND_DEFAULT,
                     hwloc_topology_get_topology_nodeset(binder->topology));
    }
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a node set");
    }
    struct status status = collect_nodes(set, binder, nodes, node_count);
    if (status.code == STATUS_OK) {
        status = place(binder, from, widened,
                       placement == BIND_INTERLEAVE ? HWLOC_MEMBIND_INTERLEAVE : HWLOC_MEMBIND_BIND,
                       set);
    }
    hwloc_bitmap_free(set);
    return status;
}

struct status bind_nodes_of(unsigned *out, size_t *count, size_t size, const struct binder *binder,
                            const void *address, size_t bytes)
{
    *count = 0;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a node set");
    }
    int error =
        hwloc_get_area_memlocation(binder->topology, address, bytes, set, HWLOC_MEMBIND_BYNODESET);
    for (int node = hwloc_bitmap_first(set); error == 0 && node >= 0 && *count < size;
         node = hwloc_bitmap_next(set, node)) {
        out[(*count)++] = (unsigned)node;
    }
    hwloc_bitmap_free(set);
    return error == 0 ? status_ok()
                      : status_error(STATUS_UNAVAILABLE, "cannot see where memory lies: %s",
                                     strerror(errno));
}
