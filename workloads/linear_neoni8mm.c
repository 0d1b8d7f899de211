#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_neoni8mm[] = {
    BLOCKS_EVERY_ROW(ISA_NEON | ISA_NEON_DOTPROD | ISA_NEON_I8MM, "neon", "neon_i8mm/smmla/i32"),
    {.isa_name = NULL}};
