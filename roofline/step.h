#ifndef ROOFLINE_STEP_H
#define ROOFLINE_STEP_H

/** The cost of one step of a model: FLOPs and bytes per operator and in sum. Conventions
 *  (MODEL.md): a multiply-add is 2 FLOP; weights are read once per pass; useful FLOPs of
 *  attention are causal. Element-wise work (softmax, norms, rotary, activation functions,
 *  residuals) is in flop_other and in no other figure.
 *
 *  All figures of an operator are of the whole step: summed over its layers. */

#include "roofline/dtype.h"
#include "roofline/model.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stdint.h>

enum step_phase { STEP_DECODE, STEP_PREFILL };

/** How latent attention (MLA) is computed. AUTO: absorbed in decode, naive in prefill. */
enum step_mla { STEP_MLA_AUTO, STEP_MLA_NAIVE, STEP_MLA_ABSORBED };

/** What step is asked for. */
struct step_request {
    enum step_phase phase;
    uint64_t batch;         /**< B sequences, >= 1 */
    uint64_t context;       /**< c: tokens cached before the step, per sequence */
    uint64_t prompt;        /**< n of a prefill, >= 1; ignored in decode, where n = 1 */
    uint64_t ubatch;        /**< prefill in chunks of so many tokens a sequence; 0 = one chunk */
    enum dtype_id dtype;    /**< DTYPE_STORED: as the model is; else every weight in that type */
    enum dtype_id kv_dtype; /**< of the cache */
    bool exact;             /**< dot products of length K cost 2K - 1 instead of 2K */
    bool all_logits;        /**< prefill: the head sees every row, not only the last of each */
    bool skips_masked;      /**< the attention kernel computes no masked score */
    enum step_mla mla;
    uint64_t llc_bytes; /**< last-level cache: weights that fit are streamed once per step, not
                             once per chunk; 0 = unknown: they never fit */
};

/** Bytes of a step or operator (contract: Definitions). */
struct step_bytes {
    double weights;          /**< matrices, biases, norms, one embedding row a token */
    double kv_read;          /**< rows cached before the step that a new token sees */
    double kv_write;         /**< rows made in the step */
    double activations;      /**< inputs and outputs of the products */
    double dram_lower_bound; /**< weights + kv_read + kv_write */
    double requested;        /**< all four */
};

struct step_cost {
    enum model_operator op;
    unsigned layers;      /**< that do it; head: 1 */
    double flop;          /**< useful */
    double flop_executed; /**< by a kernel that skips no masked score (see skips_masked) */
    double flop_other;    /**< element-wise, by the stated convention */
    struct step_bytes bytes;
    double flop_per_byte; /**< flop / dram_lower_bound; NaN without bytes */
};

/** What attention is made of, over all layers: times beyond FLOPs and bytes. */
struct step_attention {
    double scores;     /**< useful (query head, token, position) triples */
    double kv_vectors; /**< pairs of K and V that are visible to a sequence: (KV head, position) */
    double units;      /**< (sequence, KV head) pairs */
    bool latent;       /**< some layer's cache is latent and read absorbed */
};

/** Quantising the inputs of products whose weights are in a block format, over all layers: no part
 *  of any FLOP figure. */
struct step_quantising {
    double inputs; /**< matrices of activations */
    double values; /**< in them */
};

struct step {
    struct step_request request;                 /**< with AUTO and prompt resolved */
    uint64_t rows;                               /**< T = B n */
    uint64_t head_rows;                          /**< R */
    unsigned passes;                             /**< over the weights */
    struct step_cost sum;                        /**< op and layers have no meaning here */
    struct step_cost operators[MODEL_OPERATORS]; /**< those that the step does, in layer order */
    size_t operator_count;
    struct step_attention attention;
    struct step_quantising quantising;
    double norm_calls;       /**< norms of a row's whole width, over all layers */
    double kv_bytes;         /**< cache after the step, all sequences */
    double weight_bytes;     /**< stored */
    double activation_bytes; /**< live at once: residual, widest intermediate, logits in f32 */
    double memory_bytes;     /**< needed: the three above */
};

/** "decode", "prefill". Static text. */
const char *step_phase_name(enum step_phase phase);

/** The request of the contract's defaults for a phase: batch 1, context 512 in decode and 0 in
 *  prefill, prompt 512, the model's own dtype, f16 cache. */
struct step_request step_defaults(enum step_phase phase);

/** Computes the step of a checked model. Errors: INVALID if batch, context or prompt is 0 where
 *  it must not be or above 2^32, or if a row of the cache is no whole number of
 *  kv_dtype's blocks; the text names option and value. */
CHECKED struct status step_compute(struct step *out, const struct model *model,
                                   const struct step_request *request);

/** The operator's cost in a step, or NULL if the step does not do it. Borrowed from step. */
const struct step_cost *step_find(const struct step *step, enum model_operator op);

/** Bytes of one token's row of the cache in one layer: K and V vectors of every KV head, or the
 *  latent row of MLA. int8 has one f32 scale per vector. */
double step_kv_row_bytes(const struct model_attention *attention, enum dtype_id kv_dtype);

/** Visible pairs of one head of one sequence: n new tokens after c cached ones: the sum over
 *  i = 1..n of what token c + i sees: c + i without window; at most W in a sliding window; in a
 *  chunk ((c + i - 1) mod W) + 1. */
double step_attention_pairs(const struct model_attention *attention, uint64_t context, uint64_t n);

/** Positions cached before the step that a new token can see: c, at most W - 1 in a sliding
 *  window, c mod W in a chunk. */
double step_visible_cached(const struct model_attention *attention, uint64_t context);

/** Expected number of distinct experts that T tokens touch when each routes to e of E uniformly:
 *  E (1 - (1 - e/E)^T). Real routers are less uniform: an upper estimate. */
double step_distinct_experts(uint64_t experts, uint64_t used, double tokens);

/** Variance of that number: E p (1 - p) + E (E - 1) (q - p^2), where p = 1 - (1 - e/E)^T is the
 *  chance that an expert is touched and q = 1 - 2 (1 - e/E)^T + ((E - e) (E - e - 1) / (E (E -
 * 1)))^T that two given ones are (inclusion and exclusion). */
double step_distinct_experts_variance(uint64_t experts, uint64_t used, double tokens);

#endif
