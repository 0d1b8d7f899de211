#ifndef WORKLOADS_FORWARD_PLAN_H
#define WORKLOADS_FORWARD_PLAN_H

/** What forward.c plans, forward_memory.c lays out and forward_layer.c executes. */

#include "workloads/elementwise.h"
#include "workloads/forward.h"

enum { FORWARD_BLOCKS_MAX = 16, FORWARD_NORMS = 2, FORWARD_THREADS_MAX = 4096 };

/** The parts of a family that a struct model does not say. */
struct forward_form {
    const char *families; /**< model_type of a config, architecture of a GGUF: "llama|Yi" */
    enum elementwise_activation activation;
    bool parallel;  /**< attention and MLP read the same residual and are added together */
    bool one_norm;  /**< parallel: both read the same norm's output */
    bool head_norm; /**< RMS norm of every query and key head */
};

/** Products of up to LINEAR_BATCH_MAX rows by one matrix: full chunks, and the last one. */
struct forward_linear {
    struct linear *chunk;
    struct linear *rest; /**< NULL if all chunks are full */
    uint64_t n, k;
    bool biased;
    size_t offset; /**< in a layer's memory, of the weights */
};

enum forward_product { FORWARD_QKV, FORWARD_OUT, FORWARD_GATE_UP, FORWARD_DOWN, FORWARD_PRODUCTS };

/** Where a layer's vectors start in `vectors`: weights and biases of the two norms [d each], of the
 *  query and key head norms [k_dim each], biases of the products [n each]. */
struct forward_vectors {
    size_t norm_weight[FORWARD_NORMS];
    size_t norm_bias[FORWARD_NORMS];
    size_t head_weight[2];
    size_t bias[FORWARD_PRODUCTS];
    size_t floats; /**< of one layer */
};

struct forward_block {
    unsigned layers;
    struct model_attention shape;
    uint64_t width; /**< f */
    bool gated;
    struct forward_linear products[FORWARD_PRODUCTS];
    struct attention *attention;
    size_t cache_offset; /**< in a layer's memory */
    size_t layer_bytes;  /**< per thread */
    size_t first_offset; /**< of its first layer, per thread */
    struct forward_vectors at;
    float *vectors; /**< [layers][at.floats] */
};

/** Rows that are looked up: groups of 16 rows, spread over the threads like those of a linear. */
struct forward_table {
    enum line_format format;
    uint64_t n, k; /**< n = 0: there is none */
    size_t group_bytes;
    size_t offset; /**< per thread */
};

struct forward {
    struct forward_params params;
    const struct forward_form *form;
    const struct elementwise *elementwise;
    bool layer_norm;
    uint64_t d;
    uint64_t tokens; /**< new ones a sequence */
    uint64_t rows;   /**< batch x tokens */
    uint64_t first_position;
    struct forward_block blocks[FORWARD_BLOCKS_MAX];
    unsigned block_count;
    struct forward_linear head;
    float *head_bias;               /**< NULL: none */
    struct forward_table embedding; /**< its offset is the head's where they are one */
    struct forward_table positions;
    float *final_norm; /**< weight [d], bias [d]; NULL: no final norm */
    size_t thread_bytes;
    size_t activation_bytes;
    float *residual;   /**< [rows][d] */
    float *scratch;    /**< [threads][d] */
    float *turns;      /**< [tokens][rope_dim]: cosines, then sines */
    uint64_t rope_dim; /**< the largest */
    uint32_t *ids;     /**< [rows]: tokens of the input */
};

/** The form of a family; NULL if its step has no workload. Static. */
const struct forward_form *forward_form_find(const char *family);

/** All forms' families in one line, for messages. */
void forward_form_list(char *out, size_t bytes);

/** Lays products, caches and tables into each thread's memory; sets all offsets. */
void forward_layout(struct forward *f);

/** First row of a chunk and how many it has; chunks count from 0. */
uint64_t forward_chunks(const struct forward *f);
uint64_t forward_chunk_rows(const struct forward *f, uint64_t chunk);

/** The product of a chunk that has so many rows. */
struct linear *forward_linear_of(const struct forward_linear *linear, uint64_t rows);

/** A row of a table into out[k]. */
void forward_look_up(const struct forward *f, const struct forward_table *table, float *out,
                     unsigned char *const *memory, uint64_t row);

/** One layer of a block; layer counts within the block, number over all. */
void forward_layer(struct forward *f, unsigned b, unsigned layer, unsigned number, unsigned thread,
                   unsigned char *const *memory, const struct forward_probe *probe);

/** Barrier, then the probe's mark by thread 0. */
void forward_done(unsigned thread, const struct forward_probe *probe,
                  const struct forward_mark *mark);

/** Norm of x[d] into out[d]. */
void forward_norm(const struct forward *f, float *out, const float *x, const float *weight,
                  const float *bias);

/** Packing of x and the product, each ended by forward_done(). */
void forward_multiply(struct linear *linear, unsigned thread, unsigned char *const *memory,
                      const struct forward_probe *probe, struct forward_mark mark);

#endif
