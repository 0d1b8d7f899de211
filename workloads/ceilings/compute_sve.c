// Fused multiply-adds and dot products on SVE vectors, whatever their length. Vectors without a
// fixed size cannot be kept in C variables of a loop like the others; the accumulators are named
// registers: the sums of an iteration stay in z0..z23 because the whole loop is one asm statement.
#include "workloads/ceiling_kernel.h"
#include "workloads/ceilings/clock_chain.h"

enum { SVE_CHAINS = 24, SVE_INSTRUCTIONS = 48 };

#define EIGHT(DO, a, b, c, d, e, f, g, h) DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h)
#define ALL_SUMS(DO)                        \
    EIGHT(DO, 0, 1, 2, 3, 4, 5, 6, 7)       \
    EIGHT(DO, 8, 9, 10, 11, 12, 13, 14, 15) \
    EIGHT(DO, 16, 17, 18, 19, 20, 21, 22, 23)

#define ZERO(i) "mov z" #i ".d, #0\n"
#define STORE(i) "str z" #i ", [%[sums], #" #i ", mul vl]\n"
#define FMLA_S(i) "fmla z" #i ".s, p0/m, z24.s, z25.s\n"
#define FMLA_D(i) "fmla z" #i ".d, p0/m, z24.d, z25.d\n"
#define FMLA_H(i) "fmla z" #i ".h, p0/m, z24.h, z25.h\n"
#define SDOT_B(i) "sdot z" #i ".s, z24.b, z25.b\n"
#define LINK(i) "add %w[word], %w[word], %w[word]\n"

#define REGISTERS                                                                                  \
    "z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12", "z13", "z14", \
        "z15", "z16", "z17", "z18", "z19", "z20", "z21", "z22", "z23", "z24", "z25", "p0", "cc",   \
        "memory"

// links is a string of clock links placed between the two halves of an iteration: the core's
// window holds a whole iteration, so that they overlap with the multiply-adds.
#define DEFINE_SVE(name, INSTRUCTION, links)                                                   \
    static void name(struct compute_state *state, uint64_t iterations)                         \
    {                                                                                          \
        uint32_t word = state->clock_word;                                                     \
        if (iterations > 0) {                                                                  \
            __asm__ volatile("ptrue p0.b\n"                                                    \
                             "ldr z24, [%[x]]\n"                                               \
                             "ldr z25, [%[y]]\n" ALL_SUMS(ZERO) "1:\n" ALL_SUMS(INSTRUCTION)   \
                                 links ALL_SUMS(INSTRUCTION) links "subs %[n], %[n], #1\n"     \
                                                                   "b.ne 1b\n" ALL_SUMS(STORE) \
                             : [word] "+r"(word), [n] "+r"(iterations)                         \
                             : [x] "r"(state->x), [y] "r"(state->y), [sums] "r"(state->sums)   \
                             : REGISTERS);                                                     \
        }                                                                                      \
        state->clock_word = word;                                                              \
    }

#define LINKS_8 EIGHT(LINK, , , , , , , , )
#define LINKS_16 LINKS_8 LINKS_8
#define LINKS_32 LINKS_16 LINKS_16
#define LINKS_64 LINKS_32 LINKS_32

#define DEFINE_CLASS(id, INSTRUCTION)          \
    DEFINE_SVE(id, INSTRUCTION, "")            \
    DEFINE_SVE(id##_c0, INSTRUCTION, LINKS_8)  \
    DEFINE_SVE(id##_c1, INSTRUCTION, LINKS_16) \
    DEFINE_SVE(id##_c2, INSTRUCTION, LINKS_32) \
    DEFINE_SVE(id##_c3, INSTRUCTION, LINKS_64)

DEFINE_CLASS(f32, FMLA_S)
DEFINE_CLASS(f64, FMLA_D)
DEFINE_CLASS(f16, FMLA_H)
DEFINE_CLASS(int8, SDOT_B)

#define ROW(type, name, meaning_, TYPE, SUM, flop)                                              \
    {                                                                                           \
        .dtype = #type, .class_ = name, .isa = ISA_SVE, .meaning = meaning_, .operand_x = TYPE, \
        .operand_y = TYPE, .sum = SUM, .flop_per_8_bytes = flop,                                \
        .integer_operations = SUM == COMPUTE_I32, .chains = SVE_CHAINS,                         \
        .instructions = SVE_INSTRUCTIONS, .run = type,                                          \
        .clocked = {type##_c0, type##_c1, type##_c2, type##_c3}, .cycles = {                    \
            16 * CLOCK_STEP_CYCLES,                                                             \
            32 * CLOCK_STEP_CYCLES,                                                             \
            64 * CLOCK_STEP_CYCLES,                                                             \
            128 * CLOCK_STEP_CYCLES                                                             \
        }                                                                                       \
    }

#define FMA(type, TYPE, flop) ROW(type, "sve/fmla/" #type, COMPUTE_FMA, TYPE, TYPE, flop)

static const struct compute_kernel rows[] = {
    FMA(f32, COMPUTE_F32, 4), FMA(f64, COMPUTE_F64, 2), FMA(f16, COMPUTE_F16, 8),
    ROW(int8, "sve/sdot/i32", COMPUTE_DOT, COMPUTE_S8, COMPUTE_I32, 16)};

const struct ceiling_set ceiling_set_compute_sve = {
    .isa = ISA_SVE, .compute = rows, .compute_count = sizeof rows / sizeof *rows};
