#ifndef PROFILER_RESULT_BUILD_H
#define PROFILER_RESULT_BUILD_H

/** Growing the lists of a result_run while it is measured. */

#include "profiler/results.h"
#include "roofline/status.h"

#include <stddef.h>

/** Makes room for one more element of element_bytes, zeroed, in the owned list at *list and counts
 *  it; NULL if memory is short, the list unchanged. */
void *result_append(void *list_pointer, size_t *count, size_t element_bytes);

/** Adds a warning; text is formatted as by printf and cut to its field, try_ may be NULL. The same
 *  code with the same text is added once. */
void result_warn(struct result_run *run, const char *code, const char *try_, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/** Adds a fact to a list (run->host or run->conditions); format as by printf. Empty text is left
 *  out: an unknown fact is absent. */
void result_fact(struct result_fact **list, size_t *count, const char *name, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

#endif
