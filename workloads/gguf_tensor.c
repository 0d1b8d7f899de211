#include "workloads/gguf_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The shortest tensor info: name of one byte (9), count (4), one dimension (8), type (4), offset.
enum { INFO_BYTES_MIN = 33 };

static struct status read_error(const struct gguf *gguf, const char *name)
{
    char what[GGUF_SHOWN + 16];
    (void)snprintf(what, sizeof what, "tensor '%s'", name);
    return gguf_source_error(&gguf->source, what);
}

static struct status read_dimensions(struct gguf *gguf, struct gguf_tensor *tensor,
                                     const char *name)
{
    uint64_t dimensions = 0;
    if (!gguf_take_uint(&gguf->source, &dimensions, 4)) {
        return read_error(gguf, name);
    }
    if (dimensions == 0 || dimensions > GGUF_DIMS_MAX) {
        return status_error(STATUS_INVALID, "tensor '%s': %" PRIu64 " dimensions, accepted 1 to %d",
                            name, dimensions, GGUF_DIMS_MAX);
    }
    tensor->dimensions = (unsigned)dimensions;
    tensor->elements = 1;
    for (unsigned i = 0; i < GGUF_DIMS_MAX; i++) {
        tensor->dims[i] = 1;
        if (i < dimensions && !gguf_take_uint(&gguf->source, &tensor->dims[i], 8)) {
            return read_error(gguf, name);
        }
        if (tensor->dims[i] == 0) {
            return status_error(STATUS_INVALID,
                                "tensor '%s': dimension %u is 0, accepted 1 or more", name, i + 1);
        }
        if (tensor->dims[i] > INT64_MAX / tensor->elements) {
            return status_error(STATUS_INVALID,
                                "tensor '%s': dimension %u is %" PRIu64
                                ", the product of the dimensions exceeds 64 bits",
                                name, i + 1, tensor->dims[i]);
        }
        tensor->elements *= tensor->dims[i];
    }
    return status_ok();
}

static struct status size_tensor(struct gguf_tensor *tensor, uint64_t type, const char *name)
{
    tensor->dtype = dtype_from_ggml(type);
    if (tensor->dtype == DTYPE_NONE) {
        return status_error(STATUS_INVALID,
                            "tensor '%s': type id %" PRIu64 " is unknown or no longer in use", name,
                            type);
    }
    const struct dtype *dtype = dtype_get(tensor->dtype);
    if (tensor->dims[0] % dtype->block_elements != 0) {
        return status_error(STATUS_INVALID,
                            "tensor '%s': rows of %" PRIu64 " elements in %s, "
                            "accepted a multiple of %u",
                            name, tensor->dims[0], dtype->name, dtype->block_elements);
    }
    uint64_t blocks = tensor->elements / dtype->block_elements;
    if (blocks > INT64_MAX / dtype->block_bytes) {
        return status_error(STATUS_INVALID, "tensor '%s': its size in bytes exceeds 64 bits", name);
    }
    tensor->bytes = blocks * dtype->block_bytes;
    return status_ok();
}

static struct status read_tensor(struct gguf *gguf, struct gguf_tensor *tensor,
                                 size_t *text_capacity, size_t number)
{
    char what[48];
    (void)snprintf(what, sizeof what, "the name of tensor %zu", number);
    TRY(gguf_read_name(&tensor->name_at, gguf, text_capacity, GGUF_TENSOR_NAME_MAX, what));
    const char *name = gguf->text + tensor->name_at;
    TRY(read_dimensions(gguf, tensor, name));
    uint64_t type = 0;
    if (!gguf_take_uint(&gguf->source, &type, 4) ||
        !gguf_take_uint(&gguf->source, &tensor->offset, 8)) {
        return read_error(gguf, name);
    }
    return size_tensor(tensor, type, name);
}

struct status gguf_read_tensors(struct gguf *gguf, size_t *text_capacity, uint64_t count)
{
    uint64_t left = gguf_source_left(&gguf->source);
    if (count > GGUF_TENSORS_MAX || count > left / INFO_BYTES_MIN) {
        return status_error(STATUS_INVALID,
                            "tensor_count is %" PRIu64 ", accepted at most %d and "
                            "what fits into the %" PRIu64 " bytes that follow",
                            count, GGUF_TENSORS_MAX, left);
    }
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        struct gguf_tensor *tensors = gguf_grow(gguf->tensors, &capacity, i, sizeof *tensors);
        if (tensors == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for %zu tensors", i);
        }
        gguf->tensors = tensors;
        memset(&tensors[i], 0, sizeof *tensors);
        TRY(read_tensor(gguf, &tensors[i], text_capacity, i + 1));
        gguf->tensor_count = i + 1;
    }
    gguf_point_names(gguf);
    return status_ok();
}

void gguf_point_names(struct gguf *gguf)
{
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        gguf->tensors[i].name = gguf->text + gguf->tensors[i].name_at;
    }
    for (size_t i = 0; i < gguf->value_count; i++) {
        gguf->values[i].key = gguf->text + gguf->values[i].key_at;
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct gguf_tensor *first = a;
    const struct gguf_tensor *second = b;
    return strcmp(first->name, second->name);
}

struct status gguf_sort_tensors(struct gguf_tensor *tensors, size_t count)
{
    if (count > 1) {
        qsort(tensors, count, sizeof *tensors, compare_names);
    }
    for (size_t i = 1; i < count; i++) {
        if (strcmp(tensors[i - 1].name, tensors[i].name) == 0) {
            return status_error(STATUS_INVALID, "tensor '%s' occurs twice", tensors[i].name);
        }
    }
    return status_ok();
}

// Zeros up to the data section, as far as the file goes: what is not zero there are tensor infos
// beyond a tensor_count that is too small, an untied output.weight perhaps.
static struct status check_padding(struct gguf *gguf)
{
    uint64_t at = gguf->source.at;
    uint64_t left = gguf_source_left(&gguf->source);
    uint64_t padding = (gguf->alignment - at % gguf->alignment) % gguf->alignment;
    for (uint64_t i = 0; i < padding && i < left; i++) {
        uint64_t byte = 0;
        if (!gguf_take_uint(&gguf->source, &byte, 1)) {
            return gguf_source_error(&gguf->source, "the padding before the data");
        }
        if (byte != 0) {
            return status_error(STATUS_INVALID,
                                "byte %" PRIu64 ", after %zu tensor infos: found 0x%02x, accepted "
                                "zeros up to the data; is tensor_count too small?",
                                at + i, gguf->tensor_count, (unsigned)byte);
        }
    }
    return status_ok();
}

struct status gguf_check_layout(struct gguf *gguf)
{
    uint64_t end = 0;
    TRY(check_padding(gguf));
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        const struct gguf_tensor *tensor = &gguf->tensors[i];
        if (tensor->offset % gguf->alignment != 0) {
            return status_error(STATUS_INVALID,
                                "tensor '%s': offset %" PRIu64 ", accepted a "
                                "multiple of %" PRIu64,
                                tensor->name, tensor->offset, gguf->alignment);
        }
        if (tensor->offset != end) {
            return status_error(STATUS_INVALID,
                                "tensor '%s': offset %" PRIu64 ", accepted %" PRIu64
                                ", where the tensor before it ends",
                                tensor->name, tensor->offset, end);
        }
        uint64_t padded = (tensor->bytes + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
        if (padded > INT64_MAX - end) {
            return status_error(STATUS_INVALID, "tensor '%s': the data section exceeds 64 bits",
                                tensor->name);
        }
        end += padded;
    }
    return status_ok();
}

const struct gguf_tensor *gguf_find_tensor(const struct gguf *gguf, const char *name)
{
    if (gguf->tensor_count == 0) {
        return NULL;
    }
    struct gguf_tensor wanted = {.name = name};
    return bsearch(&wanted, gguf->tensors, gguf->tensor_count, sizeof wanted, compare_names);
}
