#include "profiler/doctor_facts.h"

#include "machines/rootfs.h"
#include "profiler/memory_channels.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38, SECCOMP_FILTER = 2 };

static unsigned first_cpu(const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    return machine->usable_count > 0 ? machine->usable[0].os_index : 0;
}

// Indices of a kernel list that are within (or, with keep false, outside of) another.
static unsigned count_common(const char *list, const char *other, bool keep)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MACHINE_CPUS_MAX; i++) {
        count += rootfs_list_has(list, i) && rootfs_list_has(other, i) == keep ? 1 : 0;
    }
    return count;
}

static void read_process(struct doctor_facts *out, const char *root)
{
    char value[DOCTOR_TEXT * 2];
    char *status = rootfs_read_all(root, "/proc/self/status");
    const char *text = status != NULL ? status : "";
    if (rootfs_line_value(value, sizeof value, text, "CapEff")) {
        unsigned long long caps = strtoull(value, NULL, 16);
        out->may_count = (caps >> CAP_SYS_ADMIN_BIT & 1) != 0 || (caps >> CAP_PERFMON_BIT & 1) != 0;
    }
    out->has_filter = rootfs_line_value(value, sizeof value, text, "Seccomp") &&
                      strtol(value, NULL, 10) == SECCOMP_FILTER;
    out->thp_denied =
        rootfs_line_value(value, sizeof value, text, "THP_enabled") && strcmp(value, "0") == 0;
    (void)rootfs_line_value(out->nodes_allowed, sizeof out->nodes_allowed, text,
                            "Mems_allowed_list");
    free(status);
}

static void read_counters(struct doctor_facts *out, const char *root)
{
    char text[16];
    char *end = text;
    (void)rootfs_read(text, sizeof text, root, "/proc/sys/kernel/perf_event_paranoid");
    long level = strtol(text, &end, 10);
    if (end != text && level > INT_MIN && level <= INT_MAX) {
        out->perf_event_paranoid = (int)level;
    }
}

static double read_khz(const char *root, unsigned cpu, const char *file)
{
    uint64_t khz = 0;
    bool told = rootfs_read_u64(&khz, root, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
    return told && khz < 100000000 ? 1e3 * (double)khz : 0;
}

static void read_clock(struct doctor_facts *out, const char *root)
{
    struct doctor_clock *clock = &out->clock;
    unsigned cpu = first_cpu(out);
    uint64_t off = 0;
    uint64_t boost = 1;
    (void)rootfs_read(clock->driver, sizeof clock->driver, root,
                      "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver", cpu);
    (void)rootfs_read(clock->preference, sizeof clock->preference, root,
                      "/sys/devices/system/cpu/cpu%u/cpufreq/energy_performance_preference", cpu);
    clock->limit_hz = read_khz(root, cpu, "scaling_max_freq");
    clock->max_hz = read_khz(root, cpu, "cpuinfo_max_freq");
    (void)rootfs_read_u64(&off, root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    if (!rootfs_read_u64(&boost, root, "/sys/devices/system/cpu/cpufreq/boost")) {
        (void)rootfs_read_u64(&boost, root, "/sys/devices/system/cpu/cpu%u/cpufreq/boost", cpu);
    }
    clock->turbo_off = off == 1 || boost == 0;
}

static void read_cpus(struct doctor_facts *out, const char *root)
{
    char list[ROOTFS_PATH / 4];
    char present[ROOTFS_PATH / 4];
    char smt[32];
    (void)rootfs_read(list, sizeof list, root, "/sys/devices/system/cpu/isolated");
    out->cpus_isolated = count_common(list, list, true);
    (void)rootfs_read(list, sizeof list, root, "/sys/devices/system/cpu/offline");
    (void)rootfs_read(present, sizeof present, root, "/sys/devices/system/cpu/present");
    (void)rootfs_read(smt, sizeof smt, root, "/sys/devices/system/cpu/smt/control");
    if (strcmp(smt, "off") != 0 && strcmp(smt, "forceoff") != 0) { // else they are siblings
        out->cpus_offline = count_common(list, present, true);
    }
}

static void append_index(char *out, size_t size, unsigned index)
{
    size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s%u", used > 0 ? "," : "", index);
}

static void read_nodes(struct doctor_facts *out, const char *root)
{
    char cpus[ROOTFS_PATH / 4];
    uint64_t mode = 0;
    bool told = rootfs_read(cpus, sizeof cpus, root, "/sys/devices/system/node/has_cpu") &&
                rootfs_read(out->nodes_present, sizeof out->nodes_present, root,
                            "/sys/devices/system/node/has_memory");
    for (unsigned i = 0; told && i < MACHINE_NODES_MAX; i++) {
        if (rootfs_list_has(cpus, i) && !rootfs_list_has(out->nodes_present, i)) {
            append_index(out->nodes_bare, sizeof out->nodes_bare, i);
        }
    }
    // Some kernels allow nodes that are not there: only those with memory are compared.
    if (told && count_common(out->nodes_present, out->nodes_allowed, false) == 0) {
        out->nodes_allowed[0] = '\0';
    }
    told = rootfs_read_u64(&mode, root, "/proc/sys/vm/zone_reclaim_mode");
    out->zone_reclaim = told && mode != 0;
}

static uint64_t meminfo_bytes(const char *meminfo, const char *key)
{
    char text[DOCTOR_TEXT];
    (void)rootfs_line_value(text, sizeof text, meminfo, key);
    unsigned long long kib = strtoull(text, NULL, 10);
    return kib <= UINT64_MAX >> 10 ? (uint64_t)kib << 10 : 0;
}

static void read_memory(struct doctor_facts *out, const char *root)
{
    char text[256];
    double average = 0;
    char *meminfo = rootfs_read_all(root, "/proc/meminfo");
    if (meminfo != NULL) {
        uint64_t total = meminfo_bytes(meminfo, "SwapTotal");
        uint64_t left = meminfo_bytes(meminfo, "SwapFree");
        out->memory_total_bytes = meminfo_bytes(meminfo, "MemTotal");
        out->swap_used_bytes = total > left ? total - left : 0;
    }
    free(meminfo);
    if (rootfs_read(text, sizeof text, root, "/proc/pressure/memory") &&
        sscanf(text, "some avg10=%*f avg60=%lf", &average) == 1) {
        out->memory_stall_fraction = average / 100;
    }
    bool bare =
        strncmp(out->machine->virtualized, "none", 4) == 0 || out->machine->virtualized[0] == '\0';
    if (bare) {
        (void)memory_layout_read(&out->memory, root, out->machine->packages);
    }
}

static void read_instance(struct doctor_facts *out, const char *root)
{
    char vendor[DOCTOR_TEXT];
    if (rootfs_read(vendor, sizeof vendor, root, "/sys/class/dmi/id/sys_vendor") &&
        strcmp(vendor, "Amazon EC2") == 0) {
        (void)rootfs_read(out->instance, sizeof out->instance, root,
                          "/sys/class/dmi/id/product_name");
    }
}

void doctor_facts_read(struct doctor_facts *out, const char *root)
{
    out->perf_event_paranoid = INT_MIN;
    out->memory_stall_fraction = (double)NAN;
    if (root != NULL) {
        read_process(out, root);
        read_counters(out, root);
        read_clock(out, root);
        read_cpus(out, root);
        read_nodes(out, root);
        read_memory(out, root);
        read_instance(out, root);
    }
}

static void add_modules(struct result_run *run, const struct doctor_facts *facts)
{
    const struct memory_layout *memory = &facts->memory;
    unsigned used = 0;
    unsigned count = memory_channels_count(&used, facts->machine, memory);
    char text[UNITS_TEXT];
    char channels[DOCTOR_TEXT] = "";
    char speed[DOCTOR_TEXT] = "";
    char peak[DOCTOR_TEXT] = "";
    if (memory->slots == 0) {
        return;
    }
    if (memory->channels > 0) {
        (void)snprintf(channels, sizeof channels, ", in %u of %u channels", used, count);
    }
    if (memory->mt_per_s > 0) {
        (void)snprintf(speed, sizeof speed, ", %.0f MT/s", memory->mt_per_s);
    }
    if (memory->bytes_per_s > 0) {
        (void)snprintf(peak, sizeof peak, ": %s at most",
                       units_format_decimal(text, memory->bytes_per_s, "B/s"));
    }
    result_fact(&run->host, &run->host_count, "memory_modules", "%u in %u slots%s%s%s",
                memory->modules, memory->slots, channels, speed, peak);
}

static void visit(struct result_run *run, struct doctor_facts *facts, const char *root)
{
    doctor_facts_read(facts, root);
    add_modules(run, facts);
    doctor_examine(run, facts);
}

void doctor_visit(struct result_run *run, const struct machine *machine, const struct blas *blas,
                  const char *blas_absent, unsigned threads)
{
    struct blas_facts seen;
    struct doctor_facts facts = {
        .machine = machine, .blas_absent = blas_absent, .threads = threads};
    if (blas != NULL) {
        seen = blas_facts(blas);
        facts.blas = &seen;
    }
    visit(run, &facts, "");
}

void doctor_visit_root(struct result_run *run, const struct machine *machine, const char *root)
{
    struct doctor_facts facts = {.machine = machine};
    visit(run, &facts, root);
}
