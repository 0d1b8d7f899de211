#ifndef PROFILER_ENERGY_H
#define PROFILER_ENERGY_H

/** Energy of packages and their memory from the kernel's powercap files (Linux,
 *  Documentation/power/powercap/powercap.rst): for systems where perf does not offer it. Counts of
 *  the whole system, idle share included. */

#include "roofline/reading.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>

enum energy_domain { ENERGY_PACKAGE, ENERGY_DRAM, ENERGY_DOMAINS };

struct energy_meter;

/** Finds the zones below root ("" = here) and remembers where they stand. Errors: SYSTEM without
 *  memory; a machine without zones is none. The caller closes it. */
CHECKED struct status energy_open(struct energy_meter **out, const char *root);

/** NULL is accepted. */
void energy_close(struct energy_meter *meter);

/** Reads the zones; wraps at their max_energy_range_uj are put right if at most one happened since
 *  the last reading (a range lasts minutes at full power). */
void energy_update(struct energy_meter *meter);

/** Joules of a domain since the opening, all packages together. Absent if there is no such zone
 *  (unsupported), it may not be read (not_permitted: since Linux 5.10 only by root), or it failed
 *  meanwhile: went back without a range, or vanished. A package that fails makes the sum absent. */
struct reading energy_joules(const struct energy_meter *meter, enum energy_domain domain);

/** Names of the zones of a domain, by blanks: "intel-rapl:0 intel-rapl:1". "" if there are none.
 *  Borrowed. */
const char *energy_zones(const struct energy_meter *meter, enum energy_domain domain);

#endif
