#ifndef PROFILER_MACHINE_RATES_H
#define PROFILER_MACHINE_RATES_H

/** From a machine's roofs to the rates that a step is estimated with. Pure. */

#include "profiler/results.h"
#include "roofline/estimate.h"

/** Which end of the roofs' 95 % intervals to take. */
enum rate_end { RATE_LOW, RATE_VALUE, RATE_HIGH };

/** The read roof of DRAM: the fastest load; NULL if the profile has none. Borrowed. */
const struct result_bandwidth *machine_read_roof(const struct result_machine *machine);

/** The fastest roof of a kind ("fma", "gemm", "kernel") and dtype whose check passed (or that is of
 *  a data sheet); NULL if there is none. Borrowed. */
const struct result_compute *machine_compute_roof(const struct result_machine *machine,
                                                  const char *kind, const char *dtype);

/** The fastest arithmetic, of registers or as a product reached it, that may do products with
 * weights of a type: its own, and any that it can be converted to without loss (f16 and bf16 into
 * f32, block formats into all). DTYPE_STORED: as block formats. NULL if there is none. Borrowed. */
const struct result_compute *machine_peak(const struct result_machine *machine,
                                          enum dtype_id weights);

/** That end of a reading's interval; its value where it has none. */
double machine_rate_end(const struct reading *reading, enum rate_end end);

/** Rates for the bound: peak and read roof; 0 where unknown. */
struct estimate_rates machine_bound_rates(const struct result_machine *machine,
                                          enum dtype_id weights, enum rate_end end);

/** Rates for the estimate of a step. Where the profile has the parts of steps: weights are read as
 *  fast as products of so many rows were measured to (weight_reads; between two batches by the line
 *  of the time a byte takes, beyond the last of LINEAR_BATCH_MAX rows in proportion), which is all
 *  that products take; attention, norms, rotary embedding and quantising take what part_times tell.
 *  Else products take max(F / P, Q / BW) of what kernels reach (the better of our kernel of the
 *  format with weights in cache and the library's product, else the peak) and of the read roof, and
 *  attention the same of what ours reaches (kind "attention"), else of f32 FMA. */
struct estimate_rates machine_estimate_rates(const struct result_machine *machine,
                                             enum dtype_id weights, const struct step *step,
                                             enum rate_end end);

#endif
