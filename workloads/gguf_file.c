#include "workloads/gguf_file.h"

#include "workloads/gguf_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT_DEFAULT = 32, ALIGNMENT_MIN = 8 };

bool gguf_has_magic(const unsigned char head[4])
{
    return memcmp(head, "GGUF", 4) == 0;
}

void *gguf_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    void *moved = reallocarray(array, wanted, size);
    if (moved != NULL) {
        *capacity = wanted;
    }
    return moved;
}

static struct status grow_text(struct gguf *gguf, size_t *capacity, size_t bytes)
{
    size_t needed = gguf->text_bytes + bytes;
    if (needed > GGUF_TEXT_BYTES_MAX) {
        return status_error(STATUS_INVALID, "keys and names hold more than %d bytes",
                            GGUF_TEXT_BYTES_MAX);
    }
    if (needed > *capacity) {
        size_t wanted = 2 * needed;
        char *moved = realloc(gguf->text, wanted);
        if (moved == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for %zu bytes of names", wanted);
        }
        gguf->text = moved;
        *capacity = wanted;
    }
    return status_ok();
}

static bool is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c > 0x7e) {
            return false;
        }
    }
    return true;
}

struct status gguf_read_name(size_t *at, struct gguf *gguf, size_t *capacity, size_t max,
                             const char *what)
{
    uint64_t length = 0;
    if (!gguf_take_uint(&gguf->source, &length, 8)) {
        return gguf_source_error(&gguf->source, what);
    }
    if (length == 0 || length > max) {
        return status_error(STATUS_INVALID, "%s has %" PRIu64 " bytes, accepted 1 to %zu", what,
                            length, max);
    }
    TRY(grow_text(gguf, capacity, (size_t)length + 1));
    char *text = gguf->text + gguf->text_bytes;
    if (!gguf_take(&gguf->source, text, (size_t)length)) {
        return gguf_source_error(&gguf->source, what);
    }
    text[length] = '\0';
    if (!is_printable(text, (size_t)length)) {
        char shown[GGUF_SHOWN];
        return status_error(STATUS_INVALID, "%s '%s' holds bytes that are not printable ASCII",
                            what, gguf_printable(shown, sizeof shown, text, (size_t)length));
    }
    *at = gguf->text_bytes;
    gguf->text_bytes += (size_t)length + 1;
    return status_ok();
}

static struct status read_version(struct gguf *gguf)
{
    struct gguf_source *source = &gguf->source;
    unsigned char magic[4];
    uint64_t version = 0;
    if (!gguf_take(source, magic, sizeof magic) || !gguf_take_uint(source, &version, 4)) {
        return gguf_source_error(source, "the header");
    }
    if (!gguf_has_magic(magic)) {
        return status_error(STATUS_INVALID,
                            "not a GGUF file: starts with %02x %02x %02x %02x, "
                            "accepted 47 47 55 46",
                            magic[0], magic[1], magic[2], magic[3]);
    }
    if ((version & 0xffff) == 0 && version != 0) {
        source->big_endian = true;
        uint32_t swapped = __builtin_bswap32((uint32_t)version);
        version = swapped;
    }
    if (version != 2 && version != 3) {
        return status_error(STATUS_INVALID, "GGUF version %" PRIu64 ", accepted 2 and 3", version);
    }
    gguf->version = (unsigned)version;
    return status_ok();
}

static struct status read_alignment(struct gguf *gguf)
{
    gguf->alignment = ALIGNMENT_DEFAULT;
    const struct gguf_value *value = gguf_find_value(gguf, "general.alignment");
    if (value == NULL) {
        return status_ok();
    }
    TRY(gguf_value_uint(&gguf->alignment, value));
    uint64_t alignment = gguf->alignment;
    if (alignment < ALIGNMENT_MIN || alignment > UINT32_MAX || (alignment & (alignment - 1)) != 0) {
        return status_error(STATUS_INVALID,
                            "key 'general.alignment': found %" PRIu64
                            ", accepted a power of two from %d",
                            alignment, ALIGNMENT_MIN);
    }
    return status_ok();
}

static struct status read_header(struct gguf *gguf)
{
    TRY(read_version(gguf));
    uint64_t tensors = 0;
    uint64_t values = 0;
    if (!gguf_take_uint(&gguf->source, &tensors, 8) || !gguf_take_uint(&gguf->source, &values, 8)) {
        return gguf_source_error(&gguf->source, "the header");
    }
    size_t text_capacity = 0;
    TRY(gguf_read_values(gguf, &text_capacity, values));
    TRY(read_alignment(gguf));
    TRY(gguf_read_tensors(gguf, &text_capacity, tensors));
    TRY(gguf_check_layout(gguf));
    return gguf_sort_tensors(gguf->tensors, gguf->tensor_count);
}

static struct status read_or_close(struct gguf *gguf)
{
    struct status status = read_header(gguf);
    if (status.code != STATUS_OK) {
        gguf_close(gguf);
    }
    return status;
}

struct status gguf_open(struct gguf *out, const char *path)
{
    memset(out, 0, sizeof *out);
    TRY(gguf_source_open(&out->source, path));
    return read_or_close(out);
}

struct status gguf_open_memory(struct gguf *out, const unsigned char *data, size_t bytes)
{
    memset(out, 0, sizeof *out);
    gguf_source_memory(&out->source, data, bytes);
    return read_or_close(out);
}

void gguf_close(struct gguf *gguf)
{
    gguf_source_close(&gguf->source);
    free(gguf->values);
    free(gguf->tensors);
    free(gguf->text);
    memset(gguf, 0, sizeof *gguf);
}
