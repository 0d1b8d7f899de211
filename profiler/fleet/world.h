#ifndef FLEET_WORLD_H
#define FLEET_WORLD_H

/** The processes that mpirun or srun started together, by rank. The one face of MPI: mpi.h is
 *  included in world_mpi.c alone. All functions but world_rank(), world_size() and
 *  world_library() are called by all ranks (world_ping() by all, two of which do something), by
 *  the thread that opened the world. A rank that died hangs them: callers that must survive it
 *  close the world first. */

#include "roofline/status.h"

#include <stddef.h>

struct world;

/** Joins. Errors: SYSTEM. The caller closes with world_close(). */
CHECKED struct status world_open(struct world **out);

/** Leaves; waits for the others to do so. NULL is accepted. */
void world_close(struct world *world);

/** Leaves without the others, which mpirun then ends too. */
_Noreturn void world_abort(struct world *world, int exit_code);

unsigned world_rank(const struct world *world);
unsigned world_size(const struct world *world);

/** Name and version of the library, one line, for documents. Borrowed from world. */
const char *world_library(const struct world *world);

/** out[size][bytes] = everyone's mine[bytes], by rank. */
void world_gather(struct world *world, void *out, const void *mine, size_t bytes);

void world_barrier(struct world *world);

/** buffer[i] = the sum of all ranks' buffer[i], i < count, in all ranks: the all-reduce of tensor
 *  parallelism, as the library does it. */
void world_sum(struct world *world, float *buffer, size_t count);

/** The largest of all ranks' values. */
double world_max(struct world *world, double value);

/** repeats times: rank `from` sends bytes to rank `to`, which sends them back. The others return
 *  at once. */
void world_ping(struct world *world, unsigned from, unsigned to, unsigned char *buffer,
                size_t bytes, unsigned long repeats);

/** Success if it is everyone's; else, in all ranks, the failure of the lowest rank that has one,
 *  with "rank N: " in front unless all have failed alike. */
CHECKED struct status world_agree(struct world *world, struct status status);

#endif
