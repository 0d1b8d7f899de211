#include "profiler/fleet/world.h"

#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    unsigned rank;
    unsigned size;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
};

// The library's own text goes on over several lines or names its package: up to the first comma.
static void name_library(struct world *world)
{
    int length = 0;
    (void)MPI_Get_library_version(world->library, &length);
    world->library[strcspn(world->library, ",\n")] = '\0';
}

struct status world_open(struct world **out)
{
    int rank = 0;
    int size = 0;
    int provided = 0;
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to join the other ranks");
    }
    // Errors of MPI calls end the job with the library's own message: its default.
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        free(*out);
        *out = NULL;
        return status_error(STATUS_SYSTEM, "MPI cannot be started");
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    (*out)->rank = (unsigned)rank;
    (*out)->size = (unsigned)size;
    name_library(*out);
    return status_ok();
}

void world_close(struct world *world)
{
    if (world != NULL) {
        (void)MPI_Finalize();
        free(world);
    }
}

void world_abort(struct world *world, int exit_code)
{
    (void)world;
    (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
    _Exit(exit_code);
}

unsigned world_rank(const struct world *world)
{
    return world->rank;
}

unsigned world_size(const struct world *world)
{
    return world->size;
}

const char *world_library(const struct world *world)
{
    return world->library;
}

void world_gather(struct world *world, void *out, const void *mine, size_t bytes)
{
    (void)world;
    assert(bytes <= INT_MAX);
    (void)MPI_Allgather(mine, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

void world_barrier(struct world *world)
{
    (void)world;
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

void world_sum(struct world *world, float *buffer, size_t count)
{
    (void)world;
    assert(count <= INT_MAX);
    (void)MPI_Allreduce(MPI_IN_PLACE, buffer, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

double world_max(struct world *world, double value)
{
    double most = value;
    (void)world;
    (void)MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void world_ping(struct world *world, unsigned from, unsigned to, unsigned char *buffer,
                size_t bytes, unsigned long repeats)
{
    enum { TAG = 1 };
    assert(bytes <= INT_MAX && from != to);
    int peer = (int)(world->rank == from ? to : from);
    for (unsigned long i = 0; i < repeats; i++) {
        if (world->rank == from) {
            (void)MPI_Send(buffer, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        }
        if (world->rank == from || world->rank == to) {
            (void)MPI_Recv(buffer, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
        }
        if (world->rank == to) {
            (void)MPI_Send(buffer, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        }
    }
}

struct status world_agree(struct world *world, struct status status)
{
    int failed = status.code == STATUS_OK ? 0 : 1;
    int count = 0;
    int first = status.code == STATUS_OK ? INT_MAX : (int)world->rank;
    (void)MPI_Allreduce(&failed, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (count == 0) {
        return status;
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    (void)MPI_Bcast(&status, (int)sizeof status, MPI_BYTE, first, MPI_COMM_WORLD);
    return count == (int)world->size ? status : status_prefix(status, "rank %d", first);
}
