#define LINEAR_SIMD "workloads/simd/simd_neon.h"
#include "workloads/linear_tiles.h"

TOUCH_ALL
LINEAR_TILES(dot, LINE_BF16, LINEAR_DOT)

const struct linear_kernel linear_kernels_neonbf16[] = {LINEAR_ROW(dot, LINE_BF16, LINEAR_DOT,
                                                                   ISA_NEON | ISA_NEON_BF16, "neon",
                                                                   "neon_bf16/bfmmla/f32"),
                                                        {.isa_name = NULL}};
