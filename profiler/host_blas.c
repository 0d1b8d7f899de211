#include "profiler/host_blas.h"

#include <stdlib.h>
#include <string.h>

struct status host_blas_open(struct blas **out, const struct machine *machine, struct isa_set isa)
{
    const struct blas_options options = {.isa = isa,
                                         .amd = strcmp(machine->vendor, "AuthenticAMD") == 0,
                                         .user_core_type = getenv("OPENBLAS_CORETYPE")};
    return blas_open(out, &options);
}
