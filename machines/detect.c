#include "machines/detect.h"

#include "machines/cpu_facts.h"
#include "machines/cpuinfo_topology.h"
#include "machines/rootfs.h"
#include "machines/system_facts.h"
#include "machines/topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static void fill_facts(struct machine *out, const char *root)
{
    unsigned cpu = out->usable[0].os_index;
    cpu_facts_read(out, root, cpu);
    system_facts_read(out, root, cpu);
}

static void fill_uname(struct machine *out)
{
    struct utsname name;
    if (uname(&name) == 0) {
        (void)snprintf(out->architecture, sizeof out->architecture, "%.15s", name.machine);
        (void)snprintf(out->kernel, sizeof out->kernel, "%.95s", name.release);
    }
}

static struct status fill_system(struct machine *out)
{
    struct hwloc_topology *topology = NULL;
    TRY(topology_load_system(&topology));
    struct status status = topology_fill(out, topology, "");
    topology_free(topology);
    TRY(status);
    fill_uname(out);
    fill_facts(out, "");
    cpu_facts_of_cpuid(out);
    return status_ok();
}

struct status machine_detect(struct machine *out)
{
    memset(out, 0, sizeof *out);
    struct status status = fill_system(out);
    if (status.code != STATUS_OK) {
        machine_free(out);
    }
    if (status.code == STATUS_INVALID) { // no input of the user's is at fault here
        return status_error(STATUS_UNAVAILABLE, "this system: %s", status.detail);
    }
    return status;
}

struct status machine_detect_xml(struct machine *out, const char *file)
{
    struct hwloc_topology *topology = NULL;
    memset(out, 0, sizeof *out);
    out->origin = MACHINE_XML;
    out->numa_balancing = -1;
    TRY(topology_load_xml(&topology, file));
    struct status status = topology_fill(out, topology, NULL);
    topology_free(topology);
    if (status.code != STATUS_OK) {
        machine_free(out);
    }
    return status_prefix(status, "%s", file);
}

static struct status fill_root_topology(struct machine *out, const char *dir)
{
    struct hwloc_topology *topology = NULL;
    if (!rootfs_exists(dir, "/sys/devices/system/cpu/cpu0")) {
        return cpuinfo_topology_read(out, dir);
    }
    TRY(topology_load_root(&topology, dir));
    struct status status = topology_fill(out, topology, dir);
    topology_free(topology);
    return status_prefix(status, "%s", dir);
}

static struct status fill_root(struct machine *out, const char *dir)
{
    TRY(fill_root_topology(out, dir));
    fill_facts(out, dir);
    return status_ok();
}

struct status machine_detect_root(struct machine *out, const char *dir)
{
    struct stat info;
    memset(out, 0, sizeof *out);
    out->origin = MACHINE_ROOT;
    if (stat(dir, &info) != 0) {
        return status_error(STATUS_INVALID, "%s: %s", dir, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return status_error(STATUS_INVALID, "%s: not a directory", dir);
    }
    char root[ROOTFS_PATH];
    int length = snprintf(root, sizeof root, "%s", strcmp(dir, "/") == 0 ? "/." : dir);
    if (length < 0 || (size_t)length >= sizeof root) {
        return status_error(STATUS_INVALID, "%.100s...: name too long", dir);
    }
    struct status status = fill_root(out, root);
    if (status.code != STATUS_OK) {
        machine_free(out);
    }
    return status;
}

struct status machine_detect_input(struct machine *out, const char *path)
{
    struct stat info;
    bool directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return directory ? machine_detect_root(out, path) : machine_detect_xml(out, path);
}
