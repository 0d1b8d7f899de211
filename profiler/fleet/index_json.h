#ifndef FLEET_INDEX_JSON_H
#define FLEET_INDEX_JSON_H

/** The index of a fleet's folder: which rank measured what, and what became of it
 *  (lmroof.fleet/1, DIR/index.json). */

#include "profiler/command.h"
#include "profiler/fleet/note.h"
#include "profiler/fleet/units.h"

#include <stddef.h>

enum { FLEET_STEM = 160, FLEET_CPUS = 96 };

struct fleet_row {
    unsigned rank;
    char host[FLEET_HOST];
    char cpus[FLEET_CPUS]; /**< "0-1", cut to the field */
    unsigned cpu_count;
    char stem[FLEET_STEM]; /**< of the profiles' names in the folder; "" if it has no unit */
    struct fleet_note note;
};

struct fleet_index {
    const char *folder;
    enum fleet_unit unit;
    bool solo;
    unsigned repeat;
    bool complete;    /**< no rank is still at work */
    char library[96]; /**< of MPI */
    struct fleet_row *rows;
    size_t row_count;
};

/** Writes DIR/index.json atomically and, if to_stdout, to the context's output. The profiles that
 *  are in the folder by now are listed. Errors: as document_write(). */
CHECKED struct status fleet_index_write(const struct fleet_index *index,
                                        const struct command_context *context, bool to_stdout);

/** A profile of a row. */
struct fleet_file {
    size_t row;
    char *path; /**< owned */
};
struct fleet_files {
    struct fleet_file *list; /**< owned */
    size_t count;
};

/** Reads DIR/index.json into a zeroed index, whose rows the caller frees in either case, and the
 *  paths of the profiles that it lists into zeroed files. Errors: INVALID, naming what is wrong;
 *  SYSTEM. */
CHECKED struct status fleet_index_read(struct fleet_index *out, struct fleet_files *files,
                                       const char *folder);

void fleet_files_free(struct fleet_files *files);

#endif
