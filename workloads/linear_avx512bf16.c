#define LINEAR_SIMD "workloads/simd/simd_avx512.h"
#include "workloads/linear_tiles.h"

TOUCH_ALL
LINEAR_TILES(dot, LINE_BF16, LINEAR_DOT)

const struct linear_kernel linear_kernels_avx512bf16[] = {
    LINEAR_ROW(dot, LINE_BF16, LINEAR_DOT, ISA_AVX512 | ISA_AVX512_BF16, "avx512",
               "avx512/vdpbf16ps/f32"),
    {.isa_name = NULL}};
