#ifndef WORKLOADS_GGUF_PART_H
#define WORKLOADS_GGUF_PART_H

/** The tensors that a layer can have, by the names that llama.cpp gives them, with the role and
 *  the dimensions of each as a table. */

#include "roofline/model.h"

/** A size that follows from the metadata; gguf_layer.c computes each for one layer. */
enum gguf_dim {
    GGUF_DIM_ONE,
    GGUF_DIM_D,
    GGUF_DIM_Q,      /**< h_q k */
    GGUF_DIM_K,      /**< h_kv k */
    GGUF_DIM_V,      /**< h_kv k_v */
    GGUF_DIM_QKV,    /**< the three together */
    GGUF_DIM_OUT_IN, /**< h_q k_v */
    GGUF_DIM_HEAD,   /**< k */
    GGUF_DIM_HEADS,  /**< h_q */
    GGUF_DIM_R_Q,
    GGUF_DIM_R_KV,
    GGUF_DIM_KV_A, /**< r_kv + k_r */
    GGUF_DIM_KV_B, /**< h (k_n + k_v) */
    GGUF_DIM_K_N,
    GGUF_DIM_V_HEAD, /**< k_v */
    GGUF_DIM_F,
    GGUF_DIM_E,
    GGUF_DIM_F_E,
    GGUF_DIM_2F_E,
    GGUF_DIM_F_S, /**< width of all shared experts */
    GGUF_DIMS
};

enum gguf_part_kind {
    GGUF_PART_MATRIX,     /**< [k, n] */
    GGUF_PART_PER_HEAD,   /**< [k, n, h_q]: one matrix a head */
    GGUF_PART_EXPERTS,    /**< [k, n, E], or E tensors [k, n] with a number in their name */
    GGUF_PART_NORM,       /**< [n] */
    GGUF_PART_HEAD_NORM,  /**< [k], or one for each head */
    GGUF_PART_VECTOR,     /**< [n], used as it is */
    GGUF_PART_ROUTER_BIAS /**< [E], only as .bias */
};

struct gguf_part {
    const char *name; /**< between "blk.N." and ".weight" */
    enum gguf_part_kind kind;
    enum model_role role; /**< of a matrix or experts */
    enum gguf_dim n;
    enum gguf_dim k;
};

/** Places in the table, for what the code asks for by name. Order of gguf_part.c. */
enum gguf_part_id {
    GGUF_ATTN_Q,
    GGUF_ATTN_K,
    GGUF_ATTN_V,
    GGUF_ATTN_QKV,
    GGUF_ATTN_OUTPUT,
    GGUF_ATTN_Q_A,
    GGUF_ATTN_Q_B,
    GGUF_ATTN_KV_A,
    GGUF_ATTN_KV_B,
    GGUF_ATTN_K_B,
    GGUF_ATTN_V_B,
    GGUF_FFN_GATE,
    GGUF_FFN_UP,
    GGUF_FFN_DOWN,
    GGUF_FFN_GATE_INP,
    GGUF_FFN_GATE_EXPS,
    GGUF_FFN_UP_EXPS,
    GGUF_FFN_GATE_UP_EXPS,
    GGUF_FFN_DOWN_EXPS,
    GGUF_FFN_GATE_SHEXP,
    GGUF_FFN_UP_SHEXP,
    GGUF_FFN_DOWN_SHEXP,
    GGUF_FFN_GATE_INP_SHEXP,
    GGUF_EXP_PROBS_B,
    GGUF_ATTN_SINKS,
    GGUF_ATTN_NORM,
    GGUF_ATTN_NORM_2,
    GGUF_POST_ATTENTION_NORM,
    GGUF_ATTN_OUTPUT_NORM,
    GGUF_ATTN_SUB_NORM,
    GGUF_ATTN_Q_NORM,
    GGUF_ATTN_K_NORM,
    GGUF_ATTN_Q_A_NORM,
    GGUF_ATTN_KV_A_NORM,
    GGUF_FFN_NORM,
    GGUF_FFN_SUB_NORM,
    GGUF_POST_FFW_NORM,
    GGUF_LAYER_OUTPUT_NORM,
    GGUF_PARTS
};

/** The row of a part. Static. */
const struct gguf_part *gguf_part_get(enum gguf_part_id id);

/** What the name of a layer's tensor says. */
enum gguf_name_kind {
    GGUF_NAME_WEIGHT,
    GGUF_NAME_BIAS,
    GGUF_NAME_TABLE, /**< stored, but no parameter: rotary tables, scales of a quantised tensor */
    GGUF_NAME_UNKNOWN
};

struct gguf_name {
    enum gguf_name_kind kind;
    enum gguf_part_id part; /**< of a weight or bias */
    int64_t expert;         /**< its number, -1 if the name has none */
};

/** Takes apart what follows "blk.N." in a tensor's name. */
struct gguf_name gguf_name_parse(const char *rest);

/** True if name is a table of the whole model: rope_freqs.weight and its like. */
bool gguf_name_is_table(const char *name);

/** True if name starts with "blk.N."; *layer is N and *rest what follows. */
bool gguf_name_layer(uint32_t *layer, const char **rest, const char *name);

#endif
