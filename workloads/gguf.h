#ifndef WORKLOADS_GGUF_H
#define WORKLOADS_GGUF_H

/** Reader of GGUF files (header only; tensor data is never touched). */

#include "roofline/model.h"
#include "roofline/status.h"

#include <stddef.h>

/** Reads the model in a .gguf (v2 or v3, either byte order; of a split one the first shard).
 *  Errors: INVALID for malformed or unknown content, SYSTEM for I/O; the text starts with the
 *  path, and out is zero. */
CHECKED struct status gguf_read_model(struct model *out, const char *path);

/** The same over the bytes of a file; label stands for its path. A split file's other shards are
 *  looked for beside label. */
CHECKED struct status gguf_read_model_memory(struct model *out, const unsigned char *data,
                                             size_t bytes, const char *label);

#endif
