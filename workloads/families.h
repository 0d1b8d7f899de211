#ifndef WORKLOADS_FAMILIES_H
#define WORKLOADS_FAMILIES_H

/** The families of decoder-only models whose config.json is understood: one row each, with the
 *  defaults of the reference implementation's class (families.c). What a row cannot say, its
 *  adapt function does (family_*.c). */

#include "roofline/model.h"
#include "roofline/status.h"
#include "workloads/config_keys.h"

/** Norm of a family: what one norm of width w stores. */
enum shape_norm {
    SHAPE_RMS,           /**< w */
    SHAPE_LAYER,         /**< 2 w */
    SHAPE_LAYER_NO_BIAS, /**< w */
    SHAPE_LAYER_BARE     /**< 0 */
};

/** Norms of queries and keys. */
enum shape_qk_norm {
    SHAPE_QK_NONE,
    SHAPE_QK_SHARED,  /**< one of width k for all heads of Q, one for K */
    SHAPE_QK_PER_HEAD /**< h_q k for Q, h_kv k for K */
};

/** The hyperparameters of a model, before they become matrices (shape_build()). */
struct shape {
    uint64_t d, layers, heads, kv_heads, head_dim, ffn, vocab, context;
    uint64_t v_dim;           /**< 0: head_dim */
    uint64_t rope_dim;        /**< rotated values of a head; 0: none */
    uint64_t position_rows;   /**< learned positions */
    uint64_t embedding_width; /**< OPT-350m: width of the embedding; 0: d */
    bool tied, gated, qkv_bias, out_bias, mlp_bias, head_bias;

    enum shape_norm norm;
    enum shape_norm qk_norm_kind; /**< what a QK norm stores */
    enum shape_qk_norm qk_norm;
    uint64_t norms_per_layer;
    bool final_norm, embedding_norm;

    uint64_t q_rank, kv_rank, nope_dim; /**< MLA: r_q (0: none), r_kv (0: no MLA), k_n; k_r is
                                             rope_dim */
    bool sinks;                         /**< attention sinks: h_q values a layer */
    uint64_t window;                    /**< of the layers with windowed[i] */
    bool chunked;                       /**< the window is a chunk that starts at its multiples */
    uint8_t windowed[MODEL_LAYERS_MAX];

    uint64_t experts, experts_used, expert_width, shared_width;
    uint64_t dense_ffn; /**< MLP width of the layers without experts, where there are both */
    bool shared_gate;   /**< d -> 1 */
    bool router_bias, expert_bias;
    uint8_t routed[MODEL_LAYERS_MAX]; /**< layers with experts */
    uint64_t mtp_layers;
};

/** A yes or no that a key of the config decides; key NULL: always `value`. */
struct family_flag {
    const char *key;
    bool value; /**< class default */
};

/** Names of the keys of a shape; "a|b" are alternatives. NULL: not a key of this family. */
struct family_keys {
    const char *d, *layers, *heads, *kv_heads, *head_dim, *ffn, *vocab, *context;
};

struct family {
    const char *model_types; /**< "llama|Yi" */
    const char *source;      /**< where the defaults were read */
    const struct family_keys *keys;
    bool tied;    /**< default of tie_word_embeddings */
    bool ungated; /**< MLP of two matrices instead of three */
    bool head_bias;
    enum shape_norm norm;
    unsigned norms; /**< per layer */
    double rotary;  /**< rotated fraction of a head where no key tells; 0: not rotary */
    struct family_flag qkv_bias, out_bias, mlp_bias;
    uint64_t kv_heads; /**< where the key is absent; 0: as many as heads */
    uint64_t head_dim; /**< likewise; 0: d / heads */
    /** Class defaults of dimensions, for nested objects only (text_config): at the top level the
     *  classes always write them, and a file without them is not whole. 0: required. */
    uint64_t d, layers, heads, ffn, vocab;
    struct status (*adapt)(struct shape *shape, struct config *config); /**< NULL: nothing more */
};

/** The family of a model_type; NULL if unknown. Static. */
const struct family *family_find(const char *model_type);

/** The i-th family; NULL past the end. Static. */
const struct family *family_at(size_t i);

/** Reads the shape that a config describes. */
CHECKED struct status family_read_shape(struct shape *out, struct config *config,
                                        const struct family *family);

/** Turns a shape into matrices of dtype. Errors: INVALID. */
CHECKED struct status shape_build(struct model *out, const struct shape *shape,
                                  enum dtype_id dtype);

#endif
