#include "profiler/topology_text.h"

#include "roofline/units.h"

#include <string.h>

enum { LABEL = 14 };

static const char *or_dash(const char *text)
{
    return text[0] == '\0' ? "-" : text;
}

static const char *bytes_or_dash(char *buffer, uint64_t bytes)
{
    return bytes == 0 ? "-" : units_format_binary(buffer, bytes);
}

static const char *plural(unsigned long count)
{
    return count == 1 ? "" : "s";
}

static void print_cpu(FILE *out, const struct machine *machine)
{
    (void)fprintf(out, "%-*s%s\n", LABEL, "cpu", or_dash(machine->name));
    (void)fprintf(out, "%-*s%s, vendor %s", LABEL, "", or_dash(machine->architecture),
                  or_dash(machine->vendor));
    if (machine->family > 0) {
        (void)fprintf(out, ", family %u, model %u, stepping %u", machine->family, machine->model,
                      machine->stepping);
    } else if (machine->model > 0) {
        (void)fprintf(out, ", part 0x%03x r%up%u", machine->model, machine->stepping >> 4,
                      machine->stepping & 0xf);
    }
    (void)fprintf(out, ", microcode %s\n", or_dash(machine->microcode));
    (void)fprintf(out, "%-*s%s", LABEL, "isa", or_dash(machine->isa));
    if (machine->sve_vector_bytes > 0) {
        (void)fprintf(out, " (SVE vectors of %u bits)", 8 * machine->sve_vector_bytes);
    }
    (void)fprintf(out, "\n%-*s%u package%s, %u NUMA node%s, %u core%s, %u PU%s, %s\n", LABEL,
                  "machine", machine->packages, plural(machine->packages), machine->numa_nodes,
                  plural(machine->numa_nodes), machine->cores, plural(machine->cores), machine->pus,
                  plural(machine->pus), machine->smt ? "SMT" : "no SMT");
    for (size_t i = 0; machine->core_kind_count > 1 && i < machine->core_kind_count; i++) {
        const struct machine_core_kind *kind = &machine->core_kinds[i];
        (void)fprintf(out, "%-*s%u core%s (%u PU%s) of kind %s\n", LABEL, i == 0 ? "kinds" : "",
                      kind->cores, plural(kind->cores), kind->pus, plural(kind->pus),
                      or_dash(kind->name));
    }
}

// The usable cpus as the kernel writes lists: "0-3,8". They are ordered by core, not by index.
static void print_cpu_list(FILE *out, const struct machine *machine)
{
    static const unsigned none = UINT32_MAX;
    unsigned first = none;
    unsigned last = none;
    const char *comma = "";
    for (unsigned cpu = 0; cpu <= MACHINE_CPUS_MAX; cpu++) {
        bool usable = false;
        for (size_t i = 0; i < machine->usable_count && !usable; i++) {
            usable = machine->usable[i].os_index == cpu;
        }
        if (usable) {
            first = first == none ? cpu : first;
            last = cpu;
        } else if (first != none) {
            (void)fprintf(out, last > first ? "%s%u-%u" : "%s%u", comma, first, last);
            comma = ",";
            first = none;
        }
    }
}

static void print_usable(FILE *out, const struct machine *machine)
{
    unsigned threads = machine_default_threads(machine, false);
    (void)fprintf(out, "%-*s%zu cpu%s (", LABEL, "usable", machine->usable_count,
                  plural(machine->usable_count));
    print_cpu_list(out, machine);
    (void)fprintf(out, ") on %u core%s, ", machine->usable_cores, plural(machine->usable_cores));
    if (machine->cpu_quota_cores > 0) {
        (void)fprintf(out, "CFS quota of %.4g cores", machine->cpu_quota_cores);
    } else {
        (void)fprintf(out, "no CFS quota");
    }
    (void)fprintf(out, "; %u thread%s by default\n", threads, plural(threads));
}

static void print_caches(FILE *out, const struct machine *machine)
{
    static const char *const types[] = {[MACHINE_CACHE_DATA] = "data",
                                        [MACHINE_CACHE_INSTRUCTION] = "instruction",
                                        [MACHINE_CACHE_UNIFIED] = "unified"};
    char text[UNITS_TEXT];
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct machine_cache *cache = &machine->caches[i];
        (void)fprintf(out, "%-*sL%u %-11s %9s x %-4u", LABEL, i == 0 ? "caches" : "", cache->level,
                      types[cache->type], bytes_or_dash(text, cache->bytes), cache->instances);
        (void)fprintf(out, " shared by %u PU%s", cache->shared_by_pus,
                      plural(cache->shared_by_pus));
        if (cache->usable_instances != cache->instances) {
            (void)fprintf(out, ", %u usable", cache->usable_instances);
        }
        (void)fprintf(out, "\n");
    }
    if (machine->cache_count == 0) {
        (void)fprintf(out, "%-*snot told (hidden by a hypervisor, firmware or a missing /sys)\n",
                      LABEL, "caches");
    }
    (void)fprintf(out, "%-*s%s of last-level cache in reach\n", LABEL, "",
                  bytes_or_dash(text, machine->llc_total_bytes));
}

static void print_memory(FILE *out, const struct machine *machine)
{
    char text[UNITS_TEXT];
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct machine_node *node = &machine->nodes[i];
        (void)fprintf(out, "%-*snode %-12u %9s%s%s, %u PU%s\n", LABEL, i == 0 ? "memory" : "",
                      node->os_index, units_format_binary(text, node->bytes),
                      node->kind[0] == '\0' ? "" : " ", node->kind, node->pus, plural(node->pus));
    }
    (void)fprintf(out, "%-*s%s available", LABEL, machine->node_count == 0 ? "memory" : "",
                  bytes_or_dash(text, machine->memory_available_bytes));
    if (machine->memory_limit_bytes > 0) {
        (void)fprintf(out, ", control group limit %s",
                      units_format_binary(text, machine->memory_limit_bytes));
    }
    (void)fprintf(out, "\n");
}

static void print_pages(FILE *out, const struct machine *machine)
{
    char base[UNITS_TEXT];
    char transparent[UNITS_TEXT];
    char large[UNITS_TEXT];
    (void)fprintf(out, "%-*sbase %s; transparent huge %s (%s); explicit %s", LABEL, "pages",
                  bytes_or_dash(base, machine->base_page_bytes), or_dash(machine->thp),
                  bytes_or_dash(transparent, machine->thp_bytes),
                  bytes_or_dash(large, machine->huge_page_bytes));
    if (machine->huge_page_bytes > 0) {
        (void)fprintf(out, ", %llu free", (unsigned long long)machine->huge_pages_free);
    }
    (void)fprintf(out, "\n");
}

void topology_print(FILE *out, const struct machine *machine)
{
    print_cpu(out, machine);
    print_usable(out, machine);
    print_caches(out, machine);
    print_memory(out, machine);
    print_pages(out, machine);
    (void)fprintf(out, "%-*svirtualized %s, governor %s, NUMA balancing ", LABEL, "settings",
                  or_dash(machine->virtualized), or_dash(machine->governor));
    if (machine->numa_balancing >= 0) {
        (void)fprintf(out, "%d", machine->numa_balancing);
    } else {
        (void)fprintf(out, "-");
    }
    (void)fprintf(out, ", kernel %s\n", or_dash(machine->kernel));
}
