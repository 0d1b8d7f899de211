#define ATTENTION_SIMD "workloads/simd/simd_avx2.h"
#include "workloads/attention_tiles.h"

ATTENTION_TILES(f32, LINE_F32)
ATTENTION_TILES(bf16, LINE_BF16)
ATTENTION_TILES(f16, LINE_F16)

const struct attention_kernel attention_kernels_avx2[] = {
    ATTENTION_ROW(f32, LINE_F32, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    ATTENTION_ROW(bf16, LINE_BF16, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    ATTENTION_ROW(f16, LINE_F16, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    ATTENTION_QUANT_ROW(LINE_Q8_0, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    ATTENTION_QUANT_ROW(LINE_INT8, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    {.isa_name = NULL}};
