#include "profiler/ceiling_gemm.h"

#include "workloads/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gemm_ceiling {
    struct blas *blas;
    struct team *team;
    bool single; // f32, else f64
    size_t n;
    struct arena memory;
    void *a;
    void *b;
    void *c;
};

static void multiply(void *context)
{
    const struct gemm_ceiling *gemm = context;
    if (gemm->single) {
        blas_sgemm(gemm->blas, gemm->n, gemm->n, gemm->n, gemm->a, gemm->b, gemm->c);
    } else {
        blas_dgemm(gemm->blas, gemm->n, gemm->n, gemm->n, gemm->a, gemm->b, gemm->c);
    }
}

// Values in [-1, 1) of no pattern (xorshift64), exact in f32.
static void fill_rows(void *context, unsigned thread, unsigned threads)
{
    const struct gemm_ceiling *gemm = context;
    size_t elements = 2 * gemm->n * gemm->n;
    size_t first = elements / threads * thread;
    size_t last = thread + 1 == threads ? elements : elements / threads * (thread + 1);
    uint64_t random = 0x9e3779b97f4a7c15u * (thread + 1);
    for (size_t i = first; i < last; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value = (double)(random >> 44) / 524288 - 1; // 20 bits: 0 .. 2 - 1
        if (gemm->single) {
            ((float *)gemm->a)[i] = (float)value; // b follows a
        } else {
            ((double *)gemm->a)[i] = value;
        }
    }
}

static double element(const struct gemm_ceiling *gemm, const void *matrix, size_t i)
{
    return gemm->single ? (double)((const float *)matrix)[i] : ((const double *)matrix)[i];
}

static struct status check_element(const struct gemm_ceiling *gemm, size_t row, size_t column)
{
    double want = 0;
    double size = 0;
    for (size_t k = 0; k < gemm->n; k++) {
        double product = element(gemm, gemm->a, row * gemm->n + k) *
                         element(gemm, gemm->b, k * gemm->n + column);
        want += product;
        size += fabs(product);
    }
    double got = element(gemm, gemm->c, row * gemm->n + column);
    // Error of a sum of n rounded products in any order: n u sum |x y| (Higham, 2002, 3.1).
    double unit = gemm->single ? ldexp(1, -24) : ldexp(1, -53);
    if (!(fabs(got - want) <= (double)gemm->n * unit * size)) {
        return status_error(STATUS_MISMATCH,
                            "%s of %s: element (%zu, %zu) of a %zu x %zu product is %.9g, want "
                            "%.9g",
                            gemm->single ? "sgemm" : "dgemm", blas_facts(gemm->blas).path, row,
                            column, gemm->n, gemm->n, got, want);
    }
    return status_ok();
}

static struct status check_product(const struct gemm_ceiling *gemm)
{
    enum { CHECKED_ROWS = 7 };
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        size_t row = i * (gemm->n - 1) / (CHECKED_ROWS - 1);
        for (size_t j = 0; j < CHECKED_ROWS; j++) {
            TRY(check_element(gemm, row, (j * (gemm->n - 1) / (CHECKED_ROWS - 1) + i) % gemm->n));
        }
    }
    return status_ok();
}

static struct status prepare(struct gemm_ceiling *gemm)
{
    size_t bytes = gemm->n * gemm->n * (gemm->single ? sizeof(float) : sizeof(double));
    TRY(arena_map(&gemm->memory, 3 * bytes, true));
    gemm->a = gemm->memory.base;
    gemm->b = gemm->memory.base + bytes;
    gemm->c = gemm->memory.base + 2 * bytes;
    team_run(gemm->team, (struct team_body){fill_rows, gemm});
    blas_set_threads(gemm->blas, team_threads(gemm->team));
    struct team_sample warm;
    team_time_call(&warm, gemm->team, multiply, gemm);
    return check_product(gemm);
}

struct status gemm_ceiling_create(struct gemm_ceiling **out, struct blas *blas, struct team *team,
                                  const char *dtype, size_t n)
{
    *out = NULL;
    bool single = strcmp(dtype, "f32") == 0;
    if ((!single && strcmp(dtype, "f64") != 0) || n < 2 || n > 65536) {
        return status_error(STATUS_INVALID, "no GEMM of %s with n = %zu; f32 or f64, 2..65536",
                            dtype, n);
    }
    struct gemm_ceiling *gemm = calloc(1, sizeof *gemm);
    if (gemm == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a GEMM");
    }
    *gemm = (struct gemm_ceiling){.blas = blas, .team = team, .single = single, .n = n};
    struct status status = prepare(gemm);
    if (status.code != STATUS_OK) {
        gemm_ceiling_destroy(gemm);
        return status;
    }
    *out = gemm;
    return status;
}

void gemm_ceiling_destroy(struct gemm_ceiling *gemm)
{
    if (gemm != NULL) {
        arena_unmap(&gemm->memory);
        free(gemm);
    }
}

double gemm_ceiling_sample(struct team_sample *timing, struct gemm_ceiling *gemm)
{
    double n = (double)gemm->n;
    team_time_call(timing, gemm->team, multiply, gemm);
    return 2 * n * n * n / timing->seconds;
}

void gemm_ceiling_describe(struct result_compute *out, const struct gemm_ceiling *gemm)
{
    struct blas_facts facts = blas_facts(gemm->blas);
    memset(out, 0, sizeof *out);
    const char *dtype = gemm->single ? "f32" : "f64";
    (void)snprintf(out->dtype, sizeof out->dtype, "%s", dtype);
    (void)snprintf(out->kind, sizeof out->kind, "gemm");
    (void)snprintf(out->class_, sizeof out->class_, "%s/%s/%s", facts.core,
                   gemm->single ? "sgemm" : "dgemm", dtype);
    (void)snprintf(out->backend, sizeof out->backend, "OpenBLAS %s%s", facts.core,
                   facts.openmp ? "" : " (not OpenMP)");
    (void)snprintf(out->shape, sizeof out->shape, "%zu x %zu x %zu", gemm->n, gemm->n, gemm->n);
    out->threads = team_threads(gemm->team);
    out->verified = true;
    out->core_hz = reading_absent(ABSENT_UNSUPPORTED, "a library's loop has no clock chain", NULL);
    out->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no sourced table for this microarchitecture", NULL);
}
