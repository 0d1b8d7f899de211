#define LINEAR_SIMD "workloads/simd/simd_avx2.h"
#include "workloads/linear_blocks.h"

TOUCH_ALL
LINEAR_TILES(f32, LINE_F32, LINEAR_FMA)
LINEAR_TILES(bf16, LINE_BF16, LINEAR_FMA)
LINEAR_TILES(f16, LINE_F16, LINEAR_FMA)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_avx2[] = {
    LINEAR_ROW(f32, LINE_F32, LINEAR_FMA, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    LINEAR_ROW(bf16, LINE_BF16, LINEAR_FMA, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    LINEAR_ROW(f16, LINE_F16, LINEAR_FMA, ISA_AVX2, "avx2", "avx2/vfmadd231ps/f32"),
    BLOCKS_EVERY_ROW(ISA_AVX2, "avx2", "avx2/vpmaddubsw/i32"),
    {.isa_name = NULL}};
