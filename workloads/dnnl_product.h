#ifndef WORKLOADS_DNNL_PRODUCT_H
#define WORKLOADS_DNNL_PRODUCT_H

/** Square matrix products of oneDNN in the types that OpenBLAS lacks. Optional: where the build
 *  found no oneDNN of version 2, creating one is UNAVAILABLE. Runs on OpenMP's threads, as many as
 *  omp_get_max_threads() tells when it is created. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>

enum dnnl_product_type {
    DNNL_PRODUCT_BF16, /**< bf16 x bf16 -> f32 */
    DNNL_PRODUCT_INT8  /**< u8 x s8 -> s32 */
};

struct dnnl_product;

/** c[n][n] = a[n][n] b[n][n], row-major; the three are borrowed until it is destroyed. b is packed
 *  into the library's own layout here, once. Errors: UNAVAILABLE, naming the library's answer;
 *  SYSTEM. The caller destroys it. */
CHECKED struct status dnnl_product_create(struct dnnl_product **out, enum dnnl_product_type type,
                                          size_t n, void *a, void *b, void *c);

/** NULL is accepted. */
void dnnl_product_destroy(struct dnnl_product *product);

/** Once; false if the library refuses. */
bool dnnl_product_run(struct dnnl_product *product);

/** For example "brg:avx512_core_bf16": the library's name of its kernel. Borrowed. */
const char *dnnl_product_kernel(const struct dnnl_product *product);

/** For example "oneDNN 2.6.3"; "" without. Static text or of the library. */
const char *dnnl_product_version(char *out, size_t size);

#endif
