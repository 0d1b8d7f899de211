#include "machines/rootfs.h"
#include "machines/topology.h"

#include <hwloc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// What hwloc 2.9 reads from the environment and would let replace the machine asked for.
static const char *const variables[] = {
    "HWLOC_FSROOT",   "HWLOC_COMPONENTS",  "HWLOC_DUMPED_HWDATA_DIR", "HWLOC_THISSYSTEM",
    "HWLOC_XMLFILE",  "HWLOC_SYNTHETIC",   "HWLOC_CPUID_PATH",        "HWLOC_ALLOW",
    "HWLOC_CPUKINDS", "HWLOC_XML_VERBOSE", "HWLOC_HIDE_ERRORS"};

enum { VARIABLE_COUNT = sizeof variables / sizeof *variables };

struct environment {
    bool set[VARIABLE_COUNT];
    char values[VARIABLE_COUNT][ROOTFS_PATH];
};

static struct status environment_clear(struct environment *out)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const char *value = getenv(variables[i]);
        out->set[i] = value != NULL;
        if (value != NULL && strlen(value) >= ROOTFS_PATH) {
            return status_error(STATUS_INVALID,
                                "the environment's %s has %zu bytes, accepted at most %d",
                                variables[i], strlen(value), ROOTFS_PATH - 1);
        }
        (void)snprintf(out->values[i], ROOTFS_PATH, "%s", value == NULL ? "" : value);
    }
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        (void)unsetenv(variables[i]);
    }
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 1); // what fails is said once, by the caller
    return status_ok();
}

static void environment_restore(const struct environment *environment)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        if (environment->set[i]) {
            (void)setenv(variables[i], environment->values[i], 1);
        } else {
            (void)unsetenv(variables[i]);
        }
    }
}

static struct status keep_all_caches(hwloc_topology_t topology)
{
    // Instruction caches are not in the default set.
    if (hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 ||
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) != 0) {
        return status_error(STATUS_UNAVAILABLE, "hwloc refuses its type filters: %s",
                            strerror(errno));
    }
    return status_ok();
}

static struct status load_here(struct hwloc_topology **out, const char *xml, unsigned long flags)
{
    hwloc_topology_t topology = NULL;
    if (hwloc_topology_init(&topology) != 0) {
        return status_error(STATUS_SYSTEM, "no memory for a topology");
    }
    struct status status = keep_all_caches(topology);
    if (status.code == STATUS_OK &&
        ((xml != NULL && hwloc_topology_set_xml(topology, xml) != 0) ||
         hwloc_topology_set_flags(topology, flags) != 0 || hwloc_topology_load(topology) != 0)) {
        status = status_error(STATUS_UNAVAILABLE, "hwloc cannot load it: %s", strerror(errno));
    }
    if (status.code != STATUS_OK) {
        hwloc_topology_destroy(topology);
        return status;
    }
    *out = topology;
    return status;
}

// From an XML file, a saved root or, with both NULL, this system.
static struct status load(struct hwloc_topology **out, const char *xml, const char *root,
                          unsigned long flags)
{
    struct environment *environment = calloc(1, sizeof *environment);
    if (environment == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a topology");
    }
    struct status status = environment_clear(environment);
    if (status.code == STATUS_OK) {
        if (root != NULL) {
            (void)setenv("HWLOC_FSROOT", root, 1);
            (void)setenv("HWLOC_COMPONENTS", "linux,stop", 1);
            (void)setenv("HWLOC_DUMPED_HWDATA_DIR", "/var/run/hwloc", 1);
            (void)setenv("HWLOC_THISSYSTEM", "0", 1);
        }
        status = load_here(out, xml, flags);
        environment_restore(environment);
    }
    free(environment);
    return status;
}

// Where the kernel tells caches hwloc needs no CPUID, for which it would hop over all cpus.
static unsigned long system_flags(void)
{
    return rootfs_exists("", "/sys/devices/system/cpu/cpu0/topology/core_id") &&
                   rootfs_exists("", "/sys/devices/system/cpu/cpu0/cache/index0/size")
               ? HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING
               : 0;
}

struct status topology_load_system(struct hwloc_topology **out)
{
    return status_prefix(load(out, NULL, NULL, system_flags()), "topology of this system");
}

struct status topology_load_xml(struct hwloc_topology **out, const char *file)
{
    struct stat info;
    if (stat(file, &info) != 0) {
        return status_error(STATUS_INVALID, "%s: %s", file, strerror(errno));
    }
    if (!S_ISREG(info.st_mode) || info.st_size > ROOTFS_FILE_MAX) {
        return status_error(STATUS_INVALID,
                            "%s: not a regular file of at most %d MiB; accepted: an XML file "
                            "written by hwloc (lstopo FILE.xml)",
                            file, ROOTFS_FILE_MAX >> 20);
    }
    struct status status = load(out, file, NULL, 0);
    if (status.code == STATUS_UNAVAILABLE) {
        return status_error(
            STATUS_INVALID,
            "%s: not a topology that hwloc can read (damaged or another format); "
            "accepted: an XML file written by hwloc (lstopo FILE.xml) or the directory "
            "of a saved root",
            file);
    }
    return status;
}

struct status topology_load_root(struct hwloc_topology **out, const char *dir)
{
    struct status status = load(out, NULL, dir, 0);
    if (status.code == STATUS_UNAVAILABLE) {
        return status_error(STATUS_INVALID,
                            "%s: hwloc finds no topology in sys/devices/system/cpu below it", dir);
    }
    return status;
}

void topology_free(struct hwloc_topology *topology)
{
    if (topology != NULL) {
        hwloc_topology_destroy(topology);
    }
}
