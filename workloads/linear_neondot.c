#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_neondot[] = {
    BLOCKS_EVERY_ROW(ISA_NEON | ISA_NEON_DOTPROD, "neon", "neon_dotprod/sdot/i32"),
    {.isa_name = NULL}};
