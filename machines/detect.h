#ifndef MACHINES_DETECT_H
#define MACHINES_DETECT_H

/** Fills a struct machine: the running system, an hwloc XML file or a saved root. Topology comes
 *  from hwloc (or, where a root has no /sys, from /proc/cpuinfo, then without caches); what hwloc
 *  does not know from files below the root. A fact that cannot be had stays 0 or "" as machine.h
 *  says; nothing is guessed.
 *
 *  hwloc takes the place of its files from environment variables only: these functions change and
 *  restore HWLOC_* variables, so call them before other threads use the environment. What a user
 *  exported there never replaces the machine asked for. The caller releases the result with
 *  machine_free(). */

#include "machines/machine.h"
#include "roofline/status.h"

/** The running system as this thread sees it: affinity mask, cpuset, online cpus. Errors:
 *  UNAVAILABLE if hwloc cannot tell or nothing is usable, SYSTEM without memory. */
CHECKED struct status machine_detect(struct machine *out);

/** A topology exported by hwloc (lstopo x.xml). Errors: INVALID, naming the file. */
CHECKED struct status machine_detect_xml(struct machine *out, const char *file);

/** A saved root: a directory with sys/ and proc/ (and cgroup files where its mountinfo says).
 *  Errors: INVALID, naming the directory. */
CHECKED struct status machine_detect_root(struct machine *out, const char *dir);

/** Whichever of the two path is, by what it is on disk. */
CHECKED struct status machine_detect_input(struct machine *out, const char *path);

#endif
