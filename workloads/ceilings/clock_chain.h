#ifndef WORKLOADS_CEILINGS_CLOCK_CHAIN_H
#define WORKLOADS_CEILINGS_CLOCK_CHAIN_H

/** One link of a chain of dependent integer instructions of known latency: where the chain is a
 *  loop's longest path it counts core cycles without a counter. */

#if defined(__x86_64__)
// 32-bit imul takes 3 cycles on Intel since Nehalem, on Gracemont and on Zen 1-5 (A. Fog,
// Instruction tables, 2022). Not an add with an immediate: Golden Cove folds those at rename.
#define CLOCK_STEP(word) __asm__ volatile("imull %0, %0" : "+r"(word))
enum { CLOCK_STEP_CYCLES = 3 };
#elif defined(__aarch64__)
// An unshifted register add takes 1 cycle on Cortex-A and Neoverse (Arm, Neoverse N1 and V1
// Software Optimization Guides, section 3.3); mul takes 2 or 3 depending on the core.
#define CLOCK_STEP(word) __asm__ volatile("add %w0, %w0, %w0" : "+r"(word))
enum { CLOCK_STEP_CYCLES = 1 };
#else
#error "clock_chain.h knows x86-64 and aarch64"
#endif

#endif
