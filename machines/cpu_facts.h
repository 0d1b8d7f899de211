#ifndef MACHINES_CPU_FACTS_H
#define MACHINES_CPU_FACTS_H

/** Which CPU it is and what it can execute, from /proc/cpuinfo and sysfs below a root. */

#include "machines/machine.h"

/** Fills name, vendor, family, model, stepping, microcode, isa, sve_vector_bytes and
 *  clock_hz_nominal, and architecture if it is still "". cpu is the os index of the first usable
 *  one. Fields that are told elsewhere already keep their value where the root is silent. */
void cpu_facts_read(struct machine *out, const char *root, unsigned cpu);

/** Fills identity from CPUID of the calling cpu where the fields are still unknown; nothing
 *  outside x86. For the running system only. */
void cpu_facts_of_cpuid(struct machine *out);

/** Name of the hypervisor by CPUID leaf 0x40000000 into out (kvm, vmware, ...; "vm" if its
 *  signature is not known, "none" if CPUID shows no hypervisor); "" outside x86. */
void cpu_facts_hypervisor(char *out, size_t size);

#endif
