// Half precision, dot products and small matrix products on 128-bit vectors. Each needs its own
// feature; the assembler is told to accept all of them.
#include "workloads/ceilings/compute_body.h"

typedef double vector __attribute__((vector_size(16)));

#define FMA_H(sum, x, y) __asm__ volatile("fmla %0.8h, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(y))
#define DOT_S8(sum, x, y) \
    __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(y))
#define MMLA_S8(sum, x, y) \
    __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(y))
#define DOT_BF16(sum, x, y) \
    __asm__ volatile("bfdot %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(y))
#define MMLA_BF16(sum, x, y) \
    __asm__ volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(y))

DEFINE_CHAINS(f16, vector, FMA_H, 24)
DEFINE_CHAINS(sdot, vector, DOT_S8, 24)
DEFINE_CHAINS(smmla, vector, MMLA_S8, 24)
DEFINE_CHAINS(bfdot, vector, DOT_BF16, 24)
DEFINE_CHAINS(bfmmla, vector, MMLA_BF16, 24)

#define ROW(id, type, isa_, name, meaning_, operand, sum_, flop, integer)                      \
    {                                                                                          \
        .dtype = type, .class_ = name, .isa = isa_, .meaning = meaning_, .operand_x = operand, \
        .operand_y = operand, .sum = sum_, .vector_bytes = 16, .flop_per_8_bytes = flop,       \
        .integer_operations = integer, CHAIN_FIELDS(id, 24)                                    \
    }

static const struct compute_kernel rows[] = {
    ROW(f16, "f16", ISA_NEON_FP16, "neon_fp16/fmla/f16", COMPUTE_FMA, COMPUTE_F16, COMPUTE_F16, 8,
        false),
    ROW(sdot, "int8", ISA_NEON_DOTPROD, "neon_dotprod/sdot/i32", COMPUTE_DOT, COMPUTE_S8,
        COMPUTE_I32, 16, true),
    ROW(smmla, "int8", ISA_NEON_I8MM, "neon_i8mm/smmla/i32", COMPUTE_MMLA, COMPUTE_S8, COMPUTE_I32,
        32, true),
    ROW(bfdot, "bf16", ISA_NEON_BF16, "neon_bf16/bfdot/f32", COMPUTE_DOT, COMPUTE_BF16, COMPUTE_F32,
        8, false),
    ROW(bfmmla, "bf16", ISA_NEON_BF16, "neon_bf16/bfmmla/f32", COMPUTE_MMLA, COMPUTE_BF16,
        COMPUTE_F32, 16, false)};

const struct ceiling_set ceiling_set_compute_neonext = {
    .isa = ISA_NEON, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
