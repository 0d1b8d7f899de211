#ifndef WORKLOADS_GGUF_H
#define WORKLOADS_GGUF_H

/** Reader of GGUF files (header only; tensor data is never touched). */

#include "roofline/model.h"
#include "roofline/status.h"

/** Reads the model in a .gguf (v2 or v3, either byte order; of a split one the first shard).
 *  Errors: INVALID for malformed or unknown content, SYSTEM for I/O. */
CHECKED struct status gguf_read_model(struct model *out, const char *path);

#endif
