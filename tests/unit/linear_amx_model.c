// The AMX kernels of the linears on tiles in C, in place of those of the library.
#include "workloads/linear_amx.c"

struct amx_model *amx_model(void)
{
    static _Thread_local struct amx_model model;
    return &model;
}
