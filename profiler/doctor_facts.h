#ifndef PROFILER_DOCTOR_FACTS_H
#define PROFILER_DOCTOR_FACTS_H

/** Reads what doctor_examine() needs beyond the machine: kernel settings and, where readable, the
 *  firmware's table of memory modules. */

#include "profiler/doctor.h"

#include <stddef.h>

/** Fills perf_event_paranoid and the memory fields; the rest is the caller's. */
void doctor_facts_read(struct doctor_facts *out);

/** The whole visit: reads the facts and adds the findings to run->warnings. blas may be NULL, then
 *  blas_absent says why. threads: how many measure. */
void doctor_visit(struct result_run *run, const struct machine *machine, const struct blas *blas,
                  const char *blas_absent, unsigned threads);

/** Memory modules from an SMBIOS structure table of size bytes (DMTF DSP0134 3.7, type 17): slots,
 *  used ones, configured and rated speed of the slowest. Untrusted: anything malformed ends the
 *  reading. Fields stay 0 where nothing is told. */
void doctor_facts_from_smbios(struct doctor_facts *out, const unsigned char *table, size_t size);

#endif
