// 128-bit vectors, which every x86-64 (SSE2) and aarch64 (NEON) has.
#define VECTOR_BYTES 16
#define WIDTH 128
#define STREAM_ISA ISA_PORTABLE
#include "workloads/ceilings/stream_body.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static inline void store_nontemporal(vector *to, vector value)
{
    _mm_stream_pd((double *)to, value);
}

static inline void drain_stores(void)
{
    _mm_sfence();
}
#elif defined(__aarch64__)
// STNP wants a pair; both halves of one vector make it.
static inline void store_nontemporal(vector *to, vector value)
{
    __asm__ volatile("stnp %d1, %d2, [%0]" : : "r"(to), "w"(value[0]), "w"(value[1]) : "memory");
}

static inline void drain_stores(void)
{
    __asm__ volatile("dmb ishst" ::: "memory");
}
#else
#error "streams_base.c knows the non-temporal stores of x86-64 and aarch64"
#endif

const struct ceiling_set ceiling_set_streams_base = {
    .isa = STREAM_ISA,
    .streams = stream_rows,
    .stream_count = sizeof stream_rows / sizeof *stream_rows,
};
