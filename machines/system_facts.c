#include "machines/system_facts.h"

#include "machines/cgroup.h"
#include "machines/cpu_facts.h"
#include "machines/rootfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// "MemAvailable:   24335556 kB" in bytes.
static bool meminfo_bytes(uint64_t *out, const char *meminfo, const char *key)
{
    char text[64];
    uint64_t kib = 0;
    if (!rootfs_line_value(text, sizeof text, meminfo, key)) {
        return false;
    }
    char *unit = strstr(text, " kB");
    if (unit == NULL) {
        return false;
    }
    *unit = '\0';
    if (!rootfs_parse_u64(&kib, text) || kib > UINT64_MAX >> 10) {
        return false;
    }
    *out = kib << 10;
    return true;
}

// What RLIMIT_AS leaves this process; UINT64_MAX without a limit.
static uint64_t address_space_left(uint64_t *limit_bytes)
{
    struct rlimit limit;
    char text[64];
    uint64_t pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !rootfs_read(text, sizeof text, "", "/proc/self/statm")) {
        return UINT64_MAX;
    }
    *limit_bytes = limit.rlim_cur;
    text[strcspn(text, " ")] = '\0'; // the first number is of the whole address space
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!rootfs_parse_u64(&pages, text) || pages > limit.rlim_cur / page_bytes) {
        return 0;
    }
    return limit.rlim_cur - pages * page_bytes;
}

static void read_memory(struct machine *out, const char *root, const char *meminfo)
{
    struct cgroup_limits limits;
    uint64_t available = UINT64_MAX;
    cgroup_read_limits(&limits, root);
    out->cpu_quota_cores = limits.cpu_quota_cores;
    out->memory_limit_bytes = limits.memory_limit_bytes;
    out->limits_hidden = limits.hidden;
    if (!meminfo_bytes(&available, meminfo, "MemAvailable")) {
        available = UINT64_MAX; // the limits below may still tell
    }
    if (limits.memory_left_bytes < available) {
        available = limits.memory_left_bytes;
    }
    uint64_t limit = UINT64_MAX;
    uint64_t left = root[0] == '\0' ? address_space_left(&limit) : UINT64_MAX;
    if (left < available) {
        available = left;
        out->address_space_bytes = limit;
    }
    if (available == UINT64_MAX) {
        return;
    }
    // 0 means unknown: a process at its limit has at least the page it runs on.
    out->memory_available_bytes = available > 0 ? available : out->base_page_bytes;
}

// The only node has all memory. Without /sys hwloc knows no size of it, and in a VM that was given
// memory after its start the node's own file keeps the size it had then: /proc/meminfo counts all.
// Unknown stays out.
static void complete_node(struct machine *out, const char *meminfo)
{
    uint64_t bytes = 0;
    if (out->node_count != 1) {
        return;
    }
    if (meminfo_bytes(&bytes, meminfo, "MemTotal") && bytes > out->nodes[0].bytes) {
        out->nodes[0].bytes = bytes;
    }
    if (out->nodes[0].bytes == 0) {
        out->node_count = 0;
    }
}

static void read_pages(struct machine *out, const char *root, const char *meminfo)
{
    char text[64];
    if (root[0] == '\0') {
        long bytes = sysconf(_SC_PAGESIZE);
        out->base_page_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    }
    // "always [madvise] never": the brackets show which.
    if (rootfs_read(text, sizeof text, root, "/sys/kernel/mm/transparent_hugepage/enabled")) {
        (void)sscanf(text, "%*[^[][%15[^]]", out->thp);
        (void)sscanf(text, "[%15[^]]", out->thp);
    }
    (void)rootfs_read_u64(&out->thp_bytes, root,
                          "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    (void)meminfo_bytes(&out->huge_page_bytes, meminfo, "Hugepagesize");
    if (rootfs_line_value(text, sizeof text, meminfo, "HugePages_Free")) {
        (void)rootfs_parse_u64(&out->huge_pages_free, text);
    }
}

static bool text_names(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strstr(text, *words) != NULL) {
            return true;
        }
    }
    return false;
}

// Firmware's own words (DMI), as systemd-detect-virt(1) lists them.
static const char *dmi_hypervisor(const char *root)
{
    static const struct {
        const char *name;
        const char *words[5];
    } makers[] = {{"kvm", {"KVM", "Amazon EC2", "Google Compute Engine", "OpenStack", NULL}},
                  {"qemu", {"QEMU", NULL}},
                  {"vmware", {"VMware", "VMW", NULL}},
                  {"virtualbox", {"innotek GmbH", "VirtualBox", NULL}},
                  {"xen", {"Xen", NULL}},
                  {"microsoft", {"Hyper-V", NULL}},
                  {"parallels", {"Parallels", NULL}},
                  {"bhyve", {"BHYVE", NULL}}};
    static const char *const files[] = {"product_name", "sys_vendor", "board_vendor"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char text[128];
        (void)rootfs_read(text, sizeof text, root, "/sys/class/dmi/id/%s", files[f]);
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
            if (text_names(text, makers[i].words)) {
                return makers[i].name;
            }
        }
    }
    return NULL;
}

// An instance type such as "c7g.metal" or "m7i.metal-24xl" (systemd, src/basic/virt.c).
static bool is_ec2_metal(const char *root)
{
    char vendor[64];
    char product[64];
    (void)rootfs_read(vendor, sizeof vendor, root, "/sys/class/dmi/id/sys_vendor");
    (void)rootfs_read(product, sizeof product, root, "/sys/class/dmi/id/product_name");
    const char *metal = strstr(product, ".metal");
    return strcmp(vendor, "Amazon EC2") == 0 && metal != NULL &&
           (metal[6] == '\0' || metal[6] == '-');
}

// EC2 bare metal says "Amazon EC2" as well: where x86 flags show no hypervisor there is none.
static void read_hypervisor(char *out, size_t size, const struct machine *machine, const char *root,
                            const char *cpuinfo)
{
    char flags[ROOTFS_PATH];
    char type[32];
    const char *dmi = dmi_hypervisor(root);
    bool x86 = rootfs_line_value(flags, sizeof flags, cpuinfo, "flags");
    out[0] = '\0';
    if ((x86 && strstr(flags, " hypervisor") == NULL) || (!x86 && is_ec2_metal(root))) {
        (void)snprintf(out, size, "none");
    } else if (rootfs_read(type, sizeof type, root, "/sys/hypervisor/type") && type[0] != '\0') {
        (void)snprintf(out, size, "%s", type);
    } else if (root[0] == '\0' && strcmp(machine->architecture, "x86_64") == 0) {
        cpu_facts_hypervisor(out, size);
    } else if (dmi != NULL) {
        (void)snprintf(out, size, "%s", dmi);
    } else if (rootfs_exists(root, "/proc/device-tree/hypervisor/compatible") || x86) {
        (void)snprintf(out, size, "vm");
    }
}

static const char *container_name(const char *root)
{
    static const struct {
        const char *word;
        const char *name;
    } groups[] = {
        {"/kubepods", "kubernetes"}, {"/docker", "docker"}, {"/libpod", "podman"}, {"/lxc", "lxc"}};
    char text[ROOTFS_PATH];
    if (rootfs_exists(root, "/.dockerenv")) {
        return "docker";
    }
    if (rootfs_exists(root, "/run/.containerenv")) {
        return "podman";
    }
    if (rootfs_read(text, sizeof text, root, "/proc/self/cgroup")) {
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
            if (strstr(text, groups[i].word) != NULL) {
                return groups[i].name;
            }
        }
    }
    return rootfs_exists(root, "/run/systemd/container") ? "systemd" : NULL;
}

static void read_virtualization(struct machine *out, const char *root)
{
    enum { HEAD_BYTES = 16 << 10 };
    char cpuinfo[HEAD_BYTES];
    char hypervisor[32];
    (void)rootfs_read(cpuinfo, sizeof cpuinfo, root, "/proc/cpuinfo");
    read_hypervisor(hypervisor, sizeof hypervisor, out, root, cpuinfo);
    const char *container = container_name(root);
    (void)snprintf(out->virtualized, sizeof out->virtualized, "%s%s%s%s", hypervisor,
                   container != NULL && hypervisor[0] != '\0' ? " " : "",
                   container != NULL ? "container:" : "", container != NULL ? container : "");
}

static int read_numa_balancing(const char *root)
{
    uint64_t value = 0;
    bool told = rootfs_read_u64(&value, root, "/proc/sys/kernel/numa_balancing");
    return told && value <= 7 ? (int)value : -1;
}

void system_facts_read(struct machine *out, const char *root, unsigned cpu)
{
    char *meminfo = rootfs_read_all(root, "/proc/meminfo");
    const char *text = meminfo == NULL ? "" : meminfo;
    read_pages(out, root, text);
    read_memory(out, root, text);
    complete_node(out, text);
    free(meminfo);
    (void)rootfs_read(out->governor, sizeof out->governor, root,
                      "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
    out->numa_balancing = read_numa_balancing(root);
    char release[MACHINE_TEXT];
    if (rootfs_read(release, sizeof release, root, "/proc/sys/kernel/osrelease")) {
        (void)snprintf(out->kernel, sizeof out->kernel, "%s", release);
    }
    read_virtualization(out, root);
}
