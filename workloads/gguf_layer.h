#ifndef WORKLOADS_GGUF_LAYER_H
#define WORKLOADS_GGUF_LAYER_H

/** One layer of a GGUF file: its tensors, compared with the metadata, as a block of the model. */

#include "workloads/gguf_part.h"
#include "workloads/gguf_shape.h"

struct gguf_layer {
    const struct gguf_shape *shape;
    uint32_t number;                   /**< N of "blk.N." */
    const struct gguf_tensor *tensors; /**< of the layer, borrowed */
    size_t tensor_count;
    const struct gguf_tensor *weights[GGUF_PARTS]; /**< NULL = none; of experts apart: the first */
    const struct gguf_tensor *biases[GGUF_PARTS];
    uint64_t dims[GGUF_DIMS]; /**< 0: the layer has nothing of that size */
    uint64_t table_bytes;     /**< stored, but no parameters */
};

/** Sorts the layer's tensors into parts. shape, number, tensors and tensor_count are set by the
 *  caller, the rest is zero. Errors: INVALID for a tensor whose name is not understood. */
CHECKED struct status gguf_layer_collect(struct gguf_layer *layer);

/** The block (of one layer) that the collected tensors make. Errors: INVALID for a tensor that is
 *  missing, not expected, or not of the size that the metadata says. */
CHECKED struct status gguf_layer_block(struct model_block *out, struct gguf_layer *layer);

/** The block of a layer of a file without tensors: what the metadata says of its shape, and no
 *  weights. shape and number are set by the caller, the rest is zero. */
void gguf_layer_shape(struct model_block *out, struct gguf_layer *layer);

/** Adds every collected tensor to the block. dims are set. */
CHECKED struct status gguf_layer_add_parts(struct model_block *out, const struct gguf_layer *layer);

/** INVALID if a tensor's dimensions are not exactly first, second and third (1 where the tensor
 *  has fewer). An expected 0 means that there should be no such tensor. */
CHECKED struct status gguf_check_dims(const struct gguf_tensor *tensor, uint64_t first,
                                      uint64_t second, uint64_t third);

#endif
