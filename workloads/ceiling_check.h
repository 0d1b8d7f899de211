#ifndef WORKLOADS_CEILING_CHECK_H
#define WORKLOADS_CEILING_CHECK_H

/** Proof that a ceiling kernel does the work that its descriptor states, on this CPU, now. */

#include "roofline/status.h"
#include "workloads/ceiling_kernel.h"

/** Fills x and y with small values of the kernel's types whose products and sums are exact in
 *  its accumulator for at least COMPUTE_CHECK_ITERATIONS iterations. vector_bytes is the
 *  kernel's, or the length of an SVE vector. */
void compute_state_fill(struct compute_state *state, const struct compute_kernel *kernel,
                        size_t vector_bytes);

enum { COMPUTE_CHECK_ITERATIONS = 3 };

/** Runs the kernel, plain and with each clock chain, for COMPUTE_CHECK_ITERATIONS and compares
 *  every lane of every accumulator with the same sums in double precision. Errors: MISMATCH
 *  naming the first lane that differs. Executes the instructions: SIGILL if the CPU lacks them. */
CHECKED struct status compute_kernel_check(const struct compute_kernel *kernel, uint32_t sve_bytes);

/** Runs the kernel over small arrays and compares every element (or, for load, the XOR of all
 *  words) with a plain loop. Errors: MISMATCH; SYSTEM without memory. */
CHECKED struct status stream_kernel_check(const struct stream_kernel *kernel);

/** bit i of the answer is set if kernels[i] passes its check. Runs in a child process, so that an
 *  instruction that the CPU (or an emulator, or a hypervisor) refuses only fails its own check.
 *  Call before large memory is touched: the child is a fork. Errors: SYSTEM if no child starts. */
CHECKED struct status compute_kernels_verify(bool *passed,
                                             const struct compute_kernel *const *kernels,
                                             size_t count, uint32_t sve_bytes);

#endif
