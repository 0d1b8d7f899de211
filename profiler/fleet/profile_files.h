#ifndef FLEET_PROFILE_FILES_H
#define FLEET_PROFILE_FILES_H

/** Which files make up a fleet, and whose they are: from indices, folders and file names. */

#include "profiler/fleet/index_json.h"

/** A profile, or a unit that has none. */
struct profile_entry {
    char host[FLEET_HOST];
    char cpus[FLEET_CPUS];
    char *path; /**< owned; NULL: no profile */
    char problem[FLEET_PROBLEM];
};

struct profile_entries {
    struct profile_entry *list; /**< owned */
    size_t count;
};

/** Adds what paths name, sorted by host, cpus, path. Errors: INVALID, SYSTEM. */
CHECKED struct status profile_entries_find(struct profile_entries *out, char *const *paths,
                                           size_t count);

void profile_entries_free(struct profile_entries *entries);

/** True if both are of one unit. */
bool profile_entries_match(const struct profile_entry *a, const struct profile_entry *b);

#endif
