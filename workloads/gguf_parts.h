#ifndef WORKLOADS_GGUF_PARTS_H
#define WORKLOADS_GGUF_PARTS_H

/** Between the files that read a GGUF header: gguf_file.c, gguf_value.c, gguf_tensor.c. */

#include "workloads/gguf_file.h"

/** array with room for one more than count elements of size bytes: as it is, or moved and twice as
 *  large. *capacity is in elements. NULL if memory is short: array is then still the caller's. */
void *gguf_grow(void *array, size_t *capacity, size_t count, size_t size);

/** Reads a string of 1 to max printable ASCII bytes and appends it, ended by a zero, to
 *  gguf->text; *at is where. what says whose name it is. */
CHECKED struct status gguf_read_name(size_t *at, struct gguf *gguf, size_t *capacity, size_t max,
                                     const char *what);

/** Reads count metadata pairs and sorts them by key; duplicate keys are refused. */
CHECKED struct status gguf_read_values(struct gguf *gguf, size_t *text_capacity, uint64_t count);

/** Reads count tensor infos in file order. */
CHECKED struct status gguf_read_tensors(struct gguf *gguf, size_t *text_capacity, uint64_t count);

/** Points all keys and names into gguf->text, after it has moved. */
void gguf_point_names(struct gguf *gguf);

/** Sorts the tensors by name and refuses duplicates. */
CHECKED struct status gguf_sort_tensors(struct gguf_tensor *tensors, size_t count);

/** Called where the tensor infos end. Refuses other bytes than zeros before the data section, and
 *  tensors, still in file order, that are not aligned or do not lie back to back from the
 *  start of the data section: ggml's reader does, so no file that is in use looks otherwise, and
 *  an offset outside the data is found even where the data is not there. */
CHECKED struct status gguf_check_layout(struct gguf *gguf);

#endif
