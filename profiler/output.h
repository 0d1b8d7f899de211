#ifndef PROFILER_OUTPUT_H
#define PROFILER_OUTPUT_H

/** Files that are always whole: written to a temporary beside the target, synced, renamed. */

#include "roofline/status.h"

#include <stddef.h>

/** Tells early whether path can be written, by making a file beside it. Errors: INVALID if its
 *  folder is missing, it names a folder, or a pipe or socket that another program would have to
 *  open; SYSTEM if nothing can be written there. */
CHECKED struct status output_check(const char *path);

/** Replaces the file at path by bytes[0..size) atomically; on failure the old file stays and the
 *  temporary is removed. Errors: as output_check(), SYSTEM if the disk is full. */
CHECKED struct status output_replace(const char *path, const char *bytes, size_t size);

/** Why an input could not be opened (errno): INVALID, or INTERRUPTED if a signal ended the wait for
 *  the other end of a pipe. */
CHECKED struct status input_unopened(const char *path, int error);

/** Refuses arguments that name one file as input and as output (-o, --output): the results would
 *  replace what they are made from. Files are compared, not names; what follows a plain "--" is a
 *  command's. Errors: INVALID, naming both. */
CHECKED struct status output_spares_inputs(int argc, char **argv);

#endif
