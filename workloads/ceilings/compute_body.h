#ifndef WORKLOADS_CEILINGS_COMPUTE_BODY_H
#define WORKLOADS_CEILINGS_COMPUTE_BODY_H

/** Chains of one instruction over CHAINS accumulators in registers, written once. A file of one
 *  instruction set defines for each of its classes how the instruction is applied and names the
 *  chain counts; the macros give the plain loop and those with a clock chain in it. */

#include "workloads/ceiling_kernel.h"
#include "workloads/ceilings/clock_chain.h"

#define INLINE static inline __attribute__((always_inline))

/** Instructions of one iteration: a multiple of every chain count in use (6 8 12 16 24). */
enum { COMPUTE_INSTRUCTIONS = 48 };

/** Core cycles of the clock chain in an iteration: just above what 4, 2, 1 and half an
 *  instruction per cycle need for COMPUTE_INSTRUCTIONS. */
enum { CLOCK_CYCLES_0 = 15, CLOCK_CYCLES_1 = 30, CLOCK_CYCLES_2 = 60, CLOCK_CYCLES_3 = 120 };

/** Defines name(): TYPE vectors, APPLY(sum, x, y), chains accumulators, and a clock chain of
 *  cycles whose links are spread evenly among the instructions. __builtin_memcpy, because under
 *  -fno-builtin memcpy would be a call and keep the sums in memory. */
#define DEFINE_CHAIN_LOOP(name, TYPE, APPLY, chains, cycles)                                  \
    static void name(struct compute_state *state, uint64_t iterations)                        \
    {                                                                                         \
        enum { STEPS = (cycles) / CLOCK_STEP_CYCLES };                                        \
        TYPE x;                                                                               \
        TYPE y;                                                                               \
        TYPE sums[chains] = {0};                                                              \
        uint32_t word = state->clock_word;                                                    \
        __builtin_memcpy(&x, state->x, sizeof x);                                             \
        __builtin_memcpy(&y, state->y, sizeof y);                                             \
        for (uint64_t i = 0; i < iterations; i++) {                                           \
            _Pragma("GCC unroll 48") for (unsigned n = 0; n < COMPUTE_INSTRUCTIONS; n++)      \
            {                                                                                 \
                APPLY(sums[n % (chains)], x, y);                                              \
                _Pragma("GCC unroll 8") for (unsigned s = n * STEPS / COMPUTE_INSTRUCTIONS;   \
                                             s < (n + 1) * STEPS / COMPUTE_INSTRUCTIONS; s++) \
                {                                                                             \
                    CLOCK_STEP(word);                                                         \
                }                                                                             \
            }                                                                                 \
        }                                                                                     \
        __builtin_memcpy(state->sums, sums, sizeof sums);                                     \
        state->clock_word = word;                                                             \
    }

#define DEFINE_CHAINS(id, TYPE, APPLY, chains)                                 \
    DEFINE_CHAIN_LOOP(id##_##chains, TYPE, APPLY, chains, 0)                   \
    DEFINE_CHAIN_LOOP(id##_##chains##_c0, TYPE, APPLY, chains, CLOCK_CYCLES_0) \
    DEFINE_CHAIN_LOOP(id##_##chains##_c1, TYPE, APPLY, chains, CLOCK_CYCLES_1) \
    DEFINE_CHAIN_LOOP(id##_##chains##_c2, TYPE, APPLY, chains, CLOCK_CYCLES_2) \
    DEFINE_CHAIN_LOOP(id##_##chains##_c3, TYPE, APPLY, chains, CLOCK_CYCLES_3)

/** The fields of a row that follow from DEFINE_CHAINS(id, ..., chains_). */
#define CHAIN_FIELDS(id, chains_)                                                   \
    .chains = chains_, .instructions = COMPUTE_INSTRUCTIONS, .run = id##_##chains_, \
    .clocked = {id##_##chains_##_c0, id##_##chains_##_c1, id##_##chains_##_c2,      \
                id##_##chains_##_c3},                                               \
    .cycles = {CLOCK_CYCLES_0, CLOCK_CYCLES_1, CLOCK_CYCLES_2, CLOCK_CYCLES_3}

#endif
