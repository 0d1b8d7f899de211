#ifndef WORKLOADS_GGUF_FILE_H
#define WORKLOADS_GGUF_FILE_H

/** The header of a GGUF file (versions 2 and 3, both byte orders) as plain tables: its metadata
 *  and its tensors, checked for everything that can be checked without knowing what a model is.
 *  What the tables mean for a model is gguf.h's business.
 *
 *  Everything in the file is untrusted. Memory grows with what was really read, never with what
 *  the file claims; counts, lengths and products are compared with the bytes left and with the
 *  limits below. Tensor data is neither read nor needed: a file cut after its header is accepted.
 *  Layout: ggml-org/ggml docs/gguf.md and src/gguf.cpp at d99724f2. */

#include "roofline/dtype.h"
#include "roofline/status.h"
#include "workloads/gguf_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GGUF_DIMS_MAX = 4,
    GGUF_KEY_BYTES_MAX = 65535,     /**< the specification's limit */
    GGUF_TENSOR_NAME_MAX = 64,      /**< the specification's limit */
    GGUF_KEYS_MAX = 1 << 16,        /**< real files have some 40 */
    GGUF_TENSORS_MAX = 1 << 18,     /**< a 671e9-parameter model has 1,025 to 91,000 */
    GGUF_TEXT_BYTES_MAX = 64 << 20, /**< all keys and names together */
    GGUF_ARRAY_MAX = 1 << 30,       /**< elements, as in ggml's own reader */
    GGUF_SHOWN = 80                 /**< bytes for a text from the file as it is printed */
};

/** Ids of the file format. */
enum gguf_value_type {
    GGUF_UINT8,
    GGUF_INT8,
    GGUF_UINT16,
    GGUF_INT16,
    GGUF_UINT32,
    GGUF_INT32,
    GGUF_FLOAT32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_UINT64,
    GGUF_INT64,
    GGUF_FLOAT64,
    GGUF_VALUE_TYPES
};

/** One metadata pair. Strings and arrays stay in the file; at says where. */
struct gguf_value {
    const char *key; /**< printable ASCII; borrowed from the struct gguf */
    size_t key_at;
    enum gguf_value_type type;
    enum gguf_value_type element; /**< of an array */
    uint64_t count;               /**< elements of an array; bytes of a string */
    uint64_t at;                  /**< first byte of a string's or array's contents */
    uint64_t bits;                /**< a scalar, zero-extended */
};

struct gguf_tensor {
    const char *name; /**< printable ASCII; borrowed from the struct gguf */
    size_t name_at;
    unsigned dimensions; /**< 1 to GGUF_DIMS_MAX */
    enum dtype_id dtype;
    uint64_t dims[GGUF_DIMS_MAX]; /**< dims[0] is contiguous; missing ones are 1; none is 0 */
    uint64_t offset;              /**< into the data section of its file */
    uint64_t elements;            /**< product of dims */
    uint64_t bytes;               /**< exact, by its type */
};

struct gguf {
    struct gguf_source source; /**< stays open: strings and arrays are read on demand */
    unsigned version;
    uint64_t alignment;
    struct gguf_value *values; /**< by key; owned */
    size_t value_count;
    struct gguf_tensor *tensors; /**< by name; owned */
    size_t tensor_count;
    char *text; /**< keys and names; owned */
    size_t text_bytes;
};

/** True if a file that starts with these four bytes claims to be GGUF. */
bool gguf_has_magic(const unsigned char head[4]);

/** Reads the header of the file at path. Errors, without the path: INVALID with the key, tensor
 *  or field, what was found and what is accepted; SYSTEM. Released with gguf_close(). */
CHECKED struct status gguf_open(struct gguf *out, const char *path);

/** The same over bytes that the caller keeps alive until gguf_close(). */
CHECKED struct status gguf_open_memory(struct gguf *out, const unsigned char *data, size_t bytes);

/** Releases what gguf holds and zeroes it; a zeroed struct is accepted. */
void gguf_close(struct gguf *gguf);

/** Entry of that key, or NULL. Borrowed from gguf. */
const struct gguf_value *gguf_find_value(const struct gguf *gguf, const char *key);

/** Tensor of that name, or NULL. Borrowed from gguf. */
const struct gguf_tensor *gguf_find_tensor(const struct gguf *gguf, const char *name);

/** A scalar of any integer type that is not negative. Errors: INVALID. */
CHECKED struct status gguf_value_uint(uint64_t *out, const struct gguf_value *value);

/** A scalar truth value. Errors: INVALID. */
CHECKED struct status gguf_value_bool(bool *out, const struct gguf_value *value);

/** A string as text fit for printing, cut to size - 1 bytes: what is not valid UTF-8 or is a
 *  control character becomes '?'. Errors: INVALID if the value is no string. */
CHECKED struct status gguf_value_text(char *out, size_t size, struct gguf *gguf,
                                      const struct gguf_value *value);

/** All elements of an array of integers or truth values, none negative; the array must have
 *  exactly count elements. Errors: INVALID. */
CHECKED struct status gguf_value_uints(uint64_t *out, size_t count, struct gguf *gguf,
                                       const struct gguf_value *value);

/** "uint32", "array of string", ... for messages. out has GGUF_SHOWN bytes. Returns out. */
char *gguf_value_type_text(char *out, const struct gguf_value *value);

/** length bytes from a file as printable text: see gguf_value_text(). Returns out. */
char *gguf_printable(char *out, size_t size, const char *bytes, size_t length);

#endif
