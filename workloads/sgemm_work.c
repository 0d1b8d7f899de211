#include "workloads/sgemm_work.h"

#include "workloads/line.h"

#include <math.h>
#include <stdlib.h>

struct status sgemm_work_allocate(struct sgemm_work *g)
{
    size_t x = 0;
    size_t y = 0;
    if (__builtin_mul_overflow(g->rows, g->k, &x) || __builtin_mul_overflow(g->rows, g->n, &y)) {
        return status_error(STATUS_INVALID, "matrices too large");
    }
    g->x = calloc(x, sizeof *g->x);
    g->y = calloc(y, sizeof *g->y);
    if (g->x == NULL || g->y == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the activations of a matrix product");
    }
    uint64_t state = 3;
    for (size_t i = 0; i < x; i++) {
        g->x[i] = line_random(&state);
    }
    return status_ok();
}

void sgemm_work_destroy(struct sgemm_work *g)
{
    free(g->x);
    free(g->y);
}

void sgemm_work_run(const struct sgemm_work *g, const unsigned char *weights)
{
    blas_sgemm(g->blas, g->rows, g->n, g->k, g->x, (const float *)(const void *)weights, g->y);
}

static double sgemm_error(const struct sgemm_work *g, const float *w, uint64_t row, uint64_t column)
{
    double sum = 0;
    double size = 0;
    for (uint64_t k = 0; k < g->k; k++) {
        double product = (double)g->x[row * g->k + k] * (double)w[k * g->n + column];
        sum += product;
        size += fabs(product);
    }
    double error = fabs((double)g->y[row * g->n + column] - sum) / (size > 0 ? size : 1);
    return isnan(error) ? HUGE_VAL : error;
}

double sgemm_work_check(const struct sgemm_work *g, const unsigned char *weights, uint64_t samples)
{
    const float *w = (const float *)(const void *)weights;
    uint64_t all = g->rows * g->n;
    uint64_t count = samples < all ? samples : all;
    double worst = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = count == 1 ? 0 : i * (all - 1) / (count - 1);
        worst = fmax(worst, sgemm_error(g, w, at / g->n, at % g->n));
    }
    return worst;
}
