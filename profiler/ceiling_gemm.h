#ifndef PROFILER_CEILING_GEMM_H
#define PROFILER_CEILING_GEMM_H

/** The roof of a matrix library: square GEMM on the team's threads. A library's code is a black
 *  box, so this is a roof of its own beside the FMA peak, never instead of it. */

#include "profiler/results.h"
#include "profiler/team.h"
#include "workloads/blas.h"

struct gemm_ceiling;

/** Matrices of n x n in dtype f32 or f64, memory of their own (3 n^2 elements), filled, and one
 *  product checked against sums in double precision in a few rows and columns. Errors: INVALID
 *  for another dtype; SYSTEM without memory; MISMATCH. The caller destroys it. */
CHECKED struct status gemm_ceiling_create(struct gemm_ceiling **out, struct blas *blas,
                                          struct team *team, const char *dtype, size_t n);

/** NULL is accepted. */
void gemm_ceiling_destroy(struct gemm_ceiling *gemm);

/** Times one product; returns operations per second. */
double gemm_ceiling_sample(struct team_sample *timing, struct gemm_ceiling *gemm);

/** Class, backend and shape; flop_per_s is left to the caller. class_ of the result is
 *  "<core>/<gemm>/<dtype>". */
void gemm_ceiling_describe(struct result_compute *out, const struct gemm_ceiling *gemm);

#endif
