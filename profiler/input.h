#ifndef PROFILER_INPUT_H
#define PROFILER_INPUT_H

/** Files that users bring, read whole and never without bound. */

#include "roofline/status.h"

#include <stddef.h>
#include <stdio.h>

/** All of an open file into *text, with a zero byte behind its *size bytes; owned by the caller,
 *  after errors too (NULL or what was read). Errors: INVALID for more than `most` bytes and for
 * what cannot be read; SYSTEM without memory. name names it in messages. */
CHECKED struct status input_read_stream(char **text, size_t *size, FILE *file, size_t most,
                                        const char *name);

/** The same for a path. Errors: also as input_unopened(). */
CHECKED struct status input_read(char **text, size_t *size, const char *path, size_t most);

#endif
