#ifndef PROFILER_HOST_BLAS_H
#define PROFILER_HOST_BLAS_H

/** The matrix library as this process should use it on this machine. */

#include "machines/machine.h"
#include "workloads/blas.h"

/** blas_open() with the core type fit for the machine, never over the user's own
 *  OPENBLAS_CORETYPE. Errors: as blas_open(). */
CHECKED struct status host_blas_open(struct blas **out, const struct machine *machine,
                                     struct isa_set isa);

#endif
