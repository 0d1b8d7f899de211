#include "workloads/ceilings/compute_body.h"

typedef double vector __attribute__((vector_size(64)));

#define FMA_PS(sum, x, y) __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define FMA_PD(sum, x, y) __asm__ volatile("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define FMA_PH(sum, x, y) __asm__ volatile("vfmadd231ph %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define DOT_BF16(sum, x, y) __asm__ volatile("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define DOT_U8S8(sum, x, y) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))

DEFINE_CHAINS(f32, vector, FMA_PS, 8)
DEFINE_CHAINS(f32, vector, FMA_PS, 12)
DEFINE_CHAINS(f32, vector, FMA_PS, 24)
DEFINE_CHAINS(f64, vector, FMA_PD, 8)
DEFINE_CHAINS(f64, vector, FMA_PD, 12)
DEFINE_CHAINS(f64, vector, FMA_PD, 24)
DEFINE_CHAINS(f16, vector, FMA_PH, 12)
DEFINE_CHAINS(f16, vector, FMA_PH, 24)
DEFINE_CHAINS(bf16, vector, DOT_BF16, 12)
DEFINE_CHAINS(bf16, vector, DOT_BF16, 24)
DEFINE_CHAINS(int8, vector, DOT_U8S8, 12)
DEFINE_CHAINS(int8, vector, DOT_U8S8, 24)

#define ROW_FLOAT(type, TYPE, instruction, flop, n)                                   \
    {                                                                                 \
        .dtype = #type, .class_ = "avx512/" instruction "/" #type, .isa = ISA_AVX512, \
        .meaning = COMPUTE_FMA, .operand_x = TYPE, .operand_y = TYPE, .sum = TYPE,    \
        .vector_bytes = 64, .flop_per_8_bytes = flop, CHAIN_FIELDS(type, n)           \
    }
#define ROW_F16(n)                                                                          \
    {                                                                                       \
        .dtype = "f16", .class_ = "avx512_fp16/vfmadd231ph/f16", .isa = ISA_AVX512_FP16,    \
        .meaning = COMPUTE_FMA, .operand_x = COMPUTE_F16, .operand_y = COMPUTE_F16,         \
        .sum = COMPUTE_F16, .vector_bytes = 64, .flop_per_8_bytes = 8, CHAIN_FIELDS(f16, n) \
    }
#define ROW_BF16(n)                                                                          \
    {                                                                                        \
        .dtype = "bf16", .class_ = "avx512_bf16/vdpbf16ps/f32", .isa = ISA_AVX512_BF16,      \
        .meaning = COMPUTE_DOT, .operand_x = COMPUTE_BF16, .operand_y = COMPUTE_BF16,        \
        .sum = COMPUTE_F32, .vector_bytes = 64, .flop_per_8_bytes = 8, CHAIN_FIELDS(bf16, n) \
    }
#define ROW_INT8(n)                                                                    \
    {                                                                                  \
        .dtype = "int8", .class_ = "avx512_vnni/vpdpbusd/i32", .isa = ISA_AVX512_VNNI, \
        .meaning = COMPUTE_DOT, .operand_x = COMPUTE_U8, .operand_y = COMPUTE_S8,      \
        .sum = COMPUTE_I32, .vector_bytes = 64, .flop_per_8_bytes = 16,                \
        .integer_operations = true, CHAIN_FIELDS(int8, n)                              \
    }

static const struct compute_kernel rows[] = {
    ROW_FLOAT(f32, COMPUTE_F32, "vfmadd231ps", 4, 8),
    ROW_FLOAT(f32, COMPUTE_F32, "vfmadd231ps", 4, 12),
    ROW_FLOAT(f32, COMPUTE_F32, "vfmadd231ps", 4, 24),
    ROW_FLOAT(f64, COMPUTE_F64, "vfmadd231pd", 2, 8),
    ROW_FLOAT(f64, COMPUTE_F64, "vfmadd231pd", 2, 12),
    ROW_FLOAT(f64, COMPUTE_F64, "vfmadd231pd", 2, 24),
    ROW_F16(12),
    ROW_F16(24),
    ROW_BF16(12),
    ROW_BF16(24),
    ROW_INT8(12),
    ROW_INT8(24),
};

const struct ceiling_set ceiling_set_compute_avx512 = {
    .isa = ISA_AVX512, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
