#ifndef PROFILER_EVENTS_JSON_H
#define PROFILER_EVENTS_JSON_H

/** Event tables from a file (--events), for CPUs newer than the build. The shape is that of
 *  event_table.h; `lmroof counters --help` describes it. The file is untrusted. */

#include "profiler/event_table.h"
#include "roofline/status.h"

struct event_file;

enum { EVENT_FILE_ROWS_MAX = 512, EVENT_FILE_BYTES_MAX = 1 << 20 };

/** Reads a table. Errors: INVALID naming file, key, what was found and what is accepted. The
 *  caller frees the result. */
CHECKED struct status event_file_read(struct event_file **out, const char *path);

/** Its table, valid until event_file_free(); NULL for NULL. */
const struct event_table *event_file_table(const struct event_file *file);

/** NULL is accepted. */
void event_file_free(struct event_file *file);

#endif
