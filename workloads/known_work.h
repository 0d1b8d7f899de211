#ifndef WORKLOADS_KNOWN_WORK_H
#define WORKLOADS_KNOWN_WORK_H

/** Kernels whose operations, instructions and bytes are known exactly, to tell whether a counter
 *  counts them. Registers only, written in assembly, so that no compiler can change the work;
 *  the two memory kernels flush their lines, so that the caches' sizes do not matter. */

#include "roofline/status.h"
#include "workloads/isa.h"

#include <stdbool.h>
#include <stdint.h>

enum known_work {
    KNOWN_LOOP,  /**< integer loop: instructions, no floating point */
    KNOWN_CHAIN, /**< dependent multiplications: cycles, where the latency is known */
    KNOWN_F64_SCALAR,
    KNOWN_F64_128,
    KNOWN_F64_256,
    KNOWN_F64_512,
    KNOWN_F64_SVE,
    KNOWN_F32_SCALAR,
    KNOWN_F32_128,
    KNOWN_F32_256,
    KNOWN_F32_512,
    KNOWN_F32_SVE,
    KNOWN_F16_SCALAR,
    KNOWN_F16_128,
    KNOWN_F16_256,
    KNOWN_F16_512,
    KNOWN_BF16_128,
    KNOWN_BF16_256,
    KNOWN_BF16_512,
    KNOWN_READ,  /**< every line of a flushed buffer read once */
    KNOWN_WRITE, /**< every line of a buffer written once and flushed to memory */
    KNOWN_WORK_COUNT
};

#define KNOWN_BIT(work) (UINT32_C(1) << (work))

/** What one execution of a kernel does; 0 where it does none of it. */
struct known_amount {
    double instructions; /**< 0: not known for this kernel */
    double cycles;       /**< 0: not known */
    double flop;         /**< a fused multiply-add counting two */
    double read_bytes;   /**< from memory, through every cache */
    double write_bytes;  /**< to memory */
};

/** A buffer for the memory kernels; release with known_buffer_free(). */
struct known_buffer {
    unsigned char *bytes;
    size_t size; /**< bytes, a multiple of 64 */
};

/** Short name of a kernel, for example "f32-512"; at most 15 characters, so that a thread may
 *  carry it. Static text. */
const char *known_work_name(enum known_work work);

/** True if this build has the kernel and the set can execute it. */
bool known_work_runs(enum known_work work, struct isa_set isa);

/** Errors: SYSTEM if there is no memory. */
CHECKED struct status known_buffer_create(struct known_buffer *out, size_t size);
void known_buffer_free(struct known_buffer *buffer);

/** The work of known_work_run() with the same arguments. */
struct known_amount known_work_amount(enum known_work work, struct isa_set isa, uint64_t rounds,
                                      const struct known_buffer *buffer);

/** Brings the buffer into the state that the kernel needs (written, flushed): outside of what is
 *  counted. Nothing for kernels without memory. */
void known_work_prepare(enum known_work work, struct known_buffer *buffer);

/** Executes the kernel: rounds iterations (the memory kernels: one pass over the buffer).
 *  known_work_runs() must have been true. */
void known_work_run(enum known_work work, uint64_t rounds, struct known_buffer *buffer);

#endif
