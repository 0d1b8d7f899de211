#ifndef WORKLOADS_LINEAR_TRIAL_H
#define WORKLOADS_LINEAR_TRIAL_H

/** What a CPU that the project has never seen must show before its kernels are used. */

#include "workloads/isa.h"

/** The set less the instructions of those kernels that no CPU or emulator has executed so far
 *  (kernel_evidence.h) and whose products are wrong here: each multiplies a few small matrices,
 *  compared with the double reference. Takes milliseconds, nothing where there is no such kernel.
 */
struct isa_set linear_trial(struct isa_set isa);

#endif
