#ifndef WORKLOADS_BLAS_H
#define WORKLOADS_BLAS_H

/** The matrix library of the host: OpenBLAS, found at run time, so that its core type can be
 *  chosen before it loads and its absence is a missing roof, not a missing program. Runs on the
 *  process's OpenMP threads where it is the OpenMP build. */

#include "roofline/status.h"
#include "workloads/isa.h"

#include <stdbool.h>
#include <stddef.h>

struct blas;

struct blas_options {
    struct isa_set isa; /**< what the core type may use */
    bool amd;           /**< the CPU is AMD's: Zen rather than Haswell */
    const char
        *user_core_type; /**< the user's own OPENBLAS_CORETYPE, never overridden; NULL none */
};

/** What was found. Texts are borrowed from the struct blas. */
struct blas_facts {
    const char *path;            /**< as opened */
    const char *config;          /**< "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."; "" unknown */
    const char *core;            /**< kernels in use, for example "SkylakeX"; "" unknown */
    const char *core_of_its_own; /**< what the library takes if left alone; "" unknown */
    bool core_was_set;           /**< by us, because its own was poor */
    bool core_is_poor;           /**< still below what the CPU offers */
    bool openmp;                 /**< threads are OpenMP's: bound and counted */
};

/** Loads the library (a child process loads it first to learn its own choice of core: call before
 *  large memory is touched). May set OPENBLAS_CORETYPE in this process's environment. Errors:
 *  UNAVAILABLE, naming what was tried, if there is none or it lacks cblas_sgemm. */
CHECKED struct status blas_open(struct blas **out, const struct blas_options *options);

/** NULL is accepted. The library stays loaded: its threads may live. */
void blas_close(struct blas *blas);

struct blas_facts blas_facts(const struct blas *blas);

/** Threads of the following calls, where the library takes a number. */
void blas_set_threads(struct blas *blas, unsigned threads);

/** c[m][n] = a[m][k] b[k][n], row-major, dense. flop = 2 m n k. */
void blas_sgemm(struct blas *blas, size_t m, size_t n, size_t k, const float *a, const float *b,
                float *c);
void blas_dgemm(struct blas *blas, size_t m, size_t n, size_t k, const double *a, const double *b,
                double *c);

/** The core type to ask OpenBLAS for, or NULL to leave its own choice: the widest that isa offers,
 *  if its own (`core`, as openblas_get_corename() says) is narrower. Pure. Names: OpenBLAS,
 *  driver/others/dynamic.c. */
const char *blas_core_to_ask(const char *core, struct isa_set isa, bool amd);

/** True if the kernels of core are narrower than what isa offers. Unknown names are not. Pure. */
bool blas_core_is_poor(const char *core, struct isa_set isa);

#endif
