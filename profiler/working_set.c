#include "profiler/working_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const names[LEVEL_COUNT] = {"L1", "L2", "L3", "DRAM"};

const char *memory_level_name(enum memory_level level)
{
    return names[level];
}

bool memory_level_of_name(enum memory_level *out, const char *name)
{
    for (unsigned i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum memory_level)i;
            return true;
        }
    }
    return false;
}

static const struct machine_cpu *find_cpu(const struct machine *machine, unsigned os_index)
{
    for (size_t i = 0; i < machine->usable_count; i++) {
        if (machine->usable[i].os_index == os_index) {
            return &machine->usable[i];
        }
    }
    return NULL;
}

// Distinct cores among the cpus; every unknown cpu counts as a core of its own.
static unsigned cores_of(const struct machine *machine, const unsigned *cpus, unsigned threads)
{
    unsigned cores = 0;
    for (unsigned i = 0; i < threads; i++) {
        const struct machine_cpu *cpu = find_cpu(machine, cpus[i]);
        bool seen = false;
        for (unsigned j = 0; j < i && cpu != NULL && !seen; j++) {
            const struct machine_cpu *other = find_cpu(machine, cpus[j]);
            seen = other != NULL && other->core == cpu->core;
        }
        cores += seen ? 0 : 1;
    }
    return cores;
}

static unsigned cores_sharing(const struct machine *machine, unsigned level)
{
    unsigned pus_per_core = machine->cores > 0 ? machine->pus / machine->cores : 1;
    unsigned shared = 1;
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct machine_cache *cache = &machine->caches[i];
        if (cache->level == level && cache->type != MACHINE_CACHE_INSTRUCTION &&
            cache->shared_by_pus > shared) {
            shared = cache->shared_by_pus;
        }
    }
    unsigned cores = shared / (pus_per_core > 0 ? pus_per_core : 1);
    return cores > 0 ? cores : 1;
}

// Bytes of a level that these cores have together: neighbours may sit on one instance (the
// cautious assumption for private levels), and no more instances than are reachable count.
static uint64_t level_bytes(const struct machine *machine, unsigned level, unsigned cores)
{
    uint64_t bytes = machine_cache_bytes(machine, level);
    unsigned sharing = cores_sharing(machine, level);
    unsigned instances = (cores + sharing - 1) / sharing;
    unsigned reachable = machine_cache_instances(machine, level);
    instances = reachable > 0 && instances > reachable ? reachable : instances;
    return bytes * instances;
}

static struct status check_sizes(const struct machine *machine, unsigned level)
{
    uint64_t bytes = machine_cache_bytes(machine, level);
    uint64_t inner = level > 1 ? machine_cache_bytes(machine, level - 1) : 0;
    if (bytes == 0) {
        return status_error(STATUS_UNAVAILABLE, "the size of the L%u cache is not told", level);
    }
    // No data cache of one core is below 4 KiB, and no L1 is above 1 MiB.
    if (bytes < 4096 || (level == 1 && bytes > (uint64_t)1 << 20) || (inner > 0 && bytes < inner)) {
        return status_error(STATUS_UNAVAILABLE,
                            "the topology tells an absurd L%u of %" PRIu64 " bytes (L%u: %" PRIu64
                            ")",
                            level, bytes, level - 1, inner);
    }
    return status_ok();
}

bool working_set_sizes_sane(char *why, size_t size, const struct machine *machine)
{
    why[0] = '\0';
    if (machine->cache_count == 0 || machine->llc_total_bytes == 0) {
        (void)snprintf(why, size, "the system tells no last-level cache");
        return false;
    }
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t bytes = machine_cache_bytes(machine, level);
        struct status status = bytes > 0 ? check_sizes(machine, level) : status_ok();
        if (status.code != STATUS_OK || bytes > (uint64_t)1 << 32) {
            (void)snprintf(why, size, "the system tells an absurd L%u of %" PRIu64 " bytes", level,
                           bytes);
            return false;
        }
    }
    return true;
}

static struct status inner_set(struct working_set *out, const struct machine *machine,
                               unsigned level, unsigned cores)
{
    TRY(check_sizes(machine, level));
    uint64_t own = level_bytes(machine, level, cores);
    uint64_t inside = level > 1 ? level_bytes(machine, level - 1, cores) : 0;
    uint64_t least = level == 3 ? 4 * inside : 2 * inside;
    out->bytes = own / 2;
    out->least_bytes = least;
    if (out->bytes < least) {
        return status_error(STATUS_UNAVAILABLE,
                            "half of the L%u (%" PRIu64 " bytes for %u cores) is not clearly more "
                            "than the L%u inside (%" PRIu64 " bytes)",
                            level, out->bytes, cores, level - 1, inside);
    }
    out->plateau_bytes = out->bytes / 2 > least ? out->bytes / 2 : least;
    if (out->plateau_bytes == 0 || out->plateau_bytes == out->bytes) {
        out->plateau_bytes = out->bytes / 4 * 3;
    }
    return status_ok();
}

struct status working_set_of(struct working_set *out, const struct machine *machine,
                             const unsigned *cpus, unsigned threads, enum memory_level level)
{
    memset(out, 0, sizeof *out);
    if (level != LEVEL_DRAM) {
        return inner_set(out, machine, (unsigned)level + 1, cores_of(machine, cpus, threads));
    }
    if (machine->llc_total_bytes == 0) {
        return status_error(STATUS_UNAVAILABLE, "no last-level cache size is told");
    }
    out->bytes = 4 * machine->llc_total_bytes;
    return status_ok();
}
