#ifndef WORKLOADS_BANK_WORK_H
#define WORKLOADS_BANK_WORK_H

/** Banks on rows of their own, to be measured alone: the heads' parts of a latent up-projection,
 *  and a layer's experts. Used through work.h. */

#include "workloads/experts.h"

/** One product a head on the same number of rows; a head is one thread's. */
struct heads_work {
    struct bank bank;
    unsigned rows;
};

/** params->linear.n and k are of one head. Errors: as bank_create(); heads_work_destroy() also
 *  after an error. */
CHECKED struct status heads_work_create(struct heads_work *out, const struct linear_params *params,
                                        unsigned heads, unsigned rows);
void heads_work_destroy(struct heads_work *work);
void heads_work_run(struct heads_work *work, unsigned thread, unsigned char *const *memory,
                    enum linear_mode mode);
double heads_work_check(const struct heads_work *work, unsigned char *const *memory,
                        uint64_t samples);

/** Experts on random rows, in chunks of at most LINEAR_BATCH_MAX; every run draws anew which row
 *  goes where. */
struct experts_work {
    struct experts *experts;
    uint64_t rows;
    uint64_t state;
    float *x; /**< [chunk rows][d] */
    float *y;
};

/** params->rows is set from rows. */
CHECKED struct status experts_work_create(struct experts_work *out,
                                          const struct experts_params *params, uint64_t rows);
void experts_work_destroy(struct experts_work *work);
void experts_work_run(struct experts_work *work, unsigned thread, unsigned char *const *memory,
                      enum linear_mode mode);

/** Changes the prefetch distance of all products. */
void heads_work_set_prefetch(struct heads_work *work, size_t prefetch_bytes);
void experts_work_set_prefetch(struct experts_work *work, size_t prefetch_bytes);

#endif
