#ifndef FLEET_WORKER_H
#define FLEET_WORKER_H

/** The process that measures for a rank: a child made before MPI starts, so that it holds nothing
 *  of MPI. If it dies or hangs, the rank lives on and says so, and no launcher ends the job. */

#include "machines/machine.h"
#include "profiler/command.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/** What a worker is to do: `lmroof probe` so often, into these files. */
struct worker_task {
    char stem[PATH_MAX]; /**< of the files: see worker_file() */
    unsigned repeat;
    size_t cpu_count;
    unsigned cpus[MACHINE_CPUS_MAX]; /**< to run on */
};

/** What it says after each repeat. */
struct worker_answer {
    unsigned repeat; /**< 0, 1, ... */
    int exit_code;
    struct status status;
};

struct worker {
    pid_t pid; /**< 0: none */
    int tasks;
    int answers;
};

enum { WORKER_ARGUMENTS = 16 };

/** Options of lmroof probe, less the output; ended by NULL. Words are borrowed. */
struct worker_options {
    const struct command_context *context;
    char *arguments[WORKER_ARGUMENTS];
};

/** File of a repeat: "STEM.json", or "STEM.r2.json" where there are several. Returns out. */
char *worker_file(char out[PATH_MAX], const char *stem, unsigned repeat, unsigned repeats);

/** Lets the calling thread, and what it starts, run on these cpus only. Errors: UNAVAILABLE,
 *  SYSTEM. */
CHECKED struct status worker_bind(const unsigned *cpus, size_t count);

/** Starts the child, which waits for its task. Errors: SYSTEM. */
CHECKED struct status worker_start(struct worker *out, const struct worker_options *options);

/** Hands over the task. Errors: SYSTEM if the child is gone. */
CHECKED struct status worker_give(struct worker *worker, const struct worker_task *task);

/** Takes an answer if there is one. Does not wait. */
bool worker_hear(struct worker_answer *out, struct worker *worker);

/** True if the child has ended; *problem (FLEET_PROBLEM bytes or more) says how if it was by a
 *  signal, else it is "". */
bool worker_ended(struct worker *worker, char *problem, size_t bytes);

/** Sends a signal to the child, if there is one. */
void worker_signal(const struct worker *worker, int number);

/** Ends the child at once if it still runs, and closes the pipes. */
void worker_close(struct worker *worker);

#endif
