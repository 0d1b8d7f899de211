#ifndef MACHINES_CPUINFO_TOPOLOGY_H
#define MACHINES_CPUINFO_TOPOLOGY_H

/** What /proc/cpuinfo alone tells of a topology, for roots whose /sys is hidden: packages, cores
 *  and PUs, no caches. */

#include "machines/machine.h"
#include "roofline/status.h"

/** Fills packages, cores, pus, smt and usable (all PUs that Cpus_allowed_list of /proc/self/status
 *  permits), one memory node of
 *  unknown size, and no caches. Where "physical id" and "core id" are
 *  not told (Arm) there are no packages and each PU counts as a core. Errors: INVALID without a
 *  processor or without a usable one, SYSTEM. */
CHECKED struct status cpuinfo_topology_read(struct machine *out, const char *root);

#endif
