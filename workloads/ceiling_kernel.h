#ifndef WORKLOADS_CEILING_KERNEL_H
#define WORKLOADS_CEILING_KERNEL_H

/** The kernels that a machine's ceilings are measured with: streams over memory and chains of
 *  arithmetic in registers. Each is a function of one thread, with what it moves and computes
 *  stated beside it; none allocates, prints or looks at a configuration. Who calls them, on which
 *  threads and how they are timed is not known here.
 *
 *  To add one: ceilings/<name>.c with `const struct ceiling_set ceiling_set_<name>`, compiled with
 *  its own instruction-set flags, and one word in workloads/CMakeLists.txt. */

#include "workloads/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What one thread streams over. Arrays that a kernel does not use may be NULL. */
struct stream_slice {
    double *to;         /**< written; for load the array that is read */
    const double *from; /**< first source */
    const double *plus; /**< second source (add, triad) */
    size_t bytes;  /**< of each array, a multiple of STREAM_BLOCK; arrays are 64-byte aligned */
    size_t passes; /**< times over the arrays */
    double scalar; /**< s below; the value that store writes */
    uint64_t sink; /**< out, load: XOR of all 64-bit words read, over all passes */
};

/** Every slice is a whole number of these. */
enum { STREAM_BLOCK = 4096 };

/** One way to stream. Per element: load reads to; store to = s; copy to = from; scale
 *  to = s from; add to = from + plus; triad to = from + s plus; _nt with non-temporal stores. */
struct stream_kernel {
    const char *kernel;      /**< load store store_nt copy copy_nt scale add triad triad_nt */
    const char *variant;     /**< streams x prefetch distance in bytes x width in bits */
    uint32_t isa;            /**< features it needs */
    unsigned loads;          /**< bytes read per byte of an array */
    unsigned stores;         /**< bytes written per byte of an array, without write-allocate */
    unsigned flop;           /**< per element of 8 bytes */
    unsigned streams;        /**< pieces of an array walked at the same time */
    unsigned prefetch_bytes; /**< distance of the software prefetch; 0 none */
    unsigned width_bits;
    bool nontemporal;
    void (*run)(struct stream_slice *slice);
};

/** Operands of a chain kernel as raw vectors (or tiles), and what it leaves behind. */
enum {
    COMPUTE_VECTOR_BYTES = 1024, /**< an AMX tile; the longest SVE vector is 256 */
    COMPUTE_SUMS_BYTES = 8192,   /**< 32 chains of 256, 8 tiles */
    COMPUTE_CHAINS_MAX = 32
};

struct compute_state {
    _Alignas(64) unsigned char x[COMPUTE_VECTOR_BYTES];
    _Alignas(64) unsigned char y[COMPUTE_VECTOR_BYTES];
    /** out: accumulators of all chains, one vector each, one after the other. */
    _Alignas(64) unsigned char sums[COMPUTE_SUMS_BYTES];
    uint32_t clock_word; /**< start and, out, end of the clock chain */
};

/** What one instruction does to its accumulator, sum. */
enum compute_meaning {
    COMPUTE_FMA,        /**< sum[i] += x[i] y[i] */
    COMPUTE_RECURRENCE, /**< sum[i] = sum[i] x[i] + y[i], two roundings */
    COMPUTE_DOT,        /**< sum[i] += the products of x and y that fill lane i (2 or 4) */
    COMPUTE_MMLA,       /**< per 128 bits 2 x 2 sums: sum[r][c] += x[r] . y[c], rows of 8 bytes */
    COMPUTE_TILE /**< 16 x 16 sums: sum[m][n] += sum over k < 16, j of x[m][k,j] y[k][n,j], where
                      j counts the operands that fill a lane (2 or 4) */
};

enum compute_type {
    COMPUTE_F64,
    COMPUTE_F32,
    COMPUTE_F16,
    COMPUTE_BF16,
    COMPUTE_S8,
    COMPUTE_U8,
    COMPUTE_I32
};

/** Clock chains that a compute kernel has beside its plain loop: the same instructions with a
 *  chain of dependent multiplications among them, each level longer than the one before. When
 *  the chain is the longest path, its steps count core cycles. */
enum { COMPUTE_CLOCKS = 4 };

/** Iterations of one class of instruction over independent chains of accumulators. */
struct compute_kernel {
    const char *dtype;  /**< of the operands: f64 f32 f16 bf16 int8 */
    const char *class_; /**< isa/instruction/accumulate */
    uint32_t isa;       /**< features it needs */
    enum compute_meaning meaning;
    enum compute_type operand_x;
    enum compute_type operand_y;
    enum compute_type sum;
    unsigned vector_bytes; /**< of x, y and each accumulator; 0: an SVE vector's length */
    unsigned chains;
    unsigned instructions;     /**< in one iteration, over all chains */
    unsigned flop_per_8_bytes; /**< operations of one instruction per 8 bytes of accumulator */
    bool integer_operations;
    /** Runs iterations from sums of 0. */
    void (*run)(struct compute_state *state, uint64_t iterations);
    /** With a chain of cycles[i] core cycles in each iteration; NULL: no such level. */
    void (*clocked[COMPUTE_CLOCKS])(struct compute_state *state, uint64_t iterations);
    unsigned cycles[COMPUTE_CLOCKS];
    /** Asks the kernel for what the instructions need (AMX); NULL: nothing. False: refused. */
    bool (*prepare)(void);
};

struct ceiling_set {
    uint32_t isa; /**< what all of them need */
    const struct stream_kernel *streams;
    size_t stream_count;
    const struct compute_kernel *compute;
    size_t compute_count;
};

/** All sets of this build, ended by NULL. */
const struct ceiling_set *const *ceiling_sets(void);

/** Calls visit for each stream kernel of that name which isa can run, in order of registration;
 *  returns how many were written to out (at most max). name NULL: all. */
size_t stream_kernels_find(const struct stream_kernel **out, size_t max, const char *name,
                           struct isa_set isa);

/** The same for compute kernels by dtype. */
size_t compute_kernels_find(const struct compute_kernel **out, size_t max, const char *dtype,
                            struct isa_set isa);

enum { CEILING_KERNELS_MAX = 256 };

/** User bytes that run() moves over a slice: (loads + stores) x bytes x passes. */
double stream_kernel_bytes(const struct stream_kernel *kernel, const struct stream_slice *slice);

/** Operations of one iteration; sve_bytes is the vector length where the kernel's is not fixed. */
double compute_kernel_flop(const struct compute_kernel *kernel, uint32_t sve_bytes);

#endif
