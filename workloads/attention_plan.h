#ifndef WORKLOADS_ATTENTION_PLAN_H
#define WORKLOADS_ATTENTION_PLAN_H

/** What attention.c plans, attention_decode.c and attention_prefill.c execute and
 *  attention_check.c checks. */

#include "workloads/attention_kernel.h"

struct attention {
    struct attention_params params;
    const struct attention_kernel *kernel;
    unsigned group;  /**< query heads per KV head */
    uint64_t tokens; /**< visible to the last row: context + rows */
    uint64_t pages;  /**< of one KV head of one sequence */
    uint64_t units;  /**< KV heads of all sequences */
    size_t k_lines;  /**< of a group of 16 tokens */
    size_t v_lines;  /**< of a group of 16 values */
    size_t v_groups; /**< groups of 16 values */
    size_t k_bytes;  /**< of a page's K part */
    size_t v_bytes;  /**< of a page's values */
    size_t page_bytes;
    size_t row_floats;     /**< of a new token: key and value; latent: key */
    size_t out_floats;     /**< of one column's output: v_groups x 16 */
    size_t part_floats;    /**< of one partial result: maximum, sum, output for each column */
    size_t parts;          /**< partial results per thread, at most */
    uint64_t *first_page;  /**< [threads + 1]: P t / T */
    float *q;              /**< [batch][rows][heads][k_dim] */
    float *out;            /**< [batch][rows][heads][out_floats] */
    float *append;         /**< [batch][kv_heads][row_floats]: the new token's row in decode */
    float *partial;        /**< [threads][parts][part_floats] */
    float *sinks;          /**< [heads] */
    unsigned char *turned; /**< latent: [threads][ATTENTION_TURNED_PAGES][v_bytes] */
    bool quantised;        /**< the cache is of integers */
    struct attention_quant quant; /**< quantised: the page's shape */
    float scale;                  /**< 1 / sqrt(scale_dim) */
    volatile unsigned char sink;  /**< keeps the reads of the memory-only twin observable */
};

/** Pages of a latent cache whose values are turned at once: they stay in the L2. */
enum { ATTENTION_TURNED_PAGES = 2 };

/** What a thread carries from page to page for up to LINEAR_TILE_MAX columns. */
struct attention_state {
    float maximum[LINEAR_TILE_MAX];
    float sum[LINEAR_TILE_MAX];
};

/** What one page's turn needs besides the columns' state: the tokens hidden[b] .. visible[b] - 1
 *  of the page count for column b; values is the page's V part. */
struct attention_turn {
    const unsigned char *page;
    const unsigned char *values;
    const float *q;
    unsigned columns;
    unsigned hidden[LINEAR_TILE_MAX];
    unsigned visible[LINEAR_TILE_MAX];
};

/** Pages before the first one that thread owns: P t / T. */
uint64_t attention_first_page(const struct attention *a, unsigned thread);

/** A page, numbered over all units, wherever its owner keeps it. */
unsigned char *attention_page(const struct attention *a, unsigned char *const *cache,
                              uint64_t page);

/** The first token that the one at a position of the sequence sees. */
uint64_t attention_first_seen(const struct attention *a, uint64_t position);

/** Nothing seen yet; out has `floats` values. */
void attention_reset(struct attention_state *state, float *out, size_t floats);

/** One page against some queries; out is [v_groups][columns][16]. */
void attention_run_page(const struct attention *a, struct attention_state *state, float *out,
                        const struct attention_turn *turn);

/** q of query heads, scaled and packed [k][columns]; from[b] is the b-th query's row. */
void attention_pack_queries(const struct attention *a, float *packed, const float *const *from,
                            unsigned columns);

/** What the weighted values of a head are divided by: its sum of weights, and its sink. */
float attention_divisor(const struct attention *a, unsigned head, float maximum, float sum);

/** Stores a token's row (key, then value unless latent) at its place in its page. */
void attention_put_token(const struct attention *a, unsigned char *page, unsigned token,
                         const float *key, const float *value);

/** The first v_dim values of the keys of a latent page in the order of a V part. */
void attention_turn_page(const struct attention *a, unsigned char *out, const unsigned char *page);

/** The thread's share of a decode up to the barrier, and after it; of a prefill. alias: the
 *  compute-only twin's one page. */
void attention_decode_share(const struct attention *a, unsigned thread, unsigned char *own,
                            bool alias, float *scratch);
void attention_decode_merge(const struct attention *a, unsigned thread, float *scratch);
void attention_prefill_share(const struct attention *a, unsigned thread,
                             unsigned char *const *cache, unsigned char *alias);

/** Reads every page that the thread's tiles of a prefill see. */
void attention_touch_tiles(const struct attention *a, unsigned char *sink, unsigned thread,
                           unsigned char *const *cache);

/** Writes key[k_dim] and value[v_dim] of a token of a unit (KV head of a sequence) into the cache,
 *  rounded to its format: how a prefill's rows get there before attention_run(). */
void attention_put(const struct attention *attention, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, const float *key, const float *value);

#endif
