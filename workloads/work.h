#ifndef WORKLOADS_WORK_H
#define WORKLOADS_WORK_H

/** One operator's work behind one face, so that measuring does not know what it measures. An
 *  instance of the work's data (weights or cache of one layer) is a share of memory per thread;
 *  the same work runs on any instance. */

#include "workloads/attention.h"
#include "workloads/blas.h"
#include "workloads/experts.h"
#include "workloads/linear.h"

struct work;

/** Operations that quantising one value counts for: its magnitude, the maximum, the product by the
 *  scale's reciprocal, the rounding. */
enum { WORK_QUANTISE_FLOP = 4 };

/** Bytes that quantising rows of k values reads (f32) and writes (LINEAR_BLOCK_WORDS for 32). */
double work_quantise_bytes(uint64_t rows, uint64_t k);

/** Linear layer on params.batch rows (in block formats quantised before: work_quantise()); more
 * than LINEAR_BATCH_MAX rows are done in chunks of that many, each streaming the weights again.
 * Errors: as linear_create(). */
CHECKED struct status work_linear(struct work **out, const struct linear_params *params,
                                  uint64_t rows);

/** Quantising `rows` rows of activations for weights of a block format: params->k, format and isa
 *  count, n does not. The activations are the work's own and stay in cache; an instance is one
 *  line that is not read. Errors: as linear_create(). */
CHECKED struct status work_quantise(struct work **out, const struct linear_params *params,
                                    uint64_t rows);

/** Attention. Errors: as attention_create(). */
CHECKED struct status work_attention(struct work **out, const struct attention_params *params);

/** One product a head by matrices of params->n x params->k, each on `rows` rows of its own and one
 *  thread's. Errors: as linear_create(). */
CHECKED struct status work_heads(struct work **out, const struct linear_params *params,
                                 unsigned heads, unsigned rows);

/** The experts of a layer on `rows` rows; each run draws anew where they go. An instance holds all
 *  experts. params->rows is not read. Errors: as experts_create(). */
CHECKED struct status work_experts(struct work **out, const struct experts_params *params,
                                   uint64_t rows);

/** y[rows,n] = x[rows,k] W[k,n] in f32 by the matrix library, which brings its own threads. The
 *  instance is one stretch of memory. Errors: SYSTEM without memory. */
CHECKED struct status work_sgemm(struct work **out, struct blas *blas, uint64_t rows, uint64_t n,
                                 uint64_t k);

void work_destroy(struct work *work);

/** True if the work brings its own threads: run by the first thread alone; there are no twins. */
bool work_is_library(const struct work *work);

/** Largest share of an instance that one thread owns, in bytes, a multiple of 64; for a library
 *  call the whole instance. */
size_t work_thread_bytes(const struct work *work);

/** Bytes of an instance over all threads as stored. */
uint64_t work_stored_bytes(const struct work *work);

/** One thread's share on one instance; memory[t] is thread t's share of it. Called by all threads
 *  of a team in one parallel region (a library call: by one thread outside of any). */
void work_run(struct work *work, unsigned thread, unsigned char *const *memory,
              enum linear_mode mode);

/** Largest relative error after a LINEAR_FULL run on that instance, over about samples outputs. */
double work_check(const struct work *work, unsigned char *const *memory, uint64_t samples);
double work_tolerance(const struct work *work);

void work_set_prefetch(struct work *work, size_t prefetch_bytes);

/** Prefetch distances that compete for a stream of weights or cache: beyond the page's end, none
 *  (which wins where the hardware's own prefetch is enough), and nearer and farther ones. Which of
 *  them wins depends on format, width of loads and machine: on a Zen 4 512 to 1536 bytes for q8_0
 *  and bf16 dot products, 6 to 8 KiB for f16, and 2048, the best of q8_0 by 512-bit loads, costs
 *  the others a third (measured 2026-11-30). The first is for work that is not chosen. */
enum { WORK_DISTANCES = 10 };
extern const size_t work_distances[WORK_DISTANCES];

const char *work_class_name(const struct work *work);
const char *work_isa_name(const struct work *work);

/** FLOPs executed by a full run: more than the useful ones where masked parts are computed. */
double work_flop_executed(const struct work *work);

#endif
