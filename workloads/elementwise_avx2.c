#include "workloads/elementwise_loops.h"

const struct elementwise elementwise_avx2 = ELEMENTWISE_ROW(ISA_AVX2, "avx2");
