#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include "workloads/linear_blocks.h"

TOUCH(1)
BLOCKS_TILES(q8_0, LINE_Q8_0)
BLOCKS_TILES(q4_0, LINE_Q4_0)

const struct linear_kernel linear_kernels_neondot[] = {
    BLOCKS_ROW(q8_0, LINE_Q8_0, ISA_NEON | ISA_NEON_DOTPROD, "neon", "neon_dotprod/sdot/i32"),
    BLOCKS_ROW(q4_0, LINE_Q4_0, ISA_NEON | ISA_NEON_DOTPROD, "neon", "neon_dotprod/sdot/i32"),
    {.isa_name = NULL}};
