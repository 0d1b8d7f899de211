#ifndef PROFILER_COMMAND_H
#define PROFILER_COMMAND_H

/** A command of the program: one file cmd/<name>.c that defines `const struct command
 *  command_<name>`, and one word in profiler/CMakeLists.txt. */

#include "roofline/status.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>

/** How signals stood before main changed them: what a command that is started inherits. */
struct command_signals {
    struct sigaction interrupt;
    struct sigaction terminate;
    struct sigaction pipe;
    struct sigaction file_size;
    sigset_t mask;
};

/** What main gives a command: where to write, and the signal to watch. */
struct command_context {
    const char *program;                 /**< "lmroof": in messages and --help; NULL: "lmroof" */
    FILE *out;                           /**< results */
    FILE *err;                           /**< everything else */
    const volatile sig_atomic_t *signal; /**< number of the signal received, or 0 */
    const struct command_signals *inherited;
    int argc; /**< the program's own, for the document's argv */
    char **argv;
    const struct command *const *commands; /**< all, ended by NULL */
};

struct command {
    const char *name;
    const char *summary; /**< one line for `lmroof --help`; NULL: not listed */
    /** Runs with argv[0] the command's name. *exit_code is 0 on entry and is the program's status
     *  if the call succeeds; a failed status is printed by main and mapped by its code. */
    struct status (*run)(int *exit_code, const struct command_context *context, int argc,
                         char **argv);
    int failure_code; /**< exit status where results have nowhere to go; 0: the usual 1 */
};

/** Parses argv by argp into input (argp's state->input). Handles --help (printed to
 *  context->out; *done becomes true). An unknown option or bad value is INVALID and names the
 *  word. Option parsers report a bad value through command_option_error(). */
CHECKED struct status command_parse(bool *done, const struct command_context *context,
                                    const struct argp *argp, int argc, char **argv, void *input);

/** Remembers the first error of an option parser and returns what the parser must return.
 *  The input of every command's parser starts with a struct command_input. */
struct command_input {
    struct status status;
};
error_t command_option_error(struct argp_state *state, struct status status);

/** "0.1.0" */
const char *command_version(void);

#endif
