// What any compiler makes of plain 128-bit vectors: a multiplication and an addition, for
// machines without fused ones. The instruction set of the file is the platform's base.
#include "workloads/ceilings/compute_body.h"

typedef float floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));

#define STEP(sum, x, y) ((sum) = (sum) * (x) + (y))

DEFINE_CHAINS(f32, floats, STEP, 8)
DEFINE_CHAINS(f32, floats, STEP, 12)
DEFINE_CHAINS(f64, doubles, STEP, 8)
DEFINE_CHAINS(f64, doubles, STEP, 12)

#define ROW(type, TYPE, flop, n)                                                          \
    {                                                                                     \
        .dtype = #type, .class_ = "base128/mul+add/" #type, .isa = ISA_PORTABLE,          \
        .meaning = COMPUTE_RECURRENCE, .operand_x = TYPE, .operand_y = TYPE, .sum = TYPE, \
        .vector_bytes = 16, .flop_per_8_bytes = flop, CHAIN_FIELDS(type, n)               \
    }

static const struct compute_kernel rows[] = {
    ROW(f32, COMPUTE_F32, 4, 8), ROW(f32, COMPUTE_F32, 4, 12), ROW(f64, COMPUTE_F64, 2, 8),
    ROW(f64, COMPUTE_F64, 2, 12)};

const struct ceiling_set ceiling_set_compute_base = {
    .isa = ISA_PORTABLE, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
