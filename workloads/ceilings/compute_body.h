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

/** Lists of accumulators: separate variables, because an array of 24 vectors stays in memory. */
#define CHAINS_6(DO, with) DO(with, 0) DO(with, 1) DO(with, 2) DO(with, 3) DO(with, 4) DO(with, 5)
#define CHAINS_8(DO, with) CHAINS_6(DO, with) DO(with, 6) DO(with, 7)
#define CHAINS_12(DO, with) CHAINS_8(DO, with) DO(with, 8) DO(with, 9) DO(with, 10) DO(with, 11)
#define CHAINS_16(DO, with) CHAINS_12(DO, with) DO(with, 12) DO(with, 13) DO(with, 14) DO(with, 15)
#define CHAINS_24(DO, with) \
    CHAINS_16(DO, with)     \
    DO(with, 16)            \
    DO(with, 17) DO(with, 18) DO(with, 19) DO(with, 20) DO(with, 21) DO(with, 22) DO(with, 23)

#define CHAIN_DECLARE(vector_, i) vector_ sum##i = {0};
#define CHAIN_STORE(vector_, i) \
    __builtin_memcpy(state->sums + (i) * sizeof(vector_), &sum##i, sizeof(vector_));
/** One instruction and its share of the clock chain's links. */
#define CHAIN_LINK(APPLY, i)                                      \
    APPLY(sum##i, x, y);                                          \
    clock_links(&word, (at + (i)) * links / COMPUTE_INSTRUCTIONS, \
                (at + (i) + 1) * links / COMPUTE_INSTRUCTIONS);

INLINE void clock_links(uint32_t *word, unsigned from, unsigned to)
{
    uint32_t value = *word;
#pragma GCC unroll 8
    for (unsigned i = from; i < to; i++) {
        CLOCK_STEP(value);
    }
    *word = value;
}

/** Defines name(): the instruction APPLY_ on chains accumulators of the type vector_, and a clock
 *  chain of cycles whose links are spread evenly among the instructions. __builtin_memcpy,
 *  because under -fno-builtin memcpy would be a call and keep the sums in memory. */
#define DEFINE_CHAIN_LOOP(name, vector_, APPLY_, chains, cycles)                          \
    static void name(struct compute_state *state, uint64_t iterations)                    \
    {                                                                                     \
        const unsigned links = (cycles) / CLOCK_STEP_CYCLES;                              \
        uint32_t word = state->clock_word;                                                \
        vector_ x;                                                                        \
        vector_ y;                                                                        \
        __builtin_memcpy(&x, state->x, sizeof x);                                         \
        __builtin_memcpy(&y, state->y, sizeof y);                                         \
        CHAINS_##chains(CHAIN_DECLARE, vector_) for (uint64_t n = 0; n < iterations; n++) \
        {                                                                                 \
            _Pragma("GCC unroll 8") for (unsigned at = 0; at < COMPUTE_INSTRUCTIONS;      \
                                         at += (chains))                                  \
            {                                                                             \
                CHAINS_##chains(CHAIN_LINK, APPLY_)                                       \
            }                                                                             \
        }                                                                                 \
        CHAINS_##chains(CHAIN_STORE, vector_) state->clock_word = word;                   \
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
