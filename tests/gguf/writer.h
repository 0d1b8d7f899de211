#ifndef TESTS_GGUF_WRITER_H
#define TESTS_GGUF_WRITER_H

/** Writes GGUF headers in memory, byte by byte and independently of the reader, and the small
 *  model that the unit tests work out by hand. */

#include "roofline/dtype.h"
#include "workloads/gguf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A file in the making. Tensors are laid back to back; there is no data. */
struct writer {
    unsigned char bytes[1 << 16];
    size_t size;
    bool big_endian;
    uint64_t data_end;
};

/** Of the small model. */
enum { VALUES = 8, TENSORS = 22 };

/** Magic, version and the two counts, at the start. */
void put_header(struct writer *out, unsigned version, uint64_t tensors, uint64_t values);

/** A metadata pair: a string, an integer of a type. */
void put_text(struct writer *out, const char *key, const char *value);
void put_int(struct writer *out, const char *key, enum gguf_value_type type, uint64_t value);

/** A tensor info of k x n, or of k alone if n is 0. */
void put_tensor(struct writer *out, const char *name, uint64_t k, uint64_t n, enum dtype_id type);

/** The small model's VALUES pairs, a layer of 9 tensors, and all its TENSORS. */
void put_values(struct writer *out);
void put_layer(struct writer *out, int layer, enum dtype_id v, enum dtype_id down);
void put_tensors(struct writer *out);

/** The small model's whole file. */
void write_small(struct writer *out, unsigned version, bool big_endian);

#endif
