#ifndef WORKLOADS_GGUF_SOURCE_H
#define WORKLOADS_GGUF_SOURCE_H

/** Bytes of one GGUF file in order, bounds-checked, in the file's byte order. Knows nothing of
 *  what the bytes mean.
 *
 *  Read with pread() through one window of fixed size rather than mapped: a file that another
 *  process truncates, or a disk that fails, is then an error and not a SIGBUS, and only the pages
 *  of the header are touched, whatever the size of the model. Readers return false and leave the
 *  reason in the source; gguf_source_error() turns it into a status once, where the caller knows
 *  what was being read. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GGUF_WINDOW_BYTES = 1 << 16,
    GGUF_HEADER_BYTES_MAX = 1 << 27 /**< a tokenizer of 260,000 entries, kept twice, takes 50 MB */
};

enum gguf_fault {
    GGUF_FAULT_NONE,
    GGUF_FAULT_END,    /**< the file ends before what was asked for */
    GGUF_FAULT_LONG,   /**< the header goes on beyond GGUF_HEADER_BYTES_MAX */
    GGUF_FAULT_SHRANK, /**< the file became shorter while it was read */
    GGUF_FAULT_SYSTEM  /**< read error; see error_number */
};

struct gguf_source {
    int fd;
    bool owns_fd;              /**< false if the bytes are in memory */
    unsigned char *buffer;     /**< owned window; NULL if the bytes are in memory */
    const unsigned char *data; /**< window_bytes bytes of the file, from window_start */
    uint64_t window_start;
    size_t window_bytes;
    uint64_t bytes; /**< of the file, when it was opened */
    uint64_t at;    /**< next byte to be read */
    bool big_endian;
    enum gguf_fault fault;
    int error_number;
};

/** Opens a regular file. Errors: INVALID if it cannot be opened or is not a regular file; SYSTEM
 *  if memory is short. The caller closes it. */
CHECKED struct status gguf_source_open(struct gguf_source *out, const char *path);

/** The same over bytes that the caller keeps alive. */
void gguf_source_memory(struct gguf_source *out, const unsigned char *data, size_t bytes);

/** Releases what the source holds and zeroes it; a zeroed source is accepted. */
void gguf_source_close(struct gguf_source *source);

/** Bytes from the current position to the end of what may be read. */
uint64_t gguf_source_left(const struct gguf_source *source);

/** Copies the next bytes bytes to out and moves on. */
bool gguf_take(struct gguf_source *source, void *out, size_t bytes);

/** Moves on by bytes without reading. */
bool gguf_skip(struct gguf_source *source, uint64_t bytes);

/** Next unsigned integer of width 1, 2, 4 or 8 bytes, zero-extended. */
bool gguf_take_uint(struct gguf_source *source, uint64_t *out, size_t width);

/** The failure of the last reader, in words: INVALID unless the disk failed (SYSTEM).
 *  what names the thing that was being read. */
CHECKED struct status gguf_source_error(const struct gguf_source *source, const char *what);

#endif
