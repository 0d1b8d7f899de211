#define LINEAR_SIMD "workloads/simd/simd_avx2.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_vnni256[] = {
    BLOCKS_EVERY_ROW(ISA_AVX2 | ISA_AVX512_VNNI, "avx2", "avx512vl/vpdpbusd/i32"),
    {.isa_name = NULL}};
