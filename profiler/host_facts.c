#include "profiler/host_facts.h"

#include "profiler/clock.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_unsigned(const void *left, const void *right)
{
    unsigned a = *(const unsigned *)left;
    unsigned b = *(const unsigned *)right;
    return (a > b) - (a < b);
}

static void append_range(char *out, size_t bytes, unsigned first, unsigned last)
{
    size_t used = strlen(out);
    const char *comma = used > 0 ? "," : "";
    if (first == last) {
        (void)snprintf(out + used, bytes - used, "%s%u", comma, first);
    } else {
        (void)snprintf(out + used, bytes - used, "%s%u-%u", comma, first, last);
    }
}

char *host_cpu_list(char *out, size_t bytes, const struct team *team)
{
    unsigned cpus[MACHINE_CPUS_MAX];
    unsigned count = team_threads(team);
    count = count < MACHINE_CPUS_MAX ? count : MACHINE_CPUS_MAX;
    for (unsigned i = 0; i < count; i++) {
        cpus[i] = team_cpu(team, i);
    }
    qsort(cpus, count, sizeof *cpus, compare_unsigned);
    out[0] = '\0';
    for (unsigned i = 0; i < count;) {
        unsigned end = i;
        while (end + 1 < count && cpus[end + 1] == cpus[end] + 1) {
            end++;
        }
        append_range(out, bytes, cpus[i], cpus[end]);
        i = end + 1;
    }
    return out;
}

#define HOST(...) result_fact(&run->host, &run->host_count, __VA_ARGS__)
#define CONDITION(...) result_fact(&run->conditions, &run->condition_count, __VA_ARGS__)

static void cache_facts(struct result_run *run, const struct machine *machine)
{
    for (unsigned level = 1; level <= 3; level++) {
        char name[8];
        char text[UNITS_TEXT];
        uint64_t bytes = machine_cache_bytes(machine, level);
        (void)snprintf(name, sizeof name, "l%u", level);
        if (bytes > 0) {
            HOST(name, "%s x %u", units_format_binary(text, bytes),
                 machine_cache_instances(machine, level));
        }
    }
}

void host_facts_add(struct result_run *run, const struct machine *machine, struct isa_set isa)
{
    char text[ISA_TEXT];
    HOST("name", "%s", machine->name);
    HOST("architecture", "%s", machine->architecture);
    HOST("vendor", "%s", machine->vendor);
    if (machine->family != 0 || machine->model != 0) {
        HOST("family_model_stepping", "%u/%u/%u", machine->family, machine->model,
             machine->stepping);
    }
    HOST("microcode", "%s", machine->microcode);
    HOST("isa_used", "%s", isa_text(text, sizeof text, isa));
    HOST("packages", "%u", machine->packages);
    HOST("numa_nodes", "%u", machine->numa_nodes);
    HOST("cores", "%u", machine->cores);
    HOST("pus", "%u", machine->pus);
    HOST("usable_cpus", "%zu", machine->usable_count);
    cache_facts(run, machine);
    HOST("virtualized", "%s", machine->virtualized);
    HOST("kernel", "%s", machine->kernel);
    if (machine->sve_vector_bytes > 0) {
        HOST("sve_vector_bytes", "%u", machine->sve_vector_bytes);
    }
    if (machine->memory_available_bytes > 0) {
        char bytes[UNITS_TEXT];
        HOST("memory_available", "%s", units_format_binary(bytes, machine->memory_available_bytes));
    }
}

static void blas_conditions(struct result_run *run, const struct blas *blas)
{
    struct blas_facts facts = blas_facts(blas);
    CONDITION("blas", "%s", facts.path);
    CONDITION("blas_config", "%s", facts.config);
    CONDITION("blas_core", "%s", facts.core);
    CONDITION("blas_core_of_its_own", "%s", facts.core_of_its_own);
    CONDITION("blas_core_set_by_lmroof", "%s", facts.core_was_set ? "yes" : "no");
    CONDITION("blas_threads", "%s", facts.openmp ? "OpenMP" : "its own, not bound");
}

// clang's own text begins with its name, gcc's is the number alone.
#ifdef __clang__
static const char compiled_by[] = __VERSION__;
#else
static const char compiled_by[] = "gcc " __VERSION__;
#endif

static void build_conditions(struct result_run *run, const struct machine *machine)
{
    CONDITION("compiler", "%s", compiled_by);
    CONDITION("compiler_flags", "%s", LMROOF_FLAGS);
    CONDITION("hwloc", "%s", machine->hwloc_version);
}

static void page_conditions(struct result_run *run, const struct machine *machine)
{
    char text[UNITS_TEXT];
    CONDITION("transparent_huge_pages", "%s", machine->thp);
    if (machine->thp_bytes > 0) {
        CONDITION("transparent_huge_page", "%s", units_format_binary(text, machine->thp_bytes));
    }
    if (machine->base_page_bytes > 0) {
        CONDITION("base_page", "%s", units_format_binary(text, machine->base_page_bytes));
    }
}

// One, five and fifteen minutes: includes lmroof's own threads after the start.
static void load_conditions(struct result_run *run)
{
    double load[3];
    if (getloadavg(load, 3) == 3) {
        CONDITION("load_average", "%.2f %.2f %.2f", load[0], load[1], load[2]);
    }
}

void condition_facts_add(struct result_run *run, const struct machine *machine,
                         const struct team *team, const struct blas *blas)
{
    if (team != NULL) {
        char cpus[128];
        CONDITION("threads", "%u", team_threads(team));
        CONDITION("cpus", "%s", host_cpu_list(cpus, sizeof cpus, team));
        CONDITION("binding", "one thread per cpu, bound");
    }
    if (machine->cpu_quota_cores > 0) {
        CONDITION("cpu_quota_cores", "%.3g", machine->cpu_quota_cores);
    }
    if (machine->memory_limit_bytes > 0) {
        char text[UNITS_TEXT];
        CONDITION("memory_limit", "%s", units_format_binary(text, machine->memory_limit_bytes));
    }
    page_conditions(run, machine);
    CONDITION("governor", "%s", machine->governor);
    if (machine->numa_balancing >= 0) {
        CONDITION("numa_balancing", "%d", machine->numa_balancing);
    }
    load_conditions(run);
    build_conditions(run, machine);
    CONDITION("clock_resolution_seconds", "%.3g", clock_resolution_seconds());
    if (blas != NULL) {
        blas_conditions(run, blas);
    }
}
