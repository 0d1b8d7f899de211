#ifndef PROFILER_UARCH_H
#define PROFILER_UARCH_H

/** What makers publish of their cores' arithmetic: one row per microarchitecture with its source.
 *  A core that is not in the table has no theoretical figure; nothing is fitted. */

#include "machines/machine.h"

/** Fused multiply-add instructions of vector_bytes that one core starts per cycle, f32 or f64
 *  (f16 where the core has it at that width); NaN if no row tells. *source (may be NULL) is static
 *  text. Machines of several core kinds have none. */
double uarch_fma_per_cycle(const char **source, const struct machine *machine,
                           unsigned vector_bytes);

/** User bytes per cycle that a plain copy within the first cache reaches on an otherwise idle core,
 *  half of them loaded; NaN unless it was measured on this microarchitecture. *source as above. */
double uarch_copy_per_cycle(const char **source, const struct machine *machine);

#endif
