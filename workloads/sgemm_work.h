#ifndef WORKLOADS_SGEMM_WORK_H
#define WORKLOADS_SGEMM_WORK_H

/** A library's product, to be measured alone. Used through work.h. */

#include "roofline/status.h"
#include "workloads/blas.h"

#include <stdint.h>

struct sgemm_work {
    struct blas *blas;
    uint64_t rows, n, k;
    float *x, *y;
};

/** Allocates x and y and fills x; sgemm_work_destroy() also after an error. Errors: INVALID,
 *  SYSTEM. */
CHECKED struct status sgemm_work_allocate(struct sgemm_work *g);
void sgemm_work_destroy(struct sgemm_work *g);
void sgemm_work_run(const struct sgemm_work *g, const unsigned char *weights);

/** Largest error of about `samples` outputs, relative to the sum of their terms' magnitudes. */
double sgemm_work_check(const struct sgemm_work *g, const unsigned char *weights, uint64_t samples);

#endif
