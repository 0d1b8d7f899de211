#ifndef PROFILER_LAUNCH_H
#define PROFILER_LAUNCH_H

/** Starting a command as env(1) does, in two steps: a child that waits, so that counters can be
 *  opened on it, and its release. */

#include "profiler/command.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go_fd;    /**< one byte releases the child; closed without one, it ends */
    int error_fd; /**< errno, if the command could not be executed */
};

struct launch_options {
    char **argv;          /**< the command, ended by NULL */
    bool output_to_error; /**< its standard output becomes ours of errors */
    /** Signals as this program found them: the command gets them like this. */
    const struct command_signals *inherited;
};

/** Forks the child. Errors: SYSTEM. */
CHECKED struct status launch_prepare(struct launch *out, const struct launch_options *options);

/** Lets the child execute its command. Returns 0, or the errno of execvp(3): the child has then
 *  ended and is not yet waited for. */
int launch_go(struct launch *launch);

/** Ends a child that was not released, and waits for it. */
void launch_abandon(struct launch *launch);

#endif
