#ifndef WORKLOADS_BANK_H
#define WORKLOADS_BANK_H

/** Many matrices of one shape, each multiplied by rows of its own: the experts of a layer, or the
 *  parts of a latent up-projection, one a head. Rows have numbered slots; a product is of some
 *  slots in a row by one matrix, as a struct linear on them. Either every matrix is spread over
 *  the threads like that of a linear, or it is one thread's (whole). */

#include "workloads/linear_plan.h"

struct bank_params {
    struct linear_params linear; /**< of one product, threads those of the team; batch not read */
    unsigned count;              /**< matrices */
    uint64_t slots;              /**< rows in all */
    bool whole;
};

struct bank {
    struct linear *form;
    unsigned count;
    unsigned threads;
    bool whole;
    size_t stride; /**< bytes from one matrix to the next in a thread's memory */
    uint64_t slots;
    float *x;
    unsigned char *packed;
    float *y;
};

/** Allocates slots, not matrices. Errors: as linear_create(). bank_destroy() releases it, also a
 *  zeroed one and after an error. */
CHECKED struct status bank_create(struct bank *out, const struct bank_params *params);
void bank_destroy(struct bank *bank);

/** Bytes of matrices in each thread's memory, and of slots. */
size_t bank_thread_bytes(const struct bank *bank);
size_t bank_slot_bytes(const struct bank *bank);

/** Bytes of one matrix as stored, over all threads. */
uint64_t bank_matrix_bytes(const struct bank *bank);

/** The first matrix of a thread, where they are whole. */
unsigned bank_first(const struct bank *bank, unsigned thread);

/** Where a matrix starts in the memory of each thread that holds some of it. */
size_t bank_offset(const struct bank *bank, unsigned matrix);

/** The product on `rows` slots from `first` on; a view: not destroyed. */
void bank_view(struct linear *out, const struct bank *bank, uint64_t first, unsigned rows);

/** Random weights that keep a row's size; called by the thread that will read them. */
void bank_fill(const struct bank *bank, unsigned thread, unsigned char *memory, uint64_t seed);

#endif
