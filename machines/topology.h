#ifndef MACHINES_TOPOLOGY_H
#define MACHINES_TOPOLOGY_H

/** Loads and reads hwloc topologies; hwloc's own type is struct hwloc_topology. Shared by detect.c
 *  and bind_hwloc.c alone. The caller releases what it loads with topology_free(). */

#include "machines/machine.h"
#include "roofline/status.h"

struct hwloc_topology;

/** Of the running system. Errors: UNAVAILABLE. */
CHECKED struct status topology_load_system(struct hwloc_topology **out);

/** Of an XML file. Errors: INVALID. */
CHECKED struct status topology_load_xml(struct hwloc_topology **out, const char *file);

/** Of a saved root with /sys. Errors: INVALID. */
CHECKED struct status topology_load_root(struct hwloc_topology **out, const char *dir);

/** Fills identity, counts, caches, nodes, core kinds and usable cpus. root: NULL for XML, "" for
 * the running system, else the saved root. Errors: INVALID beyond machine.h's limits or if no cpu
 * is usable; SYSTEM without memory. */
CHECKED struct status topology_fill(struct machine *out, struct hwloc_topology *topology,
                                    const char *root);

/** Releases; accepts NULL. */
void topology_free(struct hwloc_topology *topology);

#endif
