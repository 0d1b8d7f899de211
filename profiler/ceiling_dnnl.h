#ifndef PROFILER_CEILING_DNNL_H
#define PROFILER_CEILING_DNNL_H

/** The roof of oneDNN's matrix products, bf16 and int8: as ceiling_gemm.h, where the build has the
 *  library. */

#include "profiler/results.h"
#include "profiler/team.h"

struct dnnl_ceiling;

/** Matrices of n x n in dtype bf16 or int8, filled with small whole numbers, and one product
 *  checked exactly in a few rows and columns. Errors: INVALID for another dtype; UNAVAILABLE
 *  without the library or its kernel; SYSTEM; MISMATCH. The caller destroys it. */
CHECKED struct status dnnl_ceiling_create(struct dnnl_ceiling **out, struct team *team,
                                          const char *dtype, size_t n);

/** NULL is accepted. */
void dnnl_ceiling_destroy(struct dnnl_ceiling *ceiling);

/** Times one product; returns operations per second. */
double dnnl_ceiling_sample(struct team_sample *timing, struct dnnl_ceiling *ceiling);

/** Class "<kernel>/matmul/<accumulator>", backend and shape; flop_per_s is left to the caller. */
void dnnl_ceiling_describe(struct result_compute *out, const struct dnnl_ceiling *ceiling);

#endif
