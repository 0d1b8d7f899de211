#ifndef WORKLOADS_GGUF_SHAPE_H
#define WORKLOADS_GGUF_SHAPE_H

/** What a GGUF file's metadata says of a model's shape, per layer and checked for sense. The
 *  tensor table is compared with it elsewhere (gguf_layer.h). */

#include "roofline/model.h"
#include "workloads/gguf_file.h"

/** What llama.cpp knows of an architecture without the file telling. */
struct gguf_architecture {
    const char *name;       /**< value of general.architecture */
    uint64_t window;        /**< where the file names none; 0 = none */
    unsigned window_period; /**< layer i has the window unless i % period == period - 1; 0: all
                                 layers have it, if there is one */
    unsigned rope_period;   /**< layers with (i + 1) % period == 0 have no rotary embedding; 0: all
                                 have */
    unsigned ff_divisor;    /**< the file's feed_forward_length is so many times the width; 0 = 1 */
    bool window_global_first;   /**< ... unless i % period == 0 */
    bool chunked;               /**< the window is the chunk that the token is in */
    bool no_rope;               /**< positions are learned or ALiBi */
    bool norms_without_weights; /**< normalises d values twice a layer and once at the end */
    bool linear_layers;         /**< head_count_kv 0 with heads: one d x d matrix for attention */
};

struct gguf_shape {
    const struct gguf_architecture *architecture;
    uint32_t layers;     /**< without the multi-token-prediction layers */
    uint32_t mtp_layers; /**< that follow them */
    uint64_t d;
    uint64_t trained_context; /**< 0 = not told */
    uint64_t vocab;           /**< 0 = not told */
    bool layer_norm;
    bool windowed[MODEL_LAYERS_MAX];
    uint64_t window;                     /**< of those layers */
    uint64_t heads[MODEL_LAYERS_MAX];    /**< h_q; 0 = a layer without attention */
    uint64_t kv_heads[MODEL_LAYERS_MAX]; /**< h_kv */
    uint64_t ff[MODEL_LAYERS_MAX];       /**< f */
    bool ff_told;                        /**< else ff is 0 and the tensors tell */
    uint64_t k, v;                       /**< head sizes; MLA: k_n + k_r and k_v */
    uint64_t k_window, v_window;         /**< in layers with the window */
    uint64_t rope_dim;                   /**< 0 = no rotary embedding */
    uint64_t q_rank, kv_rank;            /**< MLA: r_q (0 = none), r_kv; kv_rank 0 = no MLA */
    uint64_t experts, experts_used;      /**< 0 = dense */
    uint64_t expert_ff;                  /**< 0 = not told */
    uint64_t shared_count, shared_ff;    /**< 0 = not told */
    uint64_t leading_dense;              /**< first layers without experts */
};

/** The architecture of that name, or NULL. */
const struct gguf_architecture *gguf_architecture_find(const char *name);

/** Reads the metadata. Errors: INVALID with key, found, accepted; an unknown architecture and a
 *  file that holds something else than a model (an adapter, a projector, ...) by name. */
CHECKED struct status gguf_read_shape(struct gguf_shape *out, struct gguf *gguf);

#endif
