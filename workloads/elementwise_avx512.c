#include "workloads/elementwise_loops.h"

const struct elementwise elementwise_avx512 = ELEMENTWISE_ROW(ISA_AVX512, "avx512");
