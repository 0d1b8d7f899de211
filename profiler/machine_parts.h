#ifndef PROFILER_MACHINE_PARTS_H
#define PROFILER_MACHINE_PARTS_H

/** From the times of a step's parts in a profile (part_times) to the rates of an estimate
 *  (METHOD.md, Predictions). Pure. */

#include "profiler/machine_rates.h"

/** Attention: by query heads per KV head, width of heads and length. Nothing is changed if the
 *  profile has no part like it (latent caches, other types of the cache). */
void machine_parts_attention(struct estimate_rates *out, const struct result_machine *machine,
                             const struct step *step, enum rate_end end);

/** Norms, rotary embedding and quantising, and what attention takes to get its queries from other
 *  threads. Nothing is changed if the profile does not have them. */
void machine_parts_elementwise(struct estimate_rates *out, const struct result_machine *machine,
                               const struct step *step, enum rate_end end);

#endif
