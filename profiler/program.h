#ifndef PROFILER_PROGRAM_H
#define PROFILER_PROGRAM_H

/** What the mains of lmroof and lmroof-fleet share: from argv to the exit status. The one mutable
 *  global, what the signal handler saw, stays in each main. */

#include "profiler/command.h"

struct program {
    const char *name;                      /**< "lmroof": in messages and --help */
    const char *help_head;                 /**< of --help, up to the list of commands */
    const char *help_tail;                 /**< behind it */
    const char *default_command;           /**< without a word; NULL: --help is asked for */
    const struct command *const *commands; /**< ended by NULL */
    const volatile sig_atomic_t *signal;
    const struct command_signals *inherited; /**< from program_catch_signals() */
    bool silent; /**< results and messages go nowhere: another process speaks for this one */
};

/** Sends SIGINT and SIGTERM to handler; SIGPIPE is ignored: a closed output is a write error.
 *  *before is what was inherited, for programs that this one starts. */
void program_catch_signals(struct command_signals *before, void (*handler)(int number));

/** Runs the command that argv names, prints what failed in one line, and returns the exit status
 *  (contract: 0, 1, 2, 128 + signal, or the command's own). */
int program_run(const struct program *program, int argc, char **argv);

#endif
