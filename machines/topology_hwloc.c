#include "machines/rootfs.h"
#include "machines/topology.h"

#include <hwloc.h>

#include <errno.h>
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
    char *saved[VARIABLE_COUNT];
};

static void environment_clear(struct environment *out)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const char *value = getenv(variables[i]);
        out->saved[i] = value == NULL ? NULL : strdup(value);
        (void)unsetenv(variables[i]);
    }
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 1); // what fails is said once, by the caller
}

static void environment_restore(struct environment *environment)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        if (environment->saved[i] != NULL) {
            (void)setenv(variables[i], environment->saved[i], 1);
            free(environment->saved[i]);
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

// xml NULL: whatever the environment points hwloc at.
static struct status load(struct hwloc_topology **out, const char *xml, unsigned long flags)
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
    struct environment environment;
    environment_clear(&environment);
    struct status status = load(out, NULL, system_flags());
    environment_restore(&environment);
    return status_prefix(status, "topology of this system");
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
    struct environment environment;
    environment_clear(&environment);
    struct status status = load(out, file, 0);
    environment_restore(&environment);
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
    struct environment environment;
    environment_clear(&environment);
    (void)setenv("HWLOC_FSROOT", dir, 1);
    (void)setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    (void)setenv("HWLOC_DUMPED_HWDATA_DIR", "/var/run/hwloc", 1);
    (void)setenv("HWLOC_THISSYSTEM", "0", 1);
    struct status status = load(out, NULL, 0);
    environment_restore(&environment);
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
