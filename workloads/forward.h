#ifndef WORKLOADS_FORWARD_H
#define WORKLOADS_FORWARD_H

/** A whole step of a model: embedding rows, all layers in order with norms, rotary embedding,
 *  cache append, attention, residuals and MLP, the final norm and the head. Weights are random and
 *  scaled so that activations keep their size; what one operator writes the next one reads. The
 *  products are those of linear.h and attention.h, in chunks of at most LINEAR_BATCH_MAX rows.
 *
 *  Decode: one token a sequence after `context` cached ones (of a window, as many as it sees).
 *  Prefill: `prompt` tokens a sequence into an empty cache; the head sees the last of each.
 *
 *  Latent attention (MLA) is absorbed in decode: queries go through their heads' part of kv_b into
 *  the latent space, the cache holds latent rows, and the outputs leave it head by head. In prefill
 *  keys and values of all heads are made from the latent rows, which are written to the cache.
 *  Routed experts: router, choice, and the products of the distinct experts chosen (experts.h);
 *  every step chooses anew. Scores and logits are not capped (Gemma 2), and embeddings not scaled.
 *
 *  Every thread's weights and cache of all layers lie in memory that it touches first; the caller
 *  owns that memory and the clock. */

#include "roofline/model.h"
#include "workloads/attention.h"
#include "workloads/linear.h"

#include <signal.h>

enum { FORWARD_BLOCKS_MAX = 16, FORWARD_OUTSIDE = FORWARD_BLOCKS_MAX };

/** How the products of one operator are made. */
struct forward_way {
    struct isa_set isa;
    enum linear_class class_; /**< attention: not used; block formats have LINEAR_DOT alone */
    size_t prefetch_bytes;
};

struct forward_params {
    const struct model *model; /**< read by forward_create() only */
    enum dtype_id dtype;       /**< of all matrices; a plain or block format of line.h;
                                    DTYPE_STORED: each as the model stores it, all such formats */
    enum line_format kv_format;
    bool prefill;
    unsigned batch;
    uint64_t context; /**< decode: tokens cached before */
    uint64_t prompt;  /**< prefill: tokens a sequence */
    unsigned threads;
    const volatile sig_atomic_t
        *signal;     /**< NULL, or: once it is not 0, filling and steps end early,
                          on all threads alike, and their results are none */
    unsigned layers; /**< of each block at most; 0: all */
    struct forward_way ways[MODEL_OPERATORS]; /**< of qkv, attention, attn_out, router, experts,
                                                 gate_up, down, head */
};

struct forward;

/** What thread 0 has seen all threads finish. Products also say of what they are, so that they can
 *  be checked while their operands are still there. */
struct forward_mark {
    enum model_operator op;
    const struct linear *linear;       /**< NULL if it was no linear */
    const struct attention *attention; /**< NULL if it was no attention */
    unsigned layer;                    /**< counted over all blocks */
    unsigned block;                    /**< FORWARD_OUTSIDE: no layer's */
    size_t offset;                     /**< of the weights or cache in each thread's memory */
};

/** Called by thread 0 after every part of an operator, when all threads are done with it. */
struct forward_probe {
    void (*mark)(void *context, const struct forward_mark *mark);
    void *context;
    bool holds; /**< all threads wait for the mark to return: it reads what they write next */
};

/** Whether the step of this model has a workload. Errors: INVALID, naming what is not supported. */
CHECKED struct status forward_supported(const struct model *model);

/** Plans a step and allocates its activations, not its weights. Errors: those of
 *  forward_supported(), linear_create() and attention_create(). The caller destroys it. */
CHECKED struct status forward_create(struct forward **out, const struct forward_params *params);
void forward_destroy(struct forward *forward);

/** Bytes of weights and cache in each thread's memory, a multiple of 64, and of one layer of them
 *  (of the largest block). */
size_t forward_thread_bytes(const struct forward *forward);

/** Bytes of activations that forward_create() allocated. */
size_t forward_activation_bytes(const struct forward *forward);

/** The same with `layers` layers of each block at most. */
size_t forward_thread_bytes_of(const struct forward *forward, unsigned layers);

/** Layers that a step runs, in all and of a block. */
unsigned forward_layers(const struct forward *forward);
unsigned forward_block_layers(const struct forward *forward, unsigned block);

/** Distinct experts that the steps since forward_forget_counts() chose, per layer with experts, and
 *  the bytes of their weights in one step of the whole model. */
struct forward_counts {
    uint64_t steps;
    double distinct, distinct_squares; /**< mean; sum of squared differences from it */
    double bytes, bytes_squares;
};

/** steps is 0 for a model without experts. Call both between steps. */
void forward_get_counts(struct forward_counts *out, const struct forward *forward);
void forward_forget_counts(struct forward *forward);

/** Writes a thread's weights and cache; called by the thread that will read them. */
void forward_fill(const struct forward *forward, unsigned thread, unsigned char *memory);

/** One step: all threads of a team call it inside one parallel region; memory[t] is thread t's.
 *  probe.mark may be NULL. */
void forward_run(struct forward *forward, unsigned thread, unsigned char *const *memory,
                 const struct forward_probe *probe);

/** What forward_check_mark() found: error is the largest error of a product over its own
 *  tolerance's share, kept with that tolerance. */
struct forward_check {
    const struct forward *forward;
    unsigned char *const *memory;
    double max_relative_error;
    double tolerance;
};

/** A mark for forward_run() that compares samples of every product of the first and last layer and
 *  of the head with double precision. context is a struct forward_check, zeroed but for its first
 *  two fields; the probe holds. */
void forward_check_mark(void *context, const struct forward_mark *mark);

#endif
