#include "workloads/gguf_split.h"

#include "workloads/gguf_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 99999, SUFFIX = 64 };

// *out keeps its value if the key is absent.
static struct status optional_uint(uint64_t *out, const struct gguf *gguf, const char *key)
{
    const struct gguf_value *value = gguf_find_value(gguf, key);
    return value == NULL ? status_ok() : gguf_value_uint(out, value);
}

static char *shard_suffix(char out[SUFFIX], uint64_t number, uint64_t count)
{
    (void)snprintf(out, SUFFIX, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", number, count);
    return out;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

// The path of shard 1 of count, without what follows the common part of the names.
static struct status common_length(size_t *out, const char *path, uint64_t count)
{
    char suffix[SUFFIX];
    size_t length = strlen(shard_suffix(suffix, 1, count));
    size_t path_length = strlen(path);
    if (path_length <= length || strcmp(path + path_length - length, suffix) != 0) {
        return status_error(STATUS_INVALID,
                            "the first of %" PRIu64 " shards, so its name must end "
                            "in '%s' for the others to be found",
                            count, suffix);
    }
    *out = path_length - length;
    return status_ok();
}

static struct status check_shard(const struct gguf *shard, uint64_t number, uint64_t count)
{
    uint64_t found_number = UINT64_MAX;
    uint64_t found_count = 0;
    TRY(optional_uint(&found_number, shard, "split.no"));
    TRY(optional_uint(&found_count, shard, "split.count"));
    if (found_number != number - 1 || found_count != count) {
        return status_error(STATUS_INVALID,
                            "split.no and split.count: found %" PRId64 " and %" PRIu64
                            ", accepted %" PRIu64 " and %" PRIu64,
                            (int64_t)found_number, found_count, number - 1, count);
    }
    return status_ok();
}

// Copies the shard's tensors, and the text that holds their names, to the end of first's.
static struct status append(struct gguf *first, const struct gguf *shard)
{
    size_t count = first->tensor_count + shard->tensor_count;
    size_t text_bytes = first->text_bytes + shard->text_bytes;
    if (count > GGUF_TENSORS_MAX || text_bytes > GGUF_TEXT_BYTES_MAX) {
        return status_error(STATUS_INVALID, "%zu tensors in all, accepted at most %d", count,
                            GGUF_TENSORS_MAX);
    }
    char *text = realloc(first->text, text_bytes + 1);
    first->text = text != NULL ? text : first->text;
    struct gguf_tensor *tensors = reallocarray(first->tensors, count + 1, sizeof *tensors);
    first->tensors = tensors != NULL ? tensors : first->tensors;
    if (text == NULL || tensors == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu tensors", count);
    }
    if (shard->text_bytes > 0) {
        memcpy(text + first->text_bytes, shard->text, shard->text_bytes);
    }
    for (size_t i = 0; i < shard->tensor_count; i++) {
        struct gguf_tensor *tensor = &tensors[first->tensor_count + i];
        *tensor = shard->tensors[i];
        tensor->name_at += first->text_bytes;
    }
    first->tensor_count = count;
    first->text_bytes = text_bytes;
    gguf_point_names(first);
    return status_ok();
}

static struct status add_shard(struct gguf *first, const char *path, uint64_t number,
                               uint64_t count)
{
    struct gguf shard;
    struct status status = gguf_open(&shard, path);
    if (status.code != STATUS_OK) {
        return status_prefix(status, "shard %" PRIu64 " of %" PRIu64 ", '%s'", number, count,
                             last_part(path));
    }
    status = check_shard(&shard, number, count);
    if (status.code == STATUS_OK) {
        status = append(first, &shard);
    }
    gguf_close(&shard);
    return status_prefix(status, "shard '%s'", last_part(path));
}

static struct status check_tensor_count(const struct gguf *first)
{
    uint64_t expected = first->tensor_count;
    TRY(optional_uint(&expected, first, "split.tensors.count"));
    if (expected != first->tensor_count) {
        return status_error(STATUS_INVALID,
                            "key 'split.tensors.count': found %" PRIu64
                            ", but the shards hold %zu tensors",
                            expected, first->tensor_count);
    }
    return status_ok();
}

static struct status add_shards(struct gguf *first, char *path, size_t common, uint64_t count)
{
    for (uint64_t number = 2; number <= count; number++) {
        (void)shard_suffix(path + common, number, count);
        TRY(add_shard(first, path, number, count));
    }
    TRY(check_tensor_count(first));
    return gguf_sort_tensors(first->tensors, first->tensor_count);
}

struct status gguf_join_shards(struct gguf *first, const char *path)
{
    uint64_t number = 0;
    uint64_t count = 1;
    TRY(optional_uint(&number, first, "split.no"));
    TRY(optional_uint(&count, first, "split.count"));
    if (count > SHARDS_MAX || (number > 0 && number >= count)) {
        return status_error(STATUS_INVALID,
                            "split.no and split.count: found %" PRIu64 " and %" PRIu64
                            ", accepted a shard number below a count of at most %d",
                            number, count, SHARDS_MAX);
    }
    char suffix[SUFFIX];
    if (number > 0) {
        return status_error(STATUS_INVALID,
                            "shard %" PRIu64 " of %" PRIu64 ", accepted the first, "
                            "whose name ends in '%s'",
                            number + 1, count, shard_suffix(suffix, 1, count));
    }
    if (count <= 1) {
        return check_tensor_count(first);
    }
    size_t common = 0;
    TRY(common_length(&common, path, count));
    char *shard_path = malloc(common + SUFFIX);
    if (shard_path == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a path of %zu bytes", common + SUFFIX);
    }
    memcpy(shard_path, path, common);
    struct status status = add_shards(first, shard_path, common, count);
    free(shard_path);
    return status;
}
