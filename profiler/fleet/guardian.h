#ifndef FLEET_GUARDIAN_H
#define FLEET_GUARDIAN_H

/** The process that mpirun or srun has started. They end the whole job when one of those is killed,
 *  so that it does nothing but wait for its child, which is the rank; if the rank is killed, its
 *  guardian knows of the others what the rank knew, and can take its place as keeper. */

#include "profiler/fleet/index_json.h"

#include <signal.h>
#include <sys/types.h>

struct guardian {
    pid_t rank; /**< 0 in the rank itself */
    int will;   /**< a file in memory: what the rank leaves; -1: none */
};

/** Splits the calling process, before it has threads: returns in both. The rank ends with its
 *  guardian. Errors: SYSTEM. Both close with guardian_close(). */
CHECKED struct status guardian_start(struct guardian *out);
void guardian_close(struct guardian *guardian);

/** By the rank: leaves all rows and its own number. Errors: SYSTEM. */
CHECKED struct status guardian_write_will(const struct guardian *guardian,
                                          const struct fleet_index *index, unsigned rank);

/** By the guardian: waits for the end of the rank, passing on the signal that it gets itself.
 *  Returns the number of the signal that killed the rank; 0 if it has ended with *exit_code. */
int guardian_wait(int *exit_code, const struct guardian *guardian,
                  const volatile sig_atomic_t *signal);

/** By the guardian: index->rows (the caller frees them), row_count, library, and the rank's
 *  number, as left. False if the rank had not come so far. */
bool guardian_read_will(struct fleet_index *index, unsigned *rank, const struct guardian *guardian);

#endif
