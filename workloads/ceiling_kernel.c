#include "workloads/ceiling_kernel.h"

#include <string.h>

#define X(name) extern const struct ceiling_set ceiling_set_##name;
#include "ceiling_set_registry.inc"
#undef X

static const struct ceiling_set *const sets[] = {
#define X(name) &ceiling_set_##name,
#include "ceiling_set_registry.inc"
#undef X
    NULL};

const struct ceiling_set *const *ceiling_sets(void)
{
    return sets;
}

size_t stream_kernels_find(const struct stream_kernel **out, size_t max, const char *name,
                           struct isa_set isa)
{
    size_t found = 0;
    for (size_t s = 0; sets[s] != NULL; s++) {
        for (size_t i = 0; i < sets[s]->stream_count && found < max; i++) {
            const struct stream_kernel *kernel = &sets[s]->streams[i];
            if (isa_has(isa, kernel->isa) && (name == NULL || strcmp(name, kernel->kernel) == 0)) {
                out[found++] = kernel;
            }
        }
    }
    return found;
}

size_t compute_kernels_find(const struct compute_kernel **out, size_t max, const char *dtype,
                            struct isa_set isa)
{
    size_t found = 0;
    for (size_t s = 0; sets[s] != NULL; s++) {
        for (size_t i = 0; i < sets[s]->compute_count && found < max; i++) {
            const struct compute_kernel *kernel = &sets[s]->compute[i];
            if (isa_has(isa, kernel->isa) && (dtype == NULL || strcmp(dtype, kernel->dtype) == 0)) {
                out[found++] = kernel;
            }
        }
    }
    return found;
}

double stream_kernel_bytes(const struct stream_kernel *kernel, const struct stream_slice *slice)
{
    return (double)(kernel->loads + kernel->stores) * (double)slice->bytes * (double)slice->passes;
}

double compute_kernel_flop(const struct compute_kernel *kernel, uint32_t sve_bytes)
{
    double bytes = kernel->vector_bytes != 0 ? kernel->vector_bytes : sve_bytes;
    return kernel->instructions * (bytes / 8.0) * kernel->flop_per_8_bytes;
}
