#define LINEAR_SIMD "workloads/simd/simd_avx512.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_avx512vnni[] = {
    BLOCKS_EVERY_ROW(ISA_AVX512 | ISA_AVX512_VNNI, "avx512", "avx512_vnni/vpdpbusd/i32"),
    {.isa_name = NULL}};
