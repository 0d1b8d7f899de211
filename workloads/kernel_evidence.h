#ifndef WORKLOADS_KERNEL_EVIDENCE_H
#define WORKLOADS_KERNEL_EVIDENCE_H

/** Where each kernel's result has been found right by the project itself. What runs is checked on
 *  the machine at hand whatever this says; it tells what to expect there. */

#include "workloads/line.h"

#include <stdbool.h>
#include <stddef.h>

enum kernel_evidence_state {
    KERNEL_ON_SILICON,      /**< executed and right on a CPU that has the instructions */
    KERNEL_UNDER_EMULATION, /**< executed and right under an emulator alone */
    KERNEL_NEVER_EXECUTED   /**< compiled only */
};

/** A row: the kernels of an operator and class, of all architectures. */
struct kernel_evidence {
    const char *operator_; /**< linear, attention, compute, streams */
    const char *class_;    /**< "avx2/vfmadd231ps/f32": ISA, instruction, accumulator */
    const char *types;     /**< of weights, cache or operands (streams: what is done), separated by
                                spaces */
    enum kernel_evidence_state state;
    const char *where; /**< machine or emulator */
};

/** Row `index`, or NULL beyond the last. Static. */
const struct kernel_evidence *kernel_evidence_row(size_t index);

/** The row of a kernel, or NULL. */
const struct kernel_evidence *kernel_evidence_find(const char *operator_, const char *class_,
                                                   const char *type);

/** "verified on silicon", "verified under emulation", "never executed". Static text. */
const char *kernel_evidence_text(enum kernel_evidence_state state);

#endif
