#include "workloads/gguf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct status check_regular(uint64_t *bytes, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return status_error(STATUS_SYSTEM, "cannot stat: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return status_error(STATUS_INVALID, "not a regular file");
    }
    *bytes = (uint64_t)info.st_size;
    return status_ok();
}

struct status gguf_source_open(struct gguf_source *out, const char *path)
{
    memset(out, 0, sizeof *out);
    // Without O_NONBLOCK a pipe of that name would hold us here for ever.
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (out->fd < 0) {
        return status_error(STATUS_INVALID, "cannot open: %s", strerror(errno));
    }
    out->owns_fd = true;
    struct status status = check_regular(&out->bytes, out->fd);
    if (status.code == STATUS_OK) {
        out->buffer = malloc(GGUF_WINDOW_BYTES);
        if (out->buffer == NULL) {
            status = status_error(STATUS_SYSTEM, "no memory for %d bytes", GGUF_WINDOW_BYTES);
        }
    }
    out->data = out->buffer;
    if (status.code != STATUS_OK) {
        gguf_source_close(out);
    }
    return status;
}

void gguf_source_memory(struct gguf_source *out, const unsigned char *data, size_t bytes)
{
    memset(out, 0, sizeof *out);
    out->data = data;
    out->window_bytes = bytes;
    out->bytes = bytes;
}

void gguf_source_close(struct gguf_source *source)
{
    free(source->buffer);
    if (source->owns_fd) {
        (void)close(source->fd);
    }
    memset(source, 0, sizeof *source);
}

static uint64_t readable_end(const struct gguf_source *source)
{
    return source->bytes < GGUF_HEADER_BYTES_MAX ? source->bytes : GGUF_HEADER_BYTES_MAX;
}

uint64_t gguf_source_left(const struct gguf_source *source)
{
    uint64_t end = readable_end(source);
    return source->at < end ? end - source->at : 0;
}

static bool fail(struct gguf_source *source, enum gguf_fault fault)
{
    source->fault = fault;
    return false;
}

static bool fits(struct gguf_source *source, uint64_t bytes)
{
    if (bytes <= gguf_source_left(source)) {
        return true;
    }
    bool in_file = source->at <= source->bytes && bytes <= source->bytes - source->at;
    return fail(source, in_file ? GGUF_FAULT_LONG : GGUF_FAULT_END);
}

// Puts the window where the next byte is.
static bool load_window(struct gguf_source *source)
{
    if (source->buffer == NULL) {
        return fail(source, GGUF_FAULT_END);
    }
    ssize_t got = 0;
    do {
        got = pread(source->fd, source->buffer, GGUF_WINDOW_BYTES, (off_t)source->at);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        source->error_number = errno;
        return fail(source, GGUF_FAULT_SYSTEM);
    }
    if (got == 0) {
        return fail(source, GGUF_FAULT_SHRANK);
    }
    source->window_start = source->at;
    source->window_bytes = (size_t)got;
    return true;
}

bool gguf_take(struct gguf_source *source, void *out, size_t bytes)
{
    if (!fits(source, bytes)) {
        return false;
    }
    unsigned char *to = out;
    while (bytes > 0) {
        bool inside = source->at >= source->window_start &&
                      source->at - source->window_start < source->window_bytes;
        if (!inside && !load_window(source)) {
            return false;
        }
        size_t from = (size_t)(source->at - source->window_start);
        size_t n = source->window_bytes - from;
        n = n < bytes ? n : bytes;
        memcpy(to, source->data + from, n);
        to += n;
        bytes -= n;
        source->at += n;
    }
    return true;
}

bool gguf_skip(struct gguf_source *source, uint64_t bytes)
{
    if (!fits(source, bytes)) {
        return false;
    }
    source->at += bytes;
    return true;
}

bool gguf_take_uint(struct gguf_source *source, uint64_t *out, size_t width)
{
    unsigned char bytes[8];
    if (!gguf_take(source, bytes, width)) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) {
        size_t place = source->big_endian ? width - 1 - i : i;
        value |= (uint64_t)bytes[i] << (8 * place);
    }
    *out = value;
    return true;
}

struct status gguf_source_error(const struct gguf_source *source, const char *what)
{
    switch (source->fault) {
    case GGUF_FAULT_LONG:
        return status_error(STATUS_INVALID, "%s goes beyond byte %d; longer headers are refused",
                            what, GGUF_HEADER_BYTES_MAX);
    case GGUF_FAULT_SHRANK:
        return status_error(STATUS_INVALID, "the file became shorter while it was read, in %s",
                            what);
    case GGUF_FAULT_SYSTEM:
        return status_error(STATUS_SYSTEM, "cannot read %s: %s", what,
                            strerror(source->error_number));
    case GGUF_FAULT_NONE:
    case GGUF_FAULT_END:
        break;
    }
    return status_error(STATUS_INVALID,
                        "truncated: %s at byte %" PRIu64 " does not fit into the %" PRIu64
                        " bytes of the file",
                        what, source->at, source->bytes);
}
