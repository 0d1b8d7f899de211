#include "profiler/counter_advice.h"

#include "machines/rootfs.h"
#include "profiler/pmu_sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of linux/capability.h.
enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

static int read_paranoid(const char *root)
{
    char text[32];
    if (!rootfs_read(text, sizeof text, root, "/proc/sys/kernel/perf_event_paranoid")) {
        return COUNTER_NO_FILE;
    }
    return (int)strtol(text, NULL, 10);
}

static void read_rights(struct counter_surroundings *out, const char *root)
{
    char *status = rootfs_read_all(root, "/proc/self/status");
    char text[64];
    if (status != NULL && rootfs_line_value(text, sizeof text, status, "CapEff")) {
        unsigned long long set = strtoull(text, NULL, 16);
        out->capable =
            (set >> CAPABILITY_PERFMON & 1) != 0 || (set >> CAPABILITY_SYS_ADMIN & 1) != 0;
    }
    if (status != NULL && rootfs_line_value(text, sizeof text, status, "Seccomp")) {
        out->sandboxed = strcmp(text, "2") == 0;
    }
    free(status);
}

void counter_surroundings_read(struct counter_surroundings *out, const struct machine *machine,
                               const char *root, bool table_is_for_part)
{
    char text[32];
    *out = (struct counter_surroundings){
        .paranoid = read_paranoid(root),
        .watchdog = rootfs_read(text, sizeof text, root, "/proc/sys/kernel/nmi_watchdog") &&
                    strcmp(text, "0") != 0,
        .sysfs = rootfs_exists(root, "/sys/bus/event_source/devices"),
        .core_pmu = pmu_core_exists(root),
        .virtual = machine->virtualized[0] != '\0' &&
                   strncmp(machine->virtualized, "none", strlen("none")) != 0 &&
                   strncmp(machine->virtualized, "container", strlen("container")) != 0,
        .table_is_for_part = table_is_for_part,
    };
    read_rights(out, root);
}

static const char *permission_advice(char *out, enum metric_scope scope,
                                     const struct counter_surroundings *s)
{
    int enough = scope == SCOPE_SYSTEM ? 0 : 2;
    if (!s->capable && s->paranoid > enough) {
        (void)snprintf(out, COUNTER_ADVICE,
                       "as root: sysctl kernel.perf_event_paranoid=%d (it is %d), or setcap "
                       "cap_perfmon+ep on this program",
                       enough, s->paranoid);
        return out;
    }
    if (s->paranoid == 3) {
        return "as root: sysctl kernel.perf_event_paranoid=2 (it is 3, which also root's PAPI "
               "obeys), or --counters perf";
    }
    return "a sandbox (seccomp) refuses perf_event_open: start the container with --cap-add "
           "PERFMON or a profile that allows the call";
}

static const char *missing_advice(const struct counter_surroundings *s, enum metric_scope scope)
{
    if (!s->sysfs) {
        return "mount sysfs (mount -t sysfs sysfs /sys): the kernel's list of counters is not "
               "visible";
    }
    if (s->virtual && scope == SCOPE_SYSTEM) {
        return "virtual machines do not show memory controllers and energy: use a bare-metal host";
    }
    if (s->virtual && !s->core_pmu) {
        return "this virtual machine has no PMU: enable it (libvirt <pmu state='on'/>, QEMU "
               "pmu=on) or use a larger or bare-metal instance";
    }
    if (!s->table_is_for_part) {
        return "describe this CPU's events in a file and pass it with --events FILE";
    }
    return s->core_pmu ? "a newer kernel, or bare metal, may have this event"
                       : "load the kernel's PMU driver for this CPU, or use a newer kernel";
}

char *counter_advice(char *out, enum counter_fault fault, enum metric_scope scope,
                     const struct counter_surroundings *s)
{
    const char *text = "";
    switch (fault) {
    case FAULT_PERMISSION:
        text = permission_advice(out, scope, s);
        break;
    case FAULT_NO_PMU:
    case FAULT_UNSUPPORTED:
        text = missing_advice(s, scope);
        break;
    case FAULT_NO_PART:
        text = "describe this CPU's events in a file and pass it with --events FILE";
        break;
    case FAULT_NO_FIT:
    case FAULT_NEVER_RAN:
    case FAULT_RAN_LITTLE:
        text = s->watchdog ? "as root: sysctl kernel.nmi_watchdog=0 (the watchdog holds a counter)"
                           : "stop other users of the counters (perf, a monitoring agent)";
        break;
    case FAULT_RESOURCES:
        text = "raise the limit of open files: ulimit -n 65536";
        break;
    case FAULT_LIES:
        text = s->virtual ? "this virtual machine's counters cannot be trusted: use bare metal"
                          : "see 'lmroof counters --certify' for what was counted; a newer kernel "
                            "or microcode may count right";
        break;
    case FAULT_NOT_ASKED:
        text = "--counters auto";
        break;
    case FAULT_GUARDS:
    case FAULT_NEGATIVE:
    case FAULT_READ:
        text = "run again; if it persists, --counters perf reads without PAPI";
        break;
    case FAULT_MIGRATED:
        text = "choose cpus of one kind with taskset";
        break;
    case FAULT_NONE:
    case FAULT_NO_EVENT:
        break;
    }
    if (text != out) {
        (void)snprintf(out, COUNTER_ADVICE, "%s", text);
    }
    return out;
}
