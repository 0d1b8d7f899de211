#define VECTOR_BYTES 64
#define WIDTH 512
#define STREAM_ISA ISA_AVX512
#include "workloads/ceilings/stream_body.h"

#include <immintrin.h>

static inline void store_nontemporal(vector *to, vector value)
{
    _mm512_stream_pd((double *)to, value);
}

static inline void drain_stores(void)
{
    _mm_sfence();
}

const struct ceiling_set ceiling_set_streams_avx512 = {
    .isa = STREAM_ISA,
    .streams = stream_rows,
    .stream_count = sizeof stream_rows / sizeof *stream_rows,
};
