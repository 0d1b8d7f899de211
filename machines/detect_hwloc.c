#include "machines/rootfs.h"
#include "machines/topology.h"

#include <hwloc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// First info of that name on the object, its parents or the first package; NULL if none.
static const char *find_info(hwloc_topology_t topology, const char *name)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *value = package == NULL ? NULL : hwloc_obj_get_info_by_name(package, name);
    return value != NULL ? value : hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), name);
}

static void copy_info(char *out, size_t size, hwloc_topology_t topology, const char *name)
{
    const char *value = find_info(topology, name);
    (void)snprintf(out, size, "%s", value == NULL ? "" : value);
}

static unsigned number_info(hwloc_topology_t topology, const char *name)
{
    const char *text = find_info(topology, name);
    uint64_t value = 0;
    bool told = text != NULL && rootfs_parse_u64(&value, text) && value <= UINT32_MAX;
    return told ? (unsigned)value : 0;
}

static void fill_identity(struct machine *out, hwloc_topology_t topology)
{
    copy_info(out->name, sizeof out->name, topology, "CPUModel");
    copy_info(out->vendor, sizeof out->vendor, topology, "CPUVendor");
    copy_info(out->architecture, sizeof out->architecture, topology, "Architecture");
    copy_info(out->kernel, sizeof out->kernel, topology, "OSRelease");
    copy_info(out->hwloc_version, sizeof out->hwloc_version, topology, "hwlocVersion");
    out->family = number_info(topology, "CPUFamilyNumber");
    out->model = number_info(topology, "CPUModelNumber");
    out->stepping = number_info(topology, "CPUStepping");
    if (out->vendor[0] == '\0') {
        copy_info(out->vendor, sizeof out->vendor, topology, "CPUImplementer");
        out->model = number_info(topology, "CPUPart");
        out->stepping =
            number_info(topology, "CPUVariant") << 4 | number_info(topology, "CPURevision");
    }
}

static unsigned count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n > 0 ? (unsigned)n : 0;
}

static struct status fill_counts(struct machine *out, hwloc_topology_t topology)
{
    out->packages = count_of(topology, HWLOC_OBJ_PACKAGE);
    out->numa_nodes = count_of(topology, HWLOC_OBJ_NUMANODE);
    out->cores = count_of(topology, HWLOC_OBJ_CORE);
    out->pus = count_of(topology, HWLOC_OBJ_PU);
    if (out->pus == 0 || out->pus > MACHINE_CPUS_MAX || out->numa_nodes > MACHINE_NODES_MAX) {
        return status_error(STATUS_INVALID,
                            "%u PUs and %u NUMA nodes, accepted 1 to %d and at most %d", out->pus,
                            out->numa_nodes, MACHINE_CPUS_MAX, MACHINE_NODES_MAX);
    }
    for (unsigned i = 0; i < out->cores; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, i);
        out->smt = out->smt || (core != NULL && hwloc_bitmap_weight(core->cpuset) > 1);
    }
    return status_ok();
}

static enum machine_cache_type cache_type(hwloc_obj_t object)
{
    switch (object->attr->cache.type) {
    case HWLOC_OBJ_CACHE_DATA:
        return MACHINE_CACHE_DATA;
    case HWLOC_OBJ_CACHE_INSTRUCTION:
        return MACHINE_CACHE_INSTRUCTION;
    case HWLOC_OBJ_CACHE_UNIFIED:
        break;
    }
    return MACHINE_CACHE_UNIFIED;
}

static struct machine_cache *cache_row(struct machine *out, hwloc_obj_t object)
{
    unsigned level = object->attr->cache.depth;
    enum machine_cache_type type = cache_type(object);
    for (size_t i = 0; i < out->cache_count; i++) {
        struct machine_cache *row = &out->caches[i];
        if (row->level == level && row->type == type && row->bytes == object->attr->cache.size) {
            return row;
        }
    }
    if (out->cache_count == MACHINE_CACHES_MAX) {
        return NULL;
    }
    out->caches[out->cache_count] =
        (struct machine_cache){.level = level, .type = type, .bytes = object->attr->cache.size};
    return &out->caches[out->cache_count++];
}

// True if no other data cache lies between this one and memory.
static bool is_last_level(hwloc_obj_t cache)
{
    for (hwloc_obj_t up = cache->parent; up != NULL; up = up->parent) {
        if (hwloc_obj_type_is_dcache(up->type)) {
            return false;
        }
    }
    return hwloc_obj_type_is_dcache(cache->type);
}

static struct status add_cache(struct machine *out, bool *llc_told, hwloc_obj_t object,
                               hwloc_const_cpuset_t usable)
{
    bool reached = hwloc_bitmap_intersects(object->cpuset, usable);
    int weight = hwloc_bitmap_weight(object->cpuset);
    if (reached && is_last_level(object)) {
        out->llc_total_bytes += object->attr->cache.size;
        *llc_told = *llc_told && object->attr->cache.size > 0;
    }
    if (object->attr->cache.depth > 3) {
        return status_ok(); // the contract's levels end at 3; it still counts as last level
    }
    struct machine_cache *row = cache_row(out, object);
    if (row == NULL) {
        return status_error(STATUS_INVALID, "more than %d kinds of caches", MACHINE_CACHES_MAX);
    }
    row->instances++;
    row->usable_instances += reached;
    if (weight > 0 && (unsigned)weight > row->shared_by_pus) {
        row->shared_by_pus = (unsigned)weight;
    }
    return status_ok();
}

static int by_level_and_type(const void *a, const void *b)
{
    const struct machine_cache *x = a;
    const struct machine_cache *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    if (x->type != y->type) {
        return x->type < y->type ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static struct status fill_caches(struct machine *out, hwloc_topology_t topology,
                                 hwloc_const_cpuset_t usable)
{
    static const hwloc_obj_type_t types[] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,  HWLOC_OBJ_L3CACHE,  HWLOC_OBJ_L4CACHE,
        HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3ICACHE};
    bool llc_told = true;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, types[t], NULL);
             cache != NULL; cache = hwloc_get_next_obj_by_type(topology, types[t], cache)) {
            TRY(add_cache(out, &llc_told, cache, usable));
        }
    }
    if (!llc_told) {
        out->llc_total_bytes = 0;
    }
    qsort(out->caches, out->cache_count, sizeof *out->caches, by_level_and_type);
    return status_ok();
}

// The kernel's own list, where there is one: hwloc gives a memory-only node the nearest cpus.
static unsigned node_pus(hwloc_obj_t node, hwloc_topology_t topology, const char *root)
{
    char text[ROOTFS_PATH];
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int weight = hwloc_bitmap_weight(node->cpuset);
    if (set != NULL && root != NULL &&
        rootfs_read(text, sizeof text, root, "/sys/devices/system/node/node%u/cpulist",
                    node->os_index) &&
        (text[0] == '\0' || hwloc_bitmap_list_sscanf(set, text) == 0)) {
        hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(topology));
        weight = hwloc_bitmap_weight(set);
    }
    hwloc_bitmap_free(set);
    return weight > 0 ? (unsigned)weight : 0;
}

static void fill_nodes(struct machine *out, hwloc_topology_t topology, const char *root)
{
    hwloc_obj_t node = NULL;
    while (out->node_count < out->numa_nodes &&
           (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        struct machine_node *to = &out->nodes[out->node_count++];
        to->os_index = node->os_index;
        to->bytes = node->attr->numanode.local_memory;
        to->pus = node_pus(node, topology, root);
        (void)snprintf(to->kind, sizeof to->kind, "%s", node->subtype == NULL ? "" : node->subtype);
        if (out->base_page_bytes == 0 && node->attr->numanode.page_types_len > 0) {
            out->base_page_bytes = node->attr->numanode.page_types[0].size;
        }
    }
}

static void name_kind(struct machine_core_kind *out, const struct hwloc_info_s *infos, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(infos[i].name, "CoreType") == 0) {
            (void)snprintf(out->name, sizeof out->name, "%s", infos[i].value);
        } else if (strcmp(infos[i].name, "LinuxCapacity") == 0 && out->name[0] == '\0') {
            (void)snprintf(out->name, sizeof out->name, "capacity %s", infos[i].value);
        }
    }
}

static struct status fill_kinds(struct machine *out, hwloc_topology_t topology)
{
    int count = hwloc_cpukinds_get_nr(topology, 0);
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a cpu set");
    }
    for (int i = 0; i < count && i < MACHINE_KINDS_MAX; i++) {
        struct machine_core_kind *kind = &out->core_kinds[i];
        struct hwloc_info_s *infos = NULL;
        unsigned info_count = 0;
        if (hwloc_cpukinds_get_info(topology, (unsigned)i, set, NULL, &info_count, &infos, 0) !=
            0) {
            break;
        }
        name_kind(kind, infos, info_count);
        int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE);
        int pus = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU);
        kind->cores = cores > 0 ? (unsigned)cores : 0;
        kind->pus = pus > 0 ? (unsigned)pus : 0;
        out->core_kind_count++;
    }
    hwloc_bitmap_free(set);
    return status_ok();
}

// What this process may run on: the topology's allowed cpus within the affinity mask.
static struct status find_usable(hwloc_bitmap_t out, hwloc_topology_t topology, const char *root)
{
    char text[ROOTFS_PATH];
    char list[ROOTFS_PATH / 2];
    bool bound = false;
    if (hwloc_topology_is_thissystem(topology)) {
        bound = hwloc_get_cpubind(topology, out, HWLOC_CPUBIND_THREAD) == 0;
    } else if (root != NULL) {
        bound = rootfs_read(text, sizeof text, root, "/proc/self/status") &&
                rootfs_line_value(list, sizeof list, text, "Cpus_allowed_list") &&
                hwloc_bitmap_list_sscanf(out, list) == 0;
    }
    if (!bound) {
        hwloc_bitmap_fill(out);
    }
    hwloc_bitmap_and(out, out, hwloc_topology_get_allowed_cpuset(topology));
    if (hwloc_bitmap_iszero(out)) {
        return status_error(STATUS_INVALID, "no cpu is usable: the affinity mask and the "
                                            "allowed cpus have none in common");
    }
    return status_ok();
}

static unsigned nearest_node(hwloc_topology_t topology, hwloc_obj_t pu)
{
    unsigned fallback = 0;
    bool any = false;
    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL;) {
        if (!hwloc_bitmap_isset(pu->nodeset, node->os_index)) {
            continue;
        }
        if (node->attr->numanode.local_memory > 0) {
            return node->os_index;
        }
        fallback = any ? fallback : node->os_index;
        any = true;
    }
    return fallback;
}

static unsigned ancestor_index(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type,
                               unsigned fallback)
{
    hwloc_obj_t up = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return up == NULL ? fallback : up->logical_index;
}

// PUs come in logical order, so those of one core follow each other.
static struct status fill_usable(struct machine *out, hwloc_topology_t topology,
                                 hwloc_const_cpuset_t usable)
{
    out->usable = calloc(out->pus, sizeof *out->usable);
    if (out->usable == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %u cpus", out->pus);
    }
    for (hwloc_obj_t pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, NULL); pu != NULL;
         pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) {
        if (!hwloc_bitmap_isset(usable, pu->os_index)) {
            continue;
        }
        const struct machine_cpu *last =
            out->usable_count > 0 ? &out->usable[out->usable_count - 1] : NULL;
        struct machine_cpu *cpu = &out->usable[out->usable_count++];
        int kind = hwloc_cpukinds_get_by_cpuset(topology, pu->cpuset, 0);
        cpu->os_index = pu->os_index;
        cpu->core = ancestor_index(topology, pu, HWLOC_OBJ_CORE, pu->logical_index);
        cpu->package = ancestor_index(topology, pu, HWLOC_OBJ_PACKAGE, 0);
        cpu->node = nearest_node(topology, pu);
        cpu->kind = kind > 0 && kind < MACHINE_KINDS_MAX ? (unsigned)kind : 0;
        bool sibling = last != NULL && last->core == cpu->core;
        cpu->smt_index = sibling ? last->smt_index + 1 : 0;
        out->usable_cores += !sibling;
    }
    return status_ok();
}

struct status topology_fill(struct machine *out, struct hwloc_topology *topology, const char *root)
{
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    if (usable == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a cpu set");
    }
    struct status status = fill_counts(out, topology);
    if (status.code == STATUS_OK) {
        fill_identity(out, topology);
        fill_nodes(out, topology, root);
        status = find_usable(usable, topology, root);
    }
    if (status.code == STATUS_OK) {
        status = fill_kinds(out, topology);
    }
    if (status.code == STATUS_OK) {
        status = fill_caches(out, topology, usable);
    }
    if (status.code == STATUS_OK) {
        status = fill_usable(out, topology, usable);
    }
    hwloc_bitmap_free(usable);
    return status;
}
