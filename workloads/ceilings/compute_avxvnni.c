#include "workloads/ceilings/compute_body.h"

typedef double vector __attribute__((vector_size(32)));

// The braces ask the assembler for the VEX form, which parts without AVX-512 have.
#define DOT_U8S8(sum, x, y) \
    __asm__ volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y))

DEFINE_CHAINS(int8, vector, DOT_U8S8, 8)
DEFINE_CHAINS(int8, vector, DOT_U8S8, 12)

#define ROW_INT8(n)                                                               \
    {                                                                             \
        .dtype = "int8", .class_ = "avx_vnni/vpdpbusd/i32", .isa = ISA_AVX_VNNI,  \
        .meaning = COMPUTE_DOT, .operand_x = COMPUTE_U8, .operand_y = COMPUTE_S8, \
        .sum = COMPUTE_I32, .vector_bytes = 32, .flop_per_8_bytes = 16,           \
        .integer_operations = true, CHAIN_FIELDS(int8, n)                         \
    }

static const struct compute_kernel rows[] = {ROW_INT8(8), ROW_INT8(12)};

const struct ceiling_set ceiling_set_compute_avxvnni = {
    .isa = ISA_AVX_VNNI, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
