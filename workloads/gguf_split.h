#ifndef WORKLOADS_GGUF_SPLIT_H
#define WORKLOADS_GGUF_SPLIT_H

/** Models split over several files, `NAME-00001-of-0000N.gguf` and so on: the first holds the
 *  metadata, each the infos of its own tensors. */

#include "workloads/gguf_file.h"

/** If first (opened from path) is the first of several shards, adds the tensors of the others,
 *  found beside it by name; otherwise changes nothing. Errors: INVALID for a later shard, a name
 *  that does not follow the pattern, and a shard that is missing, malformed or of another split. */
CHECKED struct status gguf_join_shards(struct gguf *first, const char *path);

#endif
