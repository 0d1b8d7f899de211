#include "workloads/elementwise.h"

const struct elementwise *elementwise_find(struct isa_set isa)
{
#if defined(__x86_64__)
    if (isa_has(isa, elementwise_avx512.needs)) {
        return &elementwise_avx512;
    }
    if (isa_has(isa, elementwise_avx2.needs)) {
        return &elementwise_avx2;
    }
#else
    (void)isa; // aarch64's base has vectors
#endif
    return &elementwise_portable;
}
