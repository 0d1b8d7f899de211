// Every aarch64 has these 128-bit fused multiply-adds.
#include "workloads/ceilings/compute_body.h"

typedef double vector __attribute__((vector_size(16)));

#define FMA_S(sum, x, y) __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(x), "w"(y))
#define FMA_D(sum, x, y) __asm__ volatile("fmla %0.2d, %1.2d, %2.2d" : "+w"(sum) : "w"(x), "w"(y))

DEFINE_CHAINS(f32, vector, FMA_S, 12)
DEFINE_CHAINS(f32, vector, FMA_S, 24)
DEFINE_CHAINS(f64, vector, FMA_D, 12)
DEFINE_CHAINS(f64, vector, FMA_D, 24)

#define ROW(type, TYPE, flop, n)                                                               \
    {                                                                                          \
        .dtype = #type, .class_ = "neon/fmla/" #type, .isa = ISA_NEON, .meaning = COMPUTE_FMA, \
        .operand_x = TYPE, .operand_y = TYPE, .sum = TYPE, .vector_bytes = 16,                 \
        .flop_per_8_bytes = flop, CHAIN_FIELDS(type, n)                                        \
    }

static const struct compute_kernel rows[] = {
    ROW(f32, COMPUTE_F32, 4, 12), ROW(f32, COMPUTE_F32, 4, 24), ROW(f64, COMPUTE_F64, 2, 12),
    ROW(f64, COMPUTE_F64, 2, 24)};

const struct ceiling_set ceiling_set_compute_neon = {
    .isa = ISA_NEON, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
