#ifndef WORKLOADS_FORWARD_PLAN_H
#define WORKLOADS_FORWARD_PLAN_H

/** What forward.c and forward_block.c plan, forward_memory.c lays out and forward_layer.c executes,
 *  with forward_latent.c for latent attention and forward_moe.c for experts. */

#include "workloads/elementwise.h"
#include "workloads/experts.h"
#include "workloads/forward.h"
#include "workloads/router.h"

enum { FORWARD_NORMS = 4, FORWARD_THREADS_MAX = 4096 };

/** Norms of width d: before attention and MLP, and of their results where a family has those. */
enum forward_norm {
    FORWARD_NORM_ATTENTION,
    FORWARD_NORM_MLP,
    FORWARD_NORM_AFTER_ATTENTION,
    FORWARD_NORM_AFTER_MLP
};

/** The parts of a family that a struct model does not say. */
struct forward_form {
    const char *families; /**< model_type of a config, architecture of a GGUF: "llama|Yi" */
    enum elementwise_activation activation;
    bool parallel;    /**< attention and MLP read the same residual and are added together */
    bool one_norm;    /**< parallel: both read the same norm's output */
    bool head_norm;   /**< RMS norm of every query and key head */
    bool after_norms; /**< what attention and MLP add is normed too */
    enum router_scores router;
    float router_scale; /**< 0: 1 */
};

/** Rows of a product's matrix that are stored in one type. */
struct forward_part {
    struct linear *chunk;
    struct linear *rest; /**< NULL if all chunks are full */
    uint64_t n;
    enum dtype_id dtype;
    size_t offset; /**< in a layer's memory, of the weights */
};

enum { FORWARD_PARTS_MAX = 3 };

/** Products of up to LINEAR_BATCH_MAX rows by one matrix: full chunks, and the last one. n = 0:
 *  the block has no such product. Matrices of several types (q and v) are parts one after another,
 *  which share the first one's x and y. */
struct forward_linear {
    struct forward_part parts[FORWARD_PARTS_MAX];
    unsigned part_count;
    uint64_t n, k;
    bool biased;
};

/** Latent attention: QKV makes q_a (or q), kv_a and the rotated part of the key. GATE_UP and DOWN
 *  are the dense MLP's or the shared experts'. */
enum forward_product {
    FORWARD_QKV,
    FORWARD_Q_B,
    FORWARD_KV_B, /**< prefill of latent attention; in decode two banks, absorbed */
    FORWARD_OUT,
    FORWARD_ROUTER, /**< last row: the gate of the shared experts, where they have one */
    FORWARD_GATE_UP,
    FORWARD_DOWN,
    FORWARD_PRODUCTS
};

/** Where a layer's vectors start in `vectors`: weights and biases of the norms [d each], of the
 *  query and key head norms [k_dim each] (latent attention: of q_a [r_q] and kv_a [r_kv]), biases
 *  of the products [n each] and of all experts' products. */
struct forward_vectors {
    size_t norm_weight[FORWARD_NORMS];
    size_t norm_bias[FORWARD_NORMS];
    size_t head_weight[2];
    size_t bias[FORWARD_PRODUCTS];
    size_t expert_up, expert_down;
    size_t floats; /**< of one layer */
};

/** Latent attention, absorbed: the parts of kv_b as matrices of one head each. */
struct forward_latent {
    uint64_t q_rank, kv_rank;  /**< r_q (0: none), r_kv */
    uint64_t nope, rope;       /**< k_n, k_r */
    struct bank k_up, v_up;    /**< decode: [r_kv][k_n] and [k_v][r_kv], whole */
    size_t k_offset, v_offset; /**< in a layer's memory */
    struct attention *cache;   /**< prefill: rows are written to it, not read */
    size_t cache_offset;       /**< prefill: of it in a layer's memory */
};

struct forward_block {
    unsigned layers;
    unsigned model_layers; /**< of the model, more if not all are run */
    struct model_attention shape;
    uint64_t width; /**< f, or of the shared experts */
    bool gated;
    bool is_latent;
    struct forward_latent latent;
    struct forward_linear products[FORWARD_PRODUCTS];
    struct attention *attention;
    size_t cache_offset;     /**< in a layer's memory; latent prefill: of all layers, per thread */
    struct experts *experts; /**< NULL: none */
    size_t experts_offset;   /**< in a layer's memory */
    bool experts_biased, shared_gate;
    struct router router;
    bool *touched;       /**< [experts]: by the layer at hand */
    double expert_bytes; /**< of one expert, without padding */
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
    float *residual;      /**< [rows][d] */
    float *scratch;       /**< [threads][d] */
    float *turns;         /**< [tokens][rope_dim]: cosines, then sines */
    uint64_t rope_dim;    /**< the largest */
    uint32_t *ids;        /**< [rows]: tokens of the input */
    unsigned stop_before; /**< this layer no thread begins; UINT_MAX */
    uint64_t *steps;      /**< [threads x 8]: steps begun, each thread's on a line of its own */
    struct forward_counts counts;
    double step_distinct, step_bytes; /**< of the step at hand, summed over its layers */
    unsigned step_layers;             /**< with experts */
};

/** One layer's pass over one chunk of rows. */
struct forward_pass {
    struct forward *f;
    struct forward_block *block;
    unsigned block_number;
    const float *vectors;
    size_t offset; // of the layer in each thread's memory
    unsigned number;
    unsigned thread;
    unsigned char *const *memory;
    unsigned char *const *cache;  // of the layer's attention
    unsigned char *const *latent; // of the cache that a latent prefill writes
    const struct forward_probe *probe;
    uint64_t first; // row
    uint64_t rows;
    bool last; // chunk
};

/** True once the caller's signal came. */
bool forward_signalled(const struct forward *f);

/** The form of a family; NULL if its step has no workload. Static. */
const struct forward_form *forward_form_find(const char *family);

/** All forms' families in one line, for messages. */
void forward_form_list(char *out, size_t bytes);

/** Lays products, caches and tables into each thread's memory; sets all offsets. */
void forward_layout(struct forward *f);

/** First row of a chunk and how many it has; chunks count from 0. */
uint64_t forward_chunks(const struct forward *f);
uint64_t forward_chunk_rows(const struct forward *f, uint64_t chunk);

/** The product of a chunk that has so many rows; x and y of all parts are those of the first. */
struct linear *forward_part_of(const struct forward_part *part, uint64_t rows);
struct linear *forward_linear_of(const struct forward_linear *linear, uint64_t rows);

/** The parts of a product: in one type if dtype is one, else as the block's matrices are stored.
 *  Errors: INVALID if these are more than FORWARD_PARTS_MAX or not what the product's n says. */
CHECKED struct status forward_find_parts(struct forward_linear *out,
                                         const struct model_block *shape,
                                         enum forward_product product, enum dtype_id dtype);

/** The type of the first of two roles that a block has: dtype, or if that is DTYPE_STORED as the
 *  matrix is stored. */
enum dtype_id forward_type_of(const struct model_block *shape, enum model_role role,
                              enum model_role other, enum dtype_id dtype);

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

/** The product of the pass's rows; its biases. */
struct linear *forward_linear_at(const struct forward_pass *p, enum forward_product product);
const float *forward_bias_at(const struct forward_pass *p, enum forward_product product);

/** Barrier and mark of an operator of the layer at hand. */
void forward_done_at(const struct forward_pass *p, enum model_operator op);

/** forward_multiply() of a product of the layer at hand. */
void forward_multiply_at(const struct forward_pass *p, enum forward_product product,
                         enum model_operator op);

/** The first of the columns of x that a thread packs. */
size_t forward_first_column(const struct linear *l, unsigned thread);

/** Rotates the first rope_dim values of a head for a row of the chunk. */
void forward_rotate(const struct forward_pass *p, float *head, uint64_t row);

/** Latent attention: from the product QKV to the attention's queries and cache rows. */
void forward_latent_before(const struct forward_pass *p);

/** Latent attention, absorbed: the values' up-projection, in latent.v_up.y[head][row]. */
void forward_latent_after(const struct forward_pass *p);

/** The slot of a row of the chunk in the banks of latent attention. */
uint64_t forward_latent_slot(const struct forward_pass *p, uint64_t head, uint64_t row);

/** Router and choice; then the experts' products. */
void forward_route(const struct forward_pass *p);
void forward_run_experts(const struct forward_pass *p);

/** Adds the experts' weighted sum to out[d], a row of the chunk. */
void forward_add_experts(const struct forward_pass *p, float *out, uint64_t row);

/** What the shared experts' result is multiplied by. */
float forward_shared_gate(const struct forward_pass *p, uint64_t row);

/** Counts the layer's chunk, and the step. By thread 0. */
void forward_count_layer(const struct forward_pass *p);
void forward_count_step(struct forward *f);

/** Creates products, attention and vectors of a block. */
CHECKED struct status forward_create_block(struct forward_block *block, struct forward *f,
                                           const struct model_block *shape);
void forward_destroy_block(struct forward_block *block);

/** Creates a product with n, k and parts set, on `rows` rows. */
CHECKED struct status forward_create_linear(struct forward_linear *out, struct forward *f,
                                            enum model_operator op, uint64_t rows);
void forward_destroy_linear(struct forward_linear *linear);

/** How a matrix of that type, n x k, of an operator is multiplied; batch is left 0. */
struct linear_params forward_linear_params(const struct forward *f, enum model_operator op,
                                           enum dtype_id dtype, uint64_t n, uint64_t k);

/** The format of a matrix with rows of k. */
enum line_format forward_format(enum dtype_id dtype, uint64_t k);

/** Reproducible values around `middle`. */
void forward_fill_vector(float *out, size_t n, float middle, uint64_t *state);

/** No memory for activations. */
struct status forward_no_memory(void);

/** Packing of x and the product of `rows` rows, part by part, each ended by forward_done(). The
 *  mark's offset is that of the memory which the parts' offsets count from. */
void forward_multiply(const struct forward_linear *linear, uint64_t rows, unsigned thread,
                      unsigned char *const *memory, const struct forward_probe *probe,
                      const struct forward_mark *mark);

#endif
