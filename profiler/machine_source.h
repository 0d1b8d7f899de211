#ifndef PROFILER_MACHINE_SOURCE_H
#define PROFILER_MACHINE_SOURCE_H

/** Machines as users name them: a profile of `probe`, a run (its machine), a data sheet in a file
 *  or a built-in one. All become a result_run; what came from a data sheet stays marked. */

#include "profiler/datasheet.h"
#include "profiler/results.h"
#include "roofline/status.h"

#include <stdio.h>

struct machine_source {
    char label[96]; /**< the file's name without folder, or the built-in name */
    bool is_datasheet;
    struct datasheet sheet; /**< if is_datasheet */
    struct result_run run;  /**< roofs, host, conditions; owned */
};

/** Loads what word names: a readable file, else a built-in name (datasheet_find()). The samples of
 *  readings are not kept. out is zeroed by the caller, who releases it in either case.
 *  Errors: INVALID, SYSTEM. */
CHECKED struct status machine_source_load(struct machine_source *out, const char *word);

/** Gives files of one name the paths that words named them by as labels (their ends, where these
 * are longer than a label). */
void machine_sources_tell_apart(struct machine_source *sources, const char *const *words,
                                size_t count);

/** INVALID if no bandwidth and no rate was measured: nothing can be said of such a machine. */
CHECKED struct status machine_source_check(const struct machine_source *source);

/** What its profile warns of: the worst and how many there are or, verbose, each, as
 *  "lmroof: warning: LABEL: CODE: TEXT". */
void machine_source_warn(FILE *err, const struct machine_source *source, bool verbose);

/** Releases what it owns. */
void machine_source_free(struct machine_source *source);

/** A fact of the host or the conditions; NULL if it was not noted. Borrowed. */
const char *machine_source_fact(const struct machine_source *source, const char *name);

#endif
