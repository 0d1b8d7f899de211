#define LINEAR_SIMD "workloads/simd/simd_c.h"
#include "workloads/linear_blocks.h"

TOUCH_ALL
LINEAR_TILES(f32, LINE_F32, LINEAR_FMA)
LINEAR_TILES(bf16, LINE_BF16, LINEAR_FMA)
LINEAR_TILES(f16, LINE_F16, LINEAR_FMA)
BLOCKS_EVERY_TILE

const struct linear_kernel linear_kernels_portable[] = {
    LINEAR_ROW(f32, LINE_F32, LINEAR_FMA, ISA_PORTABLE, "portable", "portable/c/f32"),
    LINEAR_ROW(bf16, LINE_BF16, LINEAR_FMA, ISA_PORTABLE, "portable", "portable/c/f32"),
    LINEAR_ROW(f16, LINE_F16, LINEAR_FMA, ISA_PORTABLE, "portable", "portable/c/f32"),
    BLOCKS_EVERY_ROW(ISA_PORTABLE, "portable", "portable/c/i32"),
    {.isa_name = NULL}};
