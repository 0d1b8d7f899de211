#ifndef MACHINES_SYSTEM_FACTS_H
#define MACHINES_SYSTEM_FACTS_H

/** Settings of the system and what it leaves to this process, from files below a root. */

#include "machines/machine.h"

/** Fills the CFS quota, memory, pages, governor, NUMA balancing, kernel release and what tells a
 *  virtual machine or container. cpu is the os index of the first usable one; out->isa and
 *  out->architecture are set. */
void system_facts_read(struct machine *out, const char *root, unsigned cpu);

#endif
