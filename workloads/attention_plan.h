#ifndef WORKLOADS_ATTENTION_PLAN_H
#define WORKLOADS_ATTENTION_PLAN_H

/** What attention.c plans and attention_run.c executes. */

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
    size_t page_bytes;
    size_t out_floats;    /**< of one column's output: v_groups x 16 */
    size_t part_floats;   /**< of one partial result: maximum, sum, output for each column */
    size_t parts;         /**< partial results per thread, at most */
    uint64_t *first_page; /**< [threads + 1]: P t / T */
    float *q;             /**< [batch][rows][heads][k_dim] */
    float *out;           /**< [batch][rows][heads][out_floats] */
    float *append;        /**< [batch][kv_heads][k_dim + v_dim]: the new token's row in decode */
    float *partial;       /**< [threads][parts][part_floats] */
    float scale;          /**< 1 / sqrt(k_dim) */
    volatile unsigned char sink; /**< keeps the reads of the memory-only twin observable */
};

/** Pages before the first one that thread owns: P t / T. */
uint64_t attention_first_page(const struct attention *a, unsigned thread);

/** Writes key[k_dim] and value[v_dim] of a token of a unit (KV head of a sequence) into the cache,
 *  rounded to its format: how a prefill's rows get there before attention_run(). */
void attention_put(const struct attention *attention, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, const float *key, const float *value);

#endif
