#include "profiler/topology_json.h"

#include "profiler/document_json.h"

#include <stdio.h>
#include <string.h>

// What the source of the description cannot tell, in words for why_absent.
static const char *silence(const struct machine *machine, const char *running)
{
    return machine->origin == MACHINE_XML ? "an hwloc XML file does not tell" : running;
}

static void put_text_or_why(json_t *object, const char *key, const char *text, const char *why)
{
    if (text[0] != '\0') {
        json_put_text(object, key, text);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, why, NULL);
    }
}

static void put_number_or_why(json_t *object, const char *key, uint64_t value, bool told,
                              const char *why)
{
    if (told) {
        json_put_count(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, why, NULL);
    }
}

static void put_bytes_or_why(json_t *object, const char *key, uint64_t bytes, const char *why)
{
    put_number_or_why(object, key, bytes, bytes > 0, why);
}

static json_t *put_object(json_t *object, const char *key)
{
    json_t *child = json_object();
    (void)json_object_set_new(object, key, child);
    return child;
}

static json_t *add_row(json_t *array)
{
    json_t *row = json_object();
    (void)json_array_append_new(array, row);
    return row;
}

static json_t *put_array(json_t *object, const char *key)
{
    json_t *child = json_array();
    (void)json_object_set_new(object, key, child);
    return child;
}

static void put_cpu(json_t *object, const struct machine *machine)
{
    const char *why = silence(machine, "/proc/cpuinfo does not tell");
    json_t *cpu = put_object(object, "cpu");
    put_text_or_why(cpu, "name", machine->name, why);
    put_text_or_why(cpu, "architecture", machine->architecture, why);
    put_text_or_why(cpu, "vendor", machine->vendor, why);
    put_number_or_why(cpu, "family", machine->family, machine->family > 0, why);
    bool identified = machine->model > 0 || machine->family > 0;
    put_number_or_why(cpu, "model", machine->model, identified, why);
    put_number_or_why(cpu, "stepping", machine->stepping, identified, why);
    put_text_or_why(cpu, "microcode", machine->microcode, why);
}

static void put_kinds(json_t *object, const struct machine *machine)
{
    json_t *kinds = put_array(object, "core_kinds");
    for (size_t i = 0; i < machine->core_kind_count; i++) {
        const struct machine_core_kind *kind = &machine->core_kinds[i];
        json_t *row = add_row(kinds);
        put_text_or_why(row, "name", kind->name, "the system names no kind of core");
        json_put_count(row, "cores", kind->cores);
        json_put_count(row, "pus", kind->pus);
    }
}

static void put_caches(json_t *object, const struct machine *machine)
{
    static const char *const types[] = {[MACHINE_CACHE_DATA] = "data",
                                        [MACHINE_CACHE_INSTRUCTION] = "instruction",
                                        [MACHINE_CACHE_UNIFIED] = "unified"};
    json_t *caches = put_array(object, "caches");
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct machine_cache *cache = &machine->caches[i];
        json_t *row = add_row(caches);
        json_put_count(row, "cache_level", cache->level);
        json_put_text(row, "type", types[cache->type]);
        put_bytes_or_why(row, "bytes", cache->bytes, "the system does not tell this size");
        json_put_count(row, "instances", cache->instances);
        json_put_count(row, "usable_instances", cache->usable_instances);
        json_put_count(row, "shared_by_pus", cache->shared_by_pus);
    }
}

static void put_memory(json_t *object, const struct machine *machine)
{
    json_t *memory = put_array(object, "memory");
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct machine_node *node = &machine->nodes[i];
        json_t *row = add_row(memory);
        json_put_count(row, "node", node->os_index);
        json_put_count(row, "bytes", node->bytes);
        json_put_count(row, "pus", node->pus);
        put_text_or_why(row, "kind", node->kind, "firmware and kernel name no kind of memory");
    }
    put_bytes_or_why(object, "memory_available_bytes", machine->memory_available_bytes,
                     silence(machine, "/proc/meminfo has no MemAvailable"));
    put_bytes_or_why(object, "memory_limit_bytes", machine->memory_limit_bytes,
                     silence(machine, "no control group limits memory"));
    put_bytes_or_why(object, "llc_total_bytes", machine->llc_total_bytes,
                     "the size of a last-level cache is not told");
}

static void put_pages(json_t *object, const struct machine *machine)
{
    json_t *pages = put_object(object, "huge_pages");
    put_text_or_why(pages, "transparent", machine->thp,
                    silence(machine, "no /sys/kernel/mm/transparent_hugepage"));
    put_bytes_or_why(pages, "transparent_bytes", machine->thp_bytes,
                     silence(machine, "no hpage_pmd_size in /sys"));
    put_bytes_or_why(pages, "base_page_bytes", machine->base_page_bytes,
                     "the system does not tell");
    put_bytes_or_why(pages, "explicit_bytes", machine->huge_page_bytes,
                     silence(machine, "/proc/meminfo has no Hugepagesize"));
    put_number_or_why(pages, "explicit_free", machine->huge_pages_free,
                      machine->huge_page_bytes > 0,
                      silence(machine, "/proc/meminfo has no Hugepagesize"));
}

static void put_isa(json_t *object, const struct machine *machine)
{
    if (machine->isa[0] == '\0') {
        json_put_absent_because(object, "isa", ABSENT_UNSUPPORTED,
                                silence(machine, "/proc/cpuinfo lists no known instruction set"),
                                NULL);
        return;
    }
    json_t *isa = put_array(object, "isa");
    for (const char *at = machine->isa; *at != '\0';) {
        size_t length = strcspn(at, " ");
        (void)json_array_append_new(isa, json_stringn(at, length));
        at += length + (at[length] == ' ');
    }
}

static void put_settings(json_t *object, const struct machine *machine)
{
    put_text_or_why(object, "virtualized", machine->virtualized,
                    silence(machine, "neither CPUID flags nor firmware tell"));
    put_text_or_why(object, "governor", machine->governor,
                    silence(machine, "no cpufreq in /sys: the clock is not the system's to set"));
    bool told = machine->numa_balancing >= 0;
    put_number_or_why(object, "numa_balancing", told ? (uint64_t)machine->numa_balancing : 0, told,
                      silence(machine, "no /proc/sys/kernel/numa_balancing"));
    put_text_or_why(object, "kernel", machine->kernel, silence(machine, "the system hides it"));
}

void topology_put(json_t *object, const struct machine *machine)
{
    put_cpu(object, machine);
    json_put_count(object, "packages", machine->packages);
    json_put_count(object, "numa_nodes", machine->numa_nodes);
    json_put_count(object, "cores", machine->cores);
    json_put_count(object, "pus", machine->pus);
    json_put_count(object, "usable_cpus", machine->usable_count);
    json_put_count(object, "usable_cores", machine->usable_cores);
    if (machine->cpu_quota_cores > 0) {
        json_put_number(object, "cpu_quota_cores", machine->cpu_quota_cores);
    } else {
        json_put_absent_because(object, "cpu_quota_cores", ABSENT_UNSUPPORTED,
                                silence(machine, "no control group sets a CFS quota"), NULL);
    }
    (void)json_object_set_new(object, "smt", json_boolean(machine->smt));
    put_kinds(object, machine);
    put_caches(object, machine);
    put_memory(object, machine);
    put_pages(object, machine);
    if (machine->sve_vector_bytes > 0) {
        json_put_count(object, "sve_vector_bytes", machine->sve_vector_bytes);
    }
    put_isa(object, machine);
    put_settings(object, machine);
}

struct status topology_write(const struct machine *machine, const struct result_run *findings,
                             const struct command_context *context, const char *path,
                             bool to_stdout)
{
    json_t *document = document_new("topology", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    topology_put(document, machine);
    for (size_t i = 0; i < findings->warning_count; i++) {
        const struct result_warning *warning = &findings->warnings[i];
        document_warn(document, warning->code, warning->text, warning->try_);
    }
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}
