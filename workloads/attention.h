#ifndef WORKLOADS_ATTENTION_H
#define WORKLOADS_ATTENTION_H

/** Attention over a KV cache, softmax included, with grouped query heads: each KV head's rows are
 *  read once for all query heads of its group. Streaming softmax (Milakov & Gimelshein,
 *  arXiv:1805.02867), so that no score matrix is stored.
 *
 *  The cache is made of pages of ATTENTION_PAGE tokens of one KV head of one sequence, K first,
 *  then V, both as lines (line.h): K in groups of 16 tokens by k_dim, V in groups of 16 values
 *  by tokens. Pages are numbered by sequence, KV head, position. Thread t owns pages
 *  P t / T .. P (t + 1) / T - 1, stored one after another in memory that it touches first.
 *
 *  Decode: one new token a sequence; its K and V rows are appended first. Work is split over
 *  pages, so that all threads stay busy at batch 1, and partial results are merged. Prefill: rows
 *  new tokens, causal; tiles of query rows, masked pages are skipped; the cache rows are taken as
 *  written already.
 *
 *  Latent (MLA absorbed, DeepSeek-V2, arXiv:2405.04434, 2.1): a page has the K part alone, read
 *  once; a token's value is the first v_dim values of its key. The values of a page are turned
 *  into V's order in the thread's cache before its queries take their turns. Decode only. */

#include "roofline/status.h"
#include "workloads/isa.h"
#include "workloads/line.h"
#include "workloads/linear.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATTENTION_PAGE = 64, ATTENTION_DIM_MAX = 576 };

struct attention_params {
    enum line_format format; /**< of the cache */
    struct isa_set isa;
    unsigned batch;
    unsigned heads; /**< query heads, a multiple of kv_heads */
    unsigned kv_heads;
    unsigned k_dim;     /**< of a key */
    unsigned v_dim;     /**< of a value */
    unsigned scale_dim; /**< scores are divided by its root; 0: k_dim */
    uint64_t context;   /**< tokens cached before the step, per sequence */
    uint64_t rows;      /**< new tokens per sequence: 1 in decode */
    uint64_t window;    /**< prefill: a token sees the last so many, itself included; 0: all. In
                             decode the context is what is seen */
    bool chunked;       /**< the window is the chunk [i window, (i + 1) window) of the token */
    bool latent;        /**< values are parts of keys */
    bool sinks;         /**< a logit per query head joins the softmax's sum (gpt-oss) */
    bool prefill;
    bool frozen; /**< decode: nothing is appended, the cache is taken as holding the new row */
    unsigned threads;
    size_t prefetch_bytes;
};

struct attention;

bool attention_supported(enum line_format format, struct isa_set isa);

/** Format and class name of kernel `index` of this build, whatever the CPU; false beyond the last.
 */
bool attention_kernel_name(enum line_format *format, const char **class_name, size_t index);

/** Allocates queries (filled with reproducible values), outputs and partial results, not the
 *  cache. Errors: INVALID for shapes out of range, UNAVAILABLE without a kernel, SYSTEM without
 *  memory. The caller destroys it. */
CHECKED struct status attention_create(struct attention **out,
                                       const struct attention_params *params);
void attention_destroy(struct attention *attention);

/** Bytes of cache that a thread owns; thread_bytes(0) is the largest. */
size_t attention_thread_bytes(const struct attention *attention, unsigned thread);

/** Bytes of cache over all threads, the padding of the last pages included. */
uint64_t attention_stored_bytes(const struct attention *attention);

/** "avx512/vfmadd231ps/f32", ...; static text. */
const char *attention_class_name(const struct attention *attention);
const char *attention_isa_name(const struct attention *attention);

void attention_set_prefetch(struct attention *attention, size_t prefetch_bytes);

/** One thread's share; cache[t] is the memory of thread t (the thread's own is written to in
 *  decode). Contains team barriers: all threads of the team call it, inside one parallel region. */
void attention_run(struct attention *attention, unsigned thread, unsigned char *const *cache,
                   enum linear_mode mode);

/** FLOPs that a LINEAR_FULL run executes in its products (masked parts of pages included). */
double attention_flop_executed(const struct attention *attention);

/** Largest error of the outputs of a LINEAR_FULL run against double precision on the stored
 *  cache, relative to sum p |v| of each output; over outputs spread evenly, at least
 *  min(all, count) (sequence, row, head) triples. */
double attention_check(const struct attention *attention, unsigned char *const *cache,
                       uint64_t count);

/** Bound for attention_check(): the probabilistic one of Higham & Mary (SIAM J. Sci. Comput.
 *  41(5), 2019) with lambda = 4 for scores of k_dim products and for the sums over a page. */
double attention_tolerance(const struct attention *attention);

#endif
