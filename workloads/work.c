#include "workloads/work.h"

#include "workloads/bank_work.h"
#include "workloads/linear_plan.h"
#include "workloads/sgemm_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const size_t work_distances[WORK_DISTANCES] = {6144, 0,    1024, 512,  1536,
                                               2048, 4096, 7168, 8192, 16384};

enum work_kind { WORK_LINEAR, WORK_QUANTISE, WORK_ATTENTION, WORK_HEADS, WORK_EXPERTS, WORK_SGEMM };

struct work {
    enum work_kind kind;
    struct linear *chunk; // LINEAR_BATCH_MAX rows, or all if fewer
    struct linear *rest;  // the last rows; NULL if none
    uint64_t chunks;
    double linear_flop;
    struct attention *attention;
    struct heads_work heads;
    struct experts_work experts;
    struct sgemm_work sgemm;
};

static struct work *work_new(enum work_kind kind)
{
    struct work *work = calloc(1, sizeof *work);
    if (work != NULL) {
        work->kind = kind;
    }
    return work;
}

static struct status no_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory for an operator");
}

// Keeps the work on success, destroys it on failure.
static struct status work_finish(struct work **out, struct work *work, struct status status)
{
    if (status.code != STATUS_OK) {
        work_destroy(work);
        work = NULL;
    }
    *out = work;
    return status;
}

static struct status create_chunks(struct work *work, const struct linear_params *params,
                                   uint64_t rows)
{
    struct linear_params p = *params;
    if (rows == 0) {
        return status_error(STATUS_INVALID, "a product of no rows");
    }
    p.batch = rows < LINEAR_BATCH_MAX ? (unsigned)rows : LINEAR_BATCH_MAX;
    work->chunks = rows / p.batch;
    TRY(linear_create(&work->chunk, &p));
    p.batch = (unsigned)(rows % p.batch);
    return p.batch == 0 ? status_ok() : linear_create(&work->rest, &p);
}

// The activations of a product do not change: act_quant is measured by itself.
static void quantise_once(struct linear *linear)
{
    for (unsigned t = 0; linear != NULL && t < linear->params.threads; t++) {
        linear_pack(linear, t);
    }
}

struct status work_linear(struct work **out, const struct linear_params *params, uint64_t rows)
{
    struct work *work = work_new(WORK_LINEAR);
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    work->linear_flop = 2.0 * (double)rows * (double)params->n * (double)params->k;
    struct status status = create_chunks(work, params, rows);
    if (status.code == STATUS_OK && line_is_blocks(params->format)) {
        quantise_once(work->chunk);
        quantise_once(work->rest);
    }
    return work_finish(out, work, status);
}

double work_quantise_bytes(uint64_t rows, uint64_t k)
{
    double written = (double)(sizeof(uint32_t) * LINEAR_BLOCK_WORDS) / LINE_BLOCK_KS;
    return (double)rows * (double)k * ((double)sizeof(float) + written);
}

struct status work_quantise(struct work **out, const struct linear_params *params, uint64_t rows)
{
    struct work *work = work_new(WORK_QUANTISE);
    struct linear_params p = *params;
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    p.n = LINE_ROWS;
    work->linear_flop = WORK_QUANTISE_FLOP * (double)rows * (double)p.k;
    return work_finish(out, work, create_chunks(work, &p, rows));
}

struct status work_attention(struct work **out, const struct attention_params *params)
{
    struct work *work = work_new(WORK_ATTENTION);
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    struct status status = attention_create(&work->attention, params);
    return work_finish(out, work, status);
}

struct status work_heads(struct work **out, const struct linear_params *params, unsigned heads,
                         unsigned rows)
{
    struct work *work = work_new(WORK_HEADS);
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    work->linear_flop = 2.0 * rows * heads * (double)params->n * (double)params->k;
    struct status status = heads_work_create(&work->heads, params, heads, rows);
    return work_finish(out, work, status);
}

struct status work_experts(struct work **out, const struct experts_params *params, uint64_t rows)
{
    struct work *work = work_new(WORK_EXPERTS);
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    double weights = (double)params->up.n * (double)params->up.k +
                     (double)params->down.n * (double)params->down.k;
    work->linear_flop = 2.0 * (double)rows * params->used * weights;
    struct status status = experts_work_create(&work->experts, params, rows);
    return work_finish(out, work, status);
}

struct status work_sgemm(struct work **out, struct blas *blas, uint64_t rows, uint64_t n,
                         uint64_t k)
{
    struct work *work = work_new(WORK_SGEMM);
    *out = NULL;
    if (work == NULL) {
        return no_memory();
    }
    work->sgemm = (struct sgemm_work){.blas = blas, .rows = rows, .n = n, .k = k};
    struct status status = sgemm_work_allocate(&work->sgemm);
    return work_finish(out, work, status);
}

void work_destroy(struct work *work)
{
    if (work == NULL) {
        return;
    }
    linear_destroy(work->chunk);
    linear_destroy(work->rest);
    attention_destroy(work->attention);
    heads_work_destroy(&work->heads);
    experts_work_destroy(&work->experts);
    sgemm_work_destroy(&work->sgemm);
    free(work);
}

bool work_is_library(const struct work *work)
{
    return work->kind == WORK_SGEMM;
}

size_t work_thread_bytes(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
        return linear_thread_bytes(work->chunk, 0);
    case WORK_QUANTISE:
        return LINE_BYTES;
    case WORK_ATTENTION:
        return attention_thread_bytes(work->attention, 0);
    case WORK_HEADS:
        return bank_thread_bytes(&work->heads.bank);
    case WORK_EXPERTS:
        return experts_thread_bytes(work->experts.experts);
    case WORK_SGEMM:
        break;
    }
    return (work->sgemm.n * work->sgemm.k * sizeof(float) + LINE_BYTES - 1) / LINE_BYTES *
           LINE_BYTES;
}

uint64_t work_stored_bytes(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
        return linear_stored_bytes(work->chunk);
    case WORK_QUANTISE:
        return linear_pack_bytes(work->chunk);
    case WORK_ATTENTION:
        return attention_stored_bytes(work->attention);
    case WORK_HEADS:
        return work->heads.bank.count * bank_matrix_bytes(&work->heads.bank);
    case WORK_EXPERTS:
        return work->experts.experts->params.experts * experts_stored_bytes(work->experts.experts);
    case WORK_SGEMM:
        break;
    }
    return work->sgemm.n * work->sgemm.k * sizeof(float);
}

static void run_chunk(const struct work *work, struct linear *chunk, unsigned thread,
                      const unsigned char *weights, enum linear_mode mode)
{
    if (work->kind == WORK_QUANTISE) {
        linear_pack_mode(chunk, thread, mode);
    } else if (line_is_blocks(chunk->params.format)) {
        linear_multiply_mode(chunk, thread, weights, mode);
    } else {
        linear_run(chunk, thread, weights, mode);
    }
}

void work_run(struct work *work, unsigned thread, unsigned char *const *memory,
              enum linear_mode mode)
{
    switch (work->kind) {
    case WORK_LINEAR:
    case WORK_QUANTISE:
        for (uint64_t i = 0; i < work->chunks; i++) {
            run_chunk(work, work->chunk, thread, memory[thread], mode);
            if (i + 1 < work->chunks || work->rest != NULL) {
#pragma omp barrier
            }
        }
        if (work->rest != NULL) {
            run_chunk(work, work->rest, thread, memory[thread], mode);
        }
        break;
    case WORK_ATTENTION:
        attention_run(work->attention, thread, memory, mode);
        break;
    case WORK_HEADS:
        heads_work_run(&work->heads, thread, memory, mode);
        break;
    case WORK_EXPERTS:
        experts_work_run(&work->experts, thread, memory, mode);
        break;
    case WORK_SGEMM:
        sgemm_work_run(&work->sgemm, memory[0]);
        break;
    }
}

double work_check(const struct work *work, unsigned char *const *memory, uint64_t samples)
{
    if (work->kind == WORK_ATTENTION) {
        return attention_check(work->attention, memory, samples);
    }
    if (work->kind == WORK_HEADS) {
        return heads_work_check(&work->heads, memory, samples);
    }
    if (work->kind == WORK_EXPERTS) {
        enum { CHECKED_EXPERTS = 4 };
        return experts_check(work->experts.experts, memory, samples, CHECKED_EXPERTS);
    }
    if (work->kind == WORK_SGEMM) {
        return sgemm_work_check(&work->sgemm, memory[0], samples);
    }
    if (work->kind == WORK_QUANTISE) {
        double whole = linear_pack_check(work->chunk);
        return work->rest == NULL ? whole : fmax(whole, linear_pack_check(work->rest));
    }
    const unsigned char *const *weights = (const unsigned char *const *)memory;
    double error = linear_check(work->chunk, weights, samples);
    return work->rest == NULL ? error : fmax(error, linear_check(work->rest, weights, samples));
}

double work_tolerance(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
        return linear_tolerance(work->chunk);
    case WORK_QUANTISE:
        return linear_pack_tolerance();
    case WORK_ATTENTION:
        return attention_tolerance(work->attention);
    case WORK_HEADS:
        return linear_tolerance(work->heads.bank.form);
    case WORK_EXPERTS:
        return experts_tolerance(work->experts.experts);
    case WORK_SGEMM:
        break;
    }
    // A library's order of summation is not known: the worst case of K additions.
    return (double)work->sgemm.k * 0x1p-24;
}

void work_set_prefetch(struct work *work, size_t prefetch_bytes)
{
    if (work->kind == WORK_LINEAR) {
        linear_set_prefetch(work->chunk, prefetch_bytes);
        if (work->rest != NULL) {
            linear_set_prefetch(work->rest, prefetch_bytes);
        }
    } else if (work->kind == WORK_ATTENTION) {
        attention_set_prefetch(work->attention, prefetch_bytes);
    } else if (work->kind == WORK_HEADS) {
        heads_work_set_prefetch(&work->heads, prefetch_bytes);
    } else if (work->kind == WORK_EXPERTS) {
        experts_work_set_prefetch(&work->experts, prefetch_bytes);
    }
}

const char *work_class_name(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
    case WORK_QUANTISE:
        return linear_class_name(work->chunk);
    case WORK_ATTENTION:
        return attention_class_name(work->attention);
    case WORK_HEADS:
        return linear_class_name(work->heads.bank.form);
    case WORK_EXPERTS:
        return linear_class_name(work->experts.experts->up.form);
    case WORK_SGEMM:
        break;
    }
    return "library/sgemm/f32";
}

const char *work_isa_name(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
    case WORK_QUANTISE:
        return linear_isa_name(work->chunk);
    case WORK_ATTENTION:
        return attention_isa_name(work->attention);
    case WORK_HEADS:
        return linear_isa_name(work->heads.bank.form);
    case WORK_EXPERTS:
        return linear_isa_name(work->experts.experts->up.form);
    case WORK_SGEMM:
        break;
    }
    return "";
}

double work_flop_executed(const struct work *work)
{
    switch (work->kind) {
    case WORK_LINEAR:
    case WORK_QUANTISE:
    case WORK_HEADS:
    case WORK_EXPERTS:
        return work->linear_flop;
    case WORK_ATTENTION:
        return attention_flop_executed(work->attention);
    case WORK_SGEMM:
        break;
    }
    return 2.0 * (double)work->sgemm.rows * (double)work->sgemm.n * (double)work->sgemm.k;
}
