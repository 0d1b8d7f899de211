#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include "workloads/linear_tiles.h"

TOUCH_ALL
LINEAR_TILES(f32, LINE_F32, LINEAR_FMA)
LINEAR_TILES(bf16, LINE_BF16, LINEAR_FMA)
LINEAR_TILES(f16, LINE_F16, LINEAR_FMA)

const struct linear_kernel linear_kernels_neon[] = {
    LINEAR_ROW(f32, LINE_F32, LINEAR_FMA, ISA_NEON, "neon", "neon/fmla/f32"),
    LINEAR_ROW(bf16, LINE_BF16, LINEAR_FMA, ISA_NEON, "neon", "neon/fmla/f32"),
    LINEAR_ROW(f16, LINE_F16, LINEAR_FMA, ISA_NEON, "neon", "neon/fmla/f32"),
    {.isa_name = NULL}};
