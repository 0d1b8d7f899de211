#include "workloads/elementwise_loops.h"

const struct elementwise elementwise_portable = ELEMENTWISE_ROW(ISA_PORTABLE, "portable");
