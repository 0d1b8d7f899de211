#ifndef MACHINES_CGROUP_H
#define MACHINES_CGROUP_H

/** What control groups (version 1 and 2, also both at once) allow the calling process: hwloc knows
 *  cpusets but neither quotas nor memory limits. Every visible ancestor counts. Layouts: Linux
 *  Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst, proc(5) mountinfo. */

#include "machines/rootfs.h"

/** A group directory: mount point and the path below it ("" at the top of the mount). */
struct cgroup_place {
    unsigned version; /**< 1 or 2 */
    char mount[ROOTFS_PATH / 4];
    char path[ROOTFS_PATH / 4];
};

/** The process's own group in the hierarchy of a controller ("cpu", "memory"; version 2 has one
 *  hierarchy for all). False if there is none. */
bool cgroup_find(struct cgroup_place *out, const char *root, unsigned version,
                 const char *controller);

/** Moves to the parent group; false at the top of the mount. */
bool cgroup_up(struct cgroup_place *place);

struct cgroup_limits {
    double cpu_quota_cores;      /**< CFS quota / period, the tightest group; 0 = none */
    uint64_t memory_limit_bytes; /**< lowest limit; 0 = none */
    /** Least over the limited groups of limit - usage + inactive page cache (which the kernel
     *  reclaims first, as MemAvailable assumes); UINT64_MAX = no limit. */
    uint64_t memory_left_bytes;
    bool hidden; /**< the process is in a group whose files no mount shows: limits may be unseen */
};

/** Reads the limits of all groups from the own one up, in both versions. */
void cgroup_read_limits(struct cgroup_limits *out, const char *root);

#endif
