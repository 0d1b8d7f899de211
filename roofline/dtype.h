#ifndef ROOFLINE_DTYPE_H
#define ROOFLINE_DTYPE_H

/** Element types of weights and caches, in one table: names, block sizes, ggml ids. Sizes are
 *  those of stored data, block scales included (ggml: src/ggml-common.h static_asserts). */

#include <stdbool.h>
#include <stdint.h>

enum dtype_id {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_F8_E4M3,
    DTYPE_F8_E5M2,
    DTYPE_INT8,      /**< one f32 scale per output channel (matrix row): 1 + 4/K bytes */
    DTYPE_INT4_G128, /**< symmetric, one f16 scale per 128 of a row */
    DTYPE_Q4_0,
    DTYPE_Q4_1,
    DTYPE_Q5_0,
    DTYPE_Q5_1,
    DTYPE_Q8_0,
    DTYPE_Q8_1,
    DTYPE_Q2_K,
    DTYPE_Q3_K,
    DTYPE_Q4_K,
    DTYPE_Q5_K,
    DTYPE_Q6_K,
    DTYPE_Q8_K,
    DTYPE_IQ2_XXS,
    DTYPE_IQ2_XS,
    DTYPE_IQ2_S,
    DTYPE_IQ3_XXS,
    DTYPE_IQ3_S,
    DTYPE_IQ1_S,
    DTYPE_IQ1_M,
    DTYPE_IQ4_NL,
    DTYPE_IQ4_XS,
    DTYPE_I8,
    DTYPE_I16,
    DTYPE_I32,
    DTYPE_I64,
    DTYPE_TQ1_0,
    DTYPE_TQ2_0,
    DTYPE_MXFP4,
    DTYPE_NVFP4,
    DTYPE_Q1_0,
    DTYPE_Q2_0,
    DTYPE_COUNT,
    DTYPE_STORED = DTYPE_COUNT, /**< in a request: each tensor's own type */
    DTYPE_NONE                  /**< not told */
};

/** How a dot product with such weights is done by the kernels that people use. */
enum dtype_kind {
    DTYPE_FLOAT, /**< multiply-adds of floats */
    DTYPE_INT    /**< integer dot products with quantised activations, scaled per block */
};

/** What the type may be used for. */
enum dtype_use {
    DTYPE_WEIGHTS,     /**< accepted by --dtype */
    DTYPE_ACTIVATIONS, /**< exists in kernels only; never in a file */
    DTYPE_TABLES       /**< in files, but not for matrices that are multiplied */
};

struct dtype {
    const char *name;        /**< lower case, as in documents and options */
    unsigned block_elements; /**< 1 for plain types; a row is a whole number of blocks */
    unsigned block_bytes;    /**< scales included */
    unsigned row_bytes;      /**< once per matrix row besides the blocks (int8's scale) */
    int ggml_type;           /**< id in GGUF files; -1: none */
    enum dtype_kind kind;
    enum dtype_use use;
    enum dtype_id fallback; /**< what llama.cpp stores where a row is no whole number of blocks */
};

/** The row of the table; id below DTYPE_COUNT. Borrowed, static. */
const struct dtype *dtype_get(enum dtype_id id);

/** "bf16"; "stored" and "none" for the two that are no types. Static text. */
const char *dtype_name(enum dtype_id id);

/** The type of a name: the table's, or a Hugging Face one ("bfloat16", "float16", "float32",
 *  "float64", "half", ... with or without "torch."). DTYPE_NONE if unknown. */
enum dtype_id dtype_find(const char *name);

/** The same, and DTYPE_STORED for "stored": what dtype_name() says of a step's type. */
enum dtype_id dtype_find_recipe(const char *name);

/** The type with that id in GGUF files; DTYPE_NONE if unknown or removed. */
enum dtype_id dtype_from_ggml(uint64_t ggml_type);

/** True if a row of k elements is a whole number of blocks. */
bool dtype_fits(enum dtype_id id, uint64_t k);

/** The type that a row of k elements really gets: id if it fits, else its fallback, and so on. */
enum dtype_id dtype_for_row(enum dtype_id id, uint64_t k);

/** Bytes of a matrix of rows x k elements (k contiguous) in dtype_for_row(id, k). The caller has
 *  checked that 8 * rows * (k + 1) fits 64 bits (model_check() does). */
uint64_t dtype_matrix_bytes(enum dtype_id id, uint64_t rows, uint64_t k);

#endif
