#ifndef PROFILER_EXEC_H
#define PROFILER_EXEC_H

/** `exec` and `attach`: watch a foreign program from outside, then say what it did and where its
 *  decode stands. */

#include "profiler/command.h"
#include "profiler/exec_request.h"
#include "profiler/exec_result.h"

enum { EXEC_FAILED = 125, EXEC_NOT_RUN = 126, EXEC_NOT_FOUND = 127 };

/** Runs and watches request->command. *exit_code becomes the command's as env(1) would give it,
 *  also where the call fails after the command has ended. Errors: what is wrong with the request
 *  or this machine; then, before the command ran, *exit_code is 0. */
CHECKED struct status exec_command(int *exit_code, const struct exec_request *request,
                                   const struct command_context *context);

/** Watches request->pid. Errors: INVALID if it is not there; INTERRUPTED after results were
 *  given, if a signal ended the watch. */
CHECKED struct status exec_attach(int *exit_code, const struct exec_request *request,
                                  const struct command_context *context);

/** The summary, for people. */
void exec_print(FILE *out, const struct exec_result *result);

/** The document lmroof.exec/1, to path (NULL: none) and/or standard output. */
CHECKED struct status exec_write_json(const struct exec_result *result,
                                      const struct command_context *context, const char *path,
                                      bool to_stdout);

#endif
