#include "workloads/ceilings/compute_body.h"

typedef double vector __attribute__((vector_size(32)));

#define FMA_PS(sum, x, y) __asm__ volatile("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y))
#define FMA_PD(sum, x, y) __asm__ volatile("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y))

// Sixteen registers: two operands and at most twelve sums.
DEFINE_CHAINS(f32, vector, FMA_PS, 8)
DEFINE_CHAINS(f32, vector, FMA_PS, 12)
DEFINE_CHAINS(f64, vector, FMA_PD, 8)
DEFINE_CHAINS(f64, vector, FMA_PD, 12)

#define ROW_F32(n)                                                                                 \
    {                                                                                              \
        .dtype = "f32", .class_ = "avx2/vfmadd231ps/f32", .isa = ISA_AVX2, .meaning = COMPUTE_FMA, \
        .operand_x = COMPUTE_F32, .operand_y = COMPUTE_F32, .sum = COMPUTE_F32,                    \
        .vector_bytes = 32, .flop_per_8_bytes = 4, CHAIN_FIELDS(f32, n)                            \
    }
#define ROW_F64(n)                                                                                 \
    {                                                                                              \
        .dtype = "f64", .class_ = "avx2/vfmadd231pd/f64", .isa = ISA_AVX2, .meaning = COMPUTE_FMA, \
        .operand_x = COMPUTE_F64, .operand_y = COMPUTE_F64, .sum = COMPUTE_F64,                    \
        .vector_bytes = 32, .flop_per_8_bytes = 2, CHAIN_FIELDS(f64, n)                            \
    }

static const struct compute_kernel rows[] = {ROW_F32(8), ROW_F32(12), ROW_F64(8), ROW_F64(12)};

const struct ceiling_set ceiling_set_compute_avx2 = {
    .isa = ISA_AVX2, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
