#define LINEAR_SIMD "workloads/simd/simd_avx2.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_TILES(q8_0, LINE_Q8_0)
BLOCKS_TILES(q4_0, LINE_Q4_0)

const struct linear_kernel linear_kernels_avxvnni[] = {
    BLOCKS_ROW(q8_0, LINE_Q8_0, ISA_AVX2 | ISA_AVX_VNNI, "avx2", "avx_vnni/vpdpbusd/i32"),
    BLOCKS_ROW(q4_0, LINE_Q4_0, ISA_AVX2 | ISA_AVX_VNNI, "avx2", "avx_vnni/vpdpbusd/i32"),
    {.isa_name = NULL}};
