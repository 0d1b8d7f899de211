#include "profiler/step_norms.h"

#include "profiler/clock.h"
#include "workloads/elementwise.h"

#include <math.h>
#include <stdlib.h>

struct step_norms {
    struct team *team;
    const struct elementwise *elementwise;
    unsigned rows;
    unsigned width;
    float *written;                // [rows][width], by columns
    float *residual;               // [rows][width], each row by the thread that norms it
    float *normed;                 // [rows][width]
    float *weight;                 // [width]
    unsigned repeats;              // of one sample; 0: not calibrated
    struct step_norms_times spent; // by thread 0
};

void step_norms_destroy(struct step_norms *norms)
{
    if (norms != NULL) {
        free(norms->written);
        free(norms);
    }
}

struct status step_norms_create(struct step_norms **out, struct team *team, struct isa_set isa,
                                unsigned rows, unsigned width)
{
    struct step_norms *norms = calloc(1, sizeof *norms);
    size_t matrix = (size_t)rows * width;
    if (norms == NULL ||
        (norms->written = calloc(3 * matrix + width, sizeof *norms->written)) == NULL) {
        free(norms);
        return status_error(STATUS_SYSTEM, "no memory for norms of %u rows", rows);
    }
    norms->team = team;
    norms->elementwise = elementwise_find(isa);
    norms->rows = rows;
    norms->width = width;
    norms->residual = norms->written + matrix;
    norms->normed = norms->residual + matrix;
    norms->weight = norms->normed + matrix;
    for (unsigned i = 0; i < width; i++) {
        norms->weight[i] = 1;
    }
    *out = norms;
    return status_ok();
}

// As a product between two norms: every thread reads some columns of all rows, which makes them
// leave the caches of the thread that normed them, and writes as many of its outputs.
static void use_columns(const struct step_norms *norms, unsigned thread, unsigned threads)
{
    unsigned begin = (unsigned)((uint64_t)norms->width * thread / threads);
    unsigned end = (unsigned)((uint64_t)norms->width * (thread + 1) / threads);
    for (unsigned row = 0; row < norms->rows; row++) {
        const float *from = norms->normed + (size_t)row * norms->width;
        float *to = norms->written + (size_t)row * norms->width;
        for (unsigned i = begin; i < end; i++) {
            to[i] = 1 - from[i];
        }
    }
}

static void norm_rows(const struct step_norms *norms, unsigned thread, unsigned threads)
{
    for (size_t row = thread; row < norms->rows; row += threads) {
        size_t at = row * norms->width;
        norms->elementwise->add(norms->residual + at, norms->written + at, norms->width);
        norms->elementwise->rms_norm(norms->normed + at, norms->residual + at, norms->weight,
                                     norms->width);
    }
}

static void run(void *context, unsigned thread, unsigned threads)
{
    struct step_norms *norms = context;
    double begin = clock_seconds();
    for (unsigned i = 0; i < norms->repeats; i++) {
        use_columns(norms, thread, threads);
#pragma omp barrier
        double between = clock_seconds();
        norm_rows(norms, thread, threads);
#pragma omp barrier
        if (thread == 0) {
            double end = clock_seconds();
            norms->spent.columns += between - begin;
            norms->spent.norms += end - between;
            begin = end;
        }
    }
}

static void spend(struct step_norms_times *out, struct step_norms *norms)
{
    norms->spent = (struct step_norms_times){0};
    team_run(norms->team, (struct team_body){run, norms});
    out->norms = norms->spent.norms / norms->repeats;
    out->columns = norms->spent.columns / norms->repeats;
}

void step_norms_sample(struct step_norms_times *out, struct step_norms *norms)
{
    if (norms->repeats == 0) {
        norms->repeats = 8;
        spend(out, norms);
        double once = fmax(out->norms + out->columns, clock_resolution_seconds());
        norms->repeats = (unsigned)fmin(fmax(ceil(1e-3 / once), 8), 1000);
    }
    spend(out, norms);
}
