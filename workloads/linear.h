#ifndef WORKLOADS_LINEAR_H
#define WORKLOADS_LINEAR_H

/** y[B,N] = x[B,K] W[N,K]^T, the linear layers of decode: W streams from memory once per call
 *  whatever B is. W is stored repacked in groups of 16 rows (line.h). N is padded to 16, K
 *  to whole units by activations of 0.
 *
 *  Each thread owns a contiguous run of groups, stored one after another in memory that it
 *  touches first itself. */

#include "roofline/status.h"
#include "workloads/isa.h"
#include "workloads/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the products are made. */
enum linear_class {
    LINEAR_FMA, /**< convert to f32, fused multiply-add in f32 */
    LINEAR_DOT  /**< the ISA's own dot product of the format: bf16 vdpbf16ps with f32 sums; block
                   formats integer products of a block's weights with quantised activations */
};

/** The full kernel, or one of its twins: the same loops over the same partition. */
enum linear_mode {
    LINEAR_FULL,
    LINEAR_MEMORY_ONLY, /**< the same lines in the same order with the same prefetches, no
                           arithmetic */
    LINEAR_COMPUTE_ONLY /**< the same code, all weights aliased onto one cache-resident block */
};

enum { LINEAR_BATCH_MAX = 512 };

struct linear_params {
    enum line_format format;
    enum linear_class class_;
    struct isa_set isa;
    uint64_t n; /**< outputs, rows of W */
    uint64_t k; /**< inputs, columns of W */
    unsigned batch;
    unsigned threads;
    size_t prefetch_bytes; /**< how far ahead of the stream; 0 = no software prefetch */
    size_t least_ldx;      /**< f32 elements from one row of x to the next at least */
    size_t least_ldy;      /**< and of y: room for the outputs of other matrices */
};

struct linear;

/** True if some kernel for this format and class exists for the set. */
bool linear_supported(enum line_format format, enum linear_class class_, struct isa_set isa);

/** Format and class name of kernel `index` of this build, whatever the CPU; false beyond the last.
 */
bool linear_kernel_name(enum line_format *format, const char **class_name, size_t index);

/** Allocates activations, packed activations and outputs (not the weights) and fills x with
 *  reproducible values. Errors: INVALID for zero extents, a batch above LINEAR_BATCH_MAX or rows
 *  that are no whole number of blocks, UNAVAILABLE without such a kernel, SYSTEM without memory.
 *  The caller destroys it. */
CHECKED struct status linear_create(struct linear **out, const struct linear_params *params);
void linear_destroy(struct linear *linear);

/** Makes `part` multiply the x of `whole` and write its outputs into whole's y from `column` on:
 *  matrices of different formats that share an input. Both were created with the same batch and
 *  the same least_ldx and least_ldy, wide enough; whole is destroyed last. Outputs of padded rows
 *  go beyond the part's, so that parts are multiplied in the order of their columns. */
void linear_join(struct linear *part, const struct linear *whole, size_t column);

/** Bytes of W that a thread owns, a multiple of 64; thread_bytes(0) is the largest. */
size_t linear_thread_bytes(const struct linear *linear, unsigned thread);

/** Bytes of W as stored over all threads, padding included. */
uint64_t linear_stored_bytes(const struct linear *linear);

/** "avx512/vfmadd231ps/f32", ... : ISA, instruction, accumulator. Static text. */
const char *linear_class_name(const struct linear *linear);
/** "avx512", "avx2", "neon", "portable". Static text. */
const char *linear_isa_name(const struct linear *linear);

/** Changes the prefetch distance for the calls that follow. */
void linear_set_prefetch(struct linear *linear, size_t prefetch_bytes);

/** One thread's share of one product; weights are the thread's own part (thread_bytes of it,
 *  64-byte aligned). Packs its share of x first, with a team barrier where the packing is
 *  shared; in block formats it is quantised, per 32 values to int8 with a scale. Must be called by
 *  all threads of the team, inside one parallel region. */
void linear_run(struct linear *linear, unsigned thread, const unsigned char *weights,
                enum linear_mode mode);

/** W[row, k] of the stored format as a double; weights[t] is thread t's part. */
double linear_weight(const struct linear *linear, const unsigned char *const *weights, uint64_t row,
                     uint64_t k);

/** Largest error of y after a LINEAR_FULL run, against a double-precision product of the stored
 *  weights and of x (as rounded or quantised for the class, which is checked too), relative to
 *  sum |w||x| of each output (|w|: line_magnitude()); over rows spread evenly, at least min(N,
 * rows) of them and the first and last of each thread. Infinite if there is no memory for it. */
double linear_check(const struct linear *linear, const unsigned char *const *weights,
                    uint64_t rows);

/** Bound that linear_check() must stay below: K additions in f32 in blocks, each with relative
 *  error 2^-24 (Higham, Accuracy and Stability, 2nd ed., eq. 4.4 with the block length), and
 *  for the dot class its flushes and roundings. */
double linear_tolerance(const struct linear *linear);

#endif
