#define LINEAR_SIMD "workloads/simd/simd_avx2.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_avxvnni[] = {
    BLOCKS_EVERY_ROW(ISA_AVX2 | ISA_AVX_VNNI, "avx2", "avx_vnni/vpdpbusd/i32"), {.isa_name = NULL}};
