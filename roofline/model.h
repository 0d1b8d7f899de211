#ifndef ROOFLINE_MODEL_H
#define ROOFLINE_MODEL_H

/** The shape of a decoder-only language model as plain data: every matrix and vector that it
 *  stores, by role, with its stored type. Readers of model files fill it (workloads/); counting
 *  (here) and costs (roofline/step.h) need nothing else. Symbols as in MODEL.md: d hidden size,
 *  L layers, V vocabulary rows, h_q and h_kv heads, k head dimension (k_v of V), f MLP width,
 *  E experts, e routed per token.
 *
 *  A model is a list of blocks; layers of equal shape and types share one block with a count.
 *  Readers start from a zeroed struct model, add blocks with model_add_layers()
 *  and end with model_check(). No pointers: a model is copied by assignment (about 300 KiB: keep
 *  it off deep stacks). */

#include "roofline/dtype.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODEL_NAME = 96,
    MODEL_LAYERS_MAX = 1024,
    MODEL_BLOCKS_MAX = 256, /**< distinct layers */
    MODEL_MATRICES_MAX = 20,
    MODEL_NOTES_MAX = 8
};

/** No dimension above this is accepted: 16 times the widest of any public model. */
#define MODEL_DIM_MAX ((uint64_t)1 << 24)
/** No model above this many elements is accepted; below it all counts are exact in a double. */
#define MODEL_ELEMENTS_MAX ((uint64_t)1 << 50)

/** The contract's operators, in the order in which a layer runs them. */
enum model_operator {
    MODEL_OP_NORMS, /**< norm weights; also the embedding and position rows that feed the first */
    MODEL_OP_QKV,
    MODEL_OP_ROPE,
    MODEL_OP_ATTENTION,
    MODEL_OP_ATTN_OUT,
    MODEL_OP_ROUTER,  /**< router, and the gate of a shared expert */
    MODEL_OP_EXPERTS, /**< routed experts, all their matrices */
    MODEL_OP_GATE_UP, /**< of dense MLPs and of shared experts */
    MODEL_OP_DOWN,    /**< of dense MLPs and of shared experts */
    MODEL_OP_ACT_QUANT,
    MODEL_OP_HEAD, /**< LM head; also projections between it and the layers (OPT-350m) */
    MODEL_OPERATORS
};

/** What a matrix is. The second word names the operator it belongs to: model_role_operator(). */
enum model_role {
    MODEL_Q,
    MODEL_K,
    MODEL_V,
    MODEL_QKV,  /**< fused Q, K, V */
    MODEL_KV,   /**< fused K, V */
    MODEL_Q_A,  /**< MLA: d -> r_q */
    MODEL_Q_B,  /**< MLA: r_q -> h (k_n + k_r) */
    MODEL_KV_A, /**< MLA: d -> r_kv + k_r */
    MODEL_KV_B, /**< MLA: r_kv -> h (k_n + k_v) */
    MODEL_K_B,  /**< MLA: the K part of KV_B apart: n = h r_kv, k = k_n (any split of it) */
    MODEL_V_B,  /**< MLA: the V part apart: n = h k_v, k = r_kv */
    MODEL_ATTN_OUT,
    MODEL_GATE,
    MODEL_UP,
    MODEL_GATE_UP_FUSED, /**< n = 2 f */
    MODEL_DOWN,
    MODEL_ROUTER,
    MODEL_EXPERT_GATE, /**< count = E, n and k of one expert; so the next three */
    MODEL_EXPERT_UP,
    MODEL_EXPERT_GATE_UP_FUSED,
    MODEL_EXPERT_DOWN,
    MODEL_SHARED_GATE, /**< shared experts: all S as one MLP of width S f_s, or count = S */
    MODEL_SHARED_UP,
    MODEL_SHARED_DOWN,
    MODEL_SHARED_ROUTER, /**< d -> 1 */
    MODEL_HEAD,
    MODEL_PROJECT_IN,
    MODEL_PROJECT_OUT,
    MODEL_EMBEDDING, /**< V rows of d; looked up */
    MODEL_POSITIONS, /**< learned positions; looked up */
    MODEL_ROLES
};

/** count matrices W[n,k] of one role, y[n] = W x[k] (+ bias[n]). */
struct model_matrix {
    enum model_role role;
    uint32_t count;        /**< 1; experts: E */
    uint64_t n;            /**< outputs: rows */
    uint64_t k;            /**< inputs: contiguous */
    uint64_t bias;         /**< elements of the biases of all count together; 0 = none */
    enum dtype_id dtype;   /**< of the matrix as stored */
    uint64_t stored_bytes; /**< of all count; exact, by the stored type */
    uint64_t bias_bytes;
};

/** Vectors: norm weights and biases, attention sinks. */
struct model_vectors {
    uint64_t elements;     /**< stored */
    uint64_t stored_bytes; /**< by the stored type */
};

enum model_attention_kind {
    MODEL_ATTENTION_NONE, /**< a layer without attention (and without cache) */
    MODEL_ATTENTION_HEADS,
    MODEL_ATTENTION_MLA
};

struct model_attention {
    enum model_attention_kind kind;
    uint64_t heads;     /**< h_q */
    uint64_t kv_heads;  /**< h_kv; MLA: h_q */
    uint64_t k_dim;     /**< k: of a query and a key; MLA: k_n + k_r */
    uint64_t v_dim;     /**< k_v */
    uint64_t window;    /**< W: positions a token sees, itself included; 0 = all */
    bool chunked;       /**< the window is the chunk [iW, (i+1)W) that the token is in (Llama-4),
                             not the last W positions */
    uint64_t kv_rank;   /**< MLA: r_kv, else 0 */
    uint64_t rope_dim;  /**< rotated part of a head (MLA: k_r); 0 = no rotary embedding */
    uint64_t kv_values; /**< cached per token: h_kv (k + k_v); MLA: r_kv + k_r */
};

struct model_mlp {
    uint64_t width;        /**< f of the dense MLP; 0 if the layer has none */
    uint64_t experts;      /**< E; 0 = dense */
    uint64_t experts_used; /**< e */
    uint64_t expert_width; /**< f_e */
    uint64_t shared_width; /**< S f_s; 0 = none */
    bool gated;
};

/** `layers` equal layers. */
struct model_block {
    uint32_t layers;
    uint32_t matrix_count;
    struct model_attention attention;
    struct model_mlp mlp;
    struct model_vectors norms; /**< all norms of one layer, QK norms too */
    uint64_t norm_values;       /**< values normalised per token in one layer, e.g. 2 d */
    struct model_vectors sinks; /**< other vectors: attention sinks, ... */
    struct model_matrix matrices[MODEL_MATRICES_MAX];
};

enum model_origin { MODEL_FROM_BUILTIN, MODEL_FROM_CONFIG, MODEL_FROM_GGUF };

/** Something the user should know: becomes a warning of the document. */
struct model_note {
    char code[32];
    char text[224];
};

struct model {
    char name[MODEL_NAME]; /**< built-in name, or the file's or directory's; printable */
    char family[32];       /**< model_type or general.architecture */
    enum model_origin origin;
    uint64_t d;
    uint64_t vocab;           /**< V: rows of the stored tensor */
    uint64_t trained_context; /**< 0 = not told */
    enum dtype_id dtype;      /**< of the matrices; DTYPE_STORED if they differ */
    bool layer_norm;          /**< LayerNorm (7 operations a value) instead of RMSNorm (4) */
    bool shape_only;          /**< no weight is known (a GGUF without tensors): the blocks have no
                                   matrices, there are no counts, bytes and steps */
    bool tied;                /**< the head is the embedding: one tensor, in `embedding` */

    struct model_matrix embedding; /**< n = V, k = d (or the projection's width) */
    struct model_matrix positions; /**< learned positions, count = 0 if there are none */
    struct model_matrix head;      /**< role HEAD, n = V. Tied: a copy of embedding's n, k, dtype
                                        and stored_bytes (counted once in totals), own bias */
    struct model_matrix projections[2]; /**< OPT-350m; count = 0 if there are none */
    struct model_vectors final_norms;   /**< final norm; also a norm of the embedding (BLOOM) */
    uint64_t final_norm_values;         /**< values normalised per token outside the layers */
    uint64_t type_bytes[DTYPE_COUNT];   /**< GGUF: all tensors of the file by type; else 0 */
    uint64_t lookup_bytes;    /**< stored tables that are no parameters (rope_freqs, ...) */
    struct model_vectors mtp; /**< all of the multi-token-prediction layers, apart from totals */
    unsigned mtp_layers;

    uint32_t block_count;
    struct model_block blocks[MODEL_BLOCKS_MAX];
    uint32_t note_count;
    struct model_note notes[MODEL_NOTES_MAX];
};

/** Exact counts (contract: Definitions). */
struct model_counts {
    uint64_t total;         /**< every stored weight, a tied head once, MTP and lookups not */
    uint64_t linear;        /**< P_lin: matrices multiplied, all experts, head tied or not */
    uint64_t linear_active; /**< the same with the routed experts only */
    uint64_t embedding;     /**< V d of the input table */
    uint64_t active;        /**< total less the experts not routed to */
    uint64_t mtp;           /**< of the MTP layers */
    uint64_t kv_values_per_token;
    uint64_t layers;
};

/** One group of an operator: `layers` layers do it on these matrices. */
struct model_shape {
    uint32_t layers;
    uint32_t matrix_count;
    struct model_matrix matrices[6]; /**< in the order of the block */
    uint64_t n; /**< sum of n over the matrices that share the first one's k (fused product) */
    uint64_t k; /**< of the first matrix */
};

/** "qkv", ... as in the contract. Static text. */
const char *model_operator_name(enum model_operator op);

/** The operator of that name; MODEL_OPERATORS if unknown. */
enum model_operator model_operator_find(const char *name);

/** The operator that multiplies matrices of a role; MODEL_OP_NORMS for look-ups. */
enum model_operator model_role_operator(enum model_role role);

/** The input that a role's matrix multiplies: matrices of one operator with the same number share
 *  it (q, k, v; gate, up), so that it is read once. */
unsigned model_role_input(enum model_role role);

/** Bytes of count matrices without biases in `dtype`; DTYPE_STORED: as stored. */
uint64_t model_matrix_bytes(const struct model_matrix *matrix, enum dtype_id dtype);

/** Bytes of a matrix's biases likewise. */
uint64_t model_bias_bytes(const struct model_matrix *matrix, enum dtype_id dtype);

/** Bytes of vectors likewise. */
uint64_t model_vector_bytes(const struct model_vectors *vectors, enum dtype_id dtype);

/** "q", "gate", ... for messages and --explain. Static text. */
const char *model_role_name(enum model_role role);

/** Appends a matrix to a block; bytes are computed from its dtype (biases take bias_dtype). The
 *  readers that know exact sizes set stored_bytes afterwards. Returns the matrix, or NULL if the
 *  block is full. */
struct model_matrix *model_add_matrix(struct model_block *block, enum model_role role, uint64_t n,
                                      uint64_t k, bool bias, enum dtype_id dtype,
                                      enum dtype_id bias_dtype);

/** Adds block->layers layers: to an equal block if there is one, else as a new block.
 *  Errors: INVALID if there are more than MODEL_LAYERS_MAX layers or too many distinct ones. */
CHECKED struct status model_add_layers(struct model *model, const struct model_block *block);

/** Appends a note, cut to its fields; silently drops the ninth. */
void model_add_note(struct model *model, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Checks bounds: every dimension 1..MODEL_DIM_MAX, the sum of all elements (times count) below
 *  MODEL_ELEMENTS_MAX, 1..MODEL_LAYERS_MAX layers, experts_used <= experts, heads a multiple of
 *  kv_heads. INVALID names what is wrong. Nothing below overflows after it succeeded. */
CHECKED struct status model_check(const struct model *model);

/** Gives every matrix and vector the type `dtype` (rows that are no whole number of blocks get its
 *  fallback) and recomputes all stored bytes. For config files and for --dtype. */
void model_set_dtype(struct model *model, enum dtype_id dtype);

/** Exact parameter counts of a checked model. */
void model_count(struct model_counts *out, const struct model *model);

/** Everything stored: all matrices, biases, vectors, look-up tables; a tied head once. The MTP
 *  layers count where they are tensors of the file (GGUF), not for a config (contract:
 *  weight_bytes). */
uint64_t model_weight_bytes(const struct model *model, enum dtype_id dtype);

/** Distinct shapes of an operator that multiplies matrices, at most max of them, in the
 *  order of the layers; returns how many there are. An operator without matrices has none. */
size_t model_shapes(struct model_shape *out, size_t max, const struct model *model,
                    enum model_operator op);

#endif
