#include "workloads/bank_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill(float *x, size_t rows, size_t k, size_t ldx, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < rows * k; i++) {
        x[i / k * ldx + i % k] = line_random(&state);
    }
}

struct status heads_work_create(struct heads_work *out, const struct linear_params *params,
                                unsigned heads, unsigned rows)
{
    const struct bank_params bank = {
        .linear = *params, .count = heads, .slots = (uint64_t)heads * rows, .whole = true};
    out->rows = rows;
    if (rows == 0 || rows > LINEAR_BATCH_MAX) {
        return status_error(STATUS_INVALID, "%u rows a head: accepted 1 to %d", rows,
                            LINEAR_BATCH_MAX);
    }
    TRY(bank_create(&out->bank, &bank));
    fill(out->bank.x, bank.slots, params->k, out->bank.form->ldx, 29);
    return status_ok();
}

void heads_work_destroy(struct heads_work *work)
{
    bank_destroy(&work->bank);
}

// The compute-only twin multiplies by the thread's first matrix alone.
void heads_work_run(struct heads_work *work, unsigned thread, unsigned char *const *memory,
                    enum linear_mode mode)
{
    unsigned end = bank_first(&work->bank, thread + 1);
    for (unsigned head = bank_first(&work->bank, thread); head < end; head++) {
        struct linear l;
        bank_view(&l, &work->bank, (uint64_t)head * work->rows, work->rows);
        size_t offset = mode == LINEAR_COMPUTE_ONLY ? 0 : bank_offset(&work->bank, head);
        if (mode != LINEAR_MEMORY_ONLY) {
            linear_pack(&l, 0);
        }
        linear_multiply_mode(&l, 0, memory[thread] + offset, mode);
    }
}

double heads_work_check(const struct heads_work *work, unsigned char *const *memory,
                        uint64_t samples)
{
    double worst = 0;
    for (unsigned t = 0; t < work->bank.threads; t++) {
        unsigned head = bank_first(&work->bank, t);
        if (head < bank_first(&work->bank, t + 1)) {
            const unsigned char *at = memory[t];
            struct linear l;
            bank_view(&l, &work->bank, (uint64_t)head * work->rows, work->rows);
            worst = fmax(worst, linear_check(&l, &at, samples));
        }
    }
    return worst;
}

void heads_work_set_prefetch(struct heads_work *work, size_t prefetch_bytes)
{
    linear_set_prefetch(work->bank.form, prefetch_bytes);
}

struct status experts_work_create(struct experts_work *out, const struct experts_params *params,
                                  uint64_t rows)
{
    struct experts_params p = *params;
    p.rows = rows < LINEAR_BATCH_MAX ? (unsigned)rows : LINEAR_BATCH_MAX;
    out->rows = rows;
    out->state = 31;
    TRY(experts_create(&out->experts, &p));
    out->x = calloc((size_t)p.rows * p.up.k, sizeof *out->x);
    out->y = calloc((size_t)p.rows * p.down.n, sizeof *out->y);
    if (out->x == NULL || out->y == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the rows of experts");
    }
    fill(out->x, p.rows, p.up.k, p.up.k, 37);
    return status_ok();
}

void experts_work_destroy(struct experts_work *work)
{
    experts_destroy(work->experts);
    free(work->x);
    free(work->y);
}

static void combine(const struct experts_work *work, unsigned thread, unsigned rows)
{
    const struct experts_biases none = {NULL, NULL};
    size_t d = work->experts->params.down.n;
    for (unsigned row = thread; row < rows; row += work->experts->up.threads) {
        memset(work->y + row * d, 0, d * sizeof *work->y);
        experts_combine(work->experts, work->y + row * d, row, &none);
    }
}

// The memory-only twin waits at the same barriers.
static void run_chunk(struct experts_work *work, unsigned thread, const unsigned char *memory,
                      enum linear_mode mode, unsigned rows)
{
    const struct experts_biases none = {NULL, NULL};
    struct experts *e = work->experts;
    bool computes = mode != LINEAR_MEMORY_ONLY;
    if (thread == 0) {
        experts_route_randomly(e, rows, &work->state);
    }
#pragma omp barrier
    if (computes) {
        experts_gather(e, thread, work->x, e->params.up.k);
    }
#pragma omp barrier
    experts_up(e, thread, memory, mode);
#pragma omp barrier
    if (computes) {
        experts_activate(e, thread, &none);
    }
#pragma omp barrier
    experts_down(e, thread, memory, mode);
#pragma omp barrier
    if (computes) {
        combine(work, thread, rows);
    }
}

void experts_work_run(struct experts_work *work, unsigned thread, unsigned char *const *memory,
                      enum linear_mode mode)
{
    unsigned most = work->experts->params.rows;
    for (uint64_t row = 0; row < work->rows; row += most) {
        uint64_t left = work->rows - row;
        if (row > 0) {
#pragma omp barrier
        }
        run_chunk(work, thread, memory[thread], mode, left < most ? (unsigned)left : most);
    }
}

void experts_work_set_prefetch(struct experts_work *work, size_t prefetch_bytes)
{
    linear_set_prefetch(work->experts->up.form, prefetch_bytes);
    linear_set_prefetch(work->experts->down.form, prefetch_bytes);
}
