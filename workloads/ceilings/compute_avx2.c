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

// A dot product of bytes without VNNI: pairs to 16 bits, those to 32, added. Saturates where two
// products exceed 16 bits; the operands here are small.
static const short ones[16]
    __attribute__((aligned(32))) = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
INLINE vector dot_u8s8(vector sum, vector x, vector y)
{
    vector pairs;
    __asm__ volatile("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
                     : "+x"(sum), "=&x"(pairs)
                     : "x"(x), "x"(y), "m"(ones));
    return sum;
}
#define DOT_U8S8(sum, x, y) ((sum) = dot_u8s8(sum, x, y))

DEFINE_CHAINS(int8, vector, DOT_U8S8, 8)
DEFINE_CHAINS(int8, vector, DOT_U8S8, 12)

#define ROW_INT8(n)                                                                                \
    {                                                                                              \
        .dtype = "int8", .class_ = "avx2/vpmaddubsw/i32", .isa = ISA_AVX2, .meaning = COMPUTE_DOT, \
        .operand_x = COMPUTE_U8, .operand_y = COMPUTE_S8, .sum = COMPUTE_I32, .vector_bytes = 32,  \
        .flop_per_8_bytes = 16, .integer_operations = true, CHAIN_FIELDS(int8, n)                  \
    }

static const struct compute_kernel rows[] = {ROW_F32(8),  ROW_F32(12), ROW_F64(8),
                                             ROW_F64(12), ROW_INT8(8), ROW_INT8(12)};

const struct ceiling_set ceiling_set_compute_avx2 = {
    .isa = ISA_AVX2, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
