#include "profiler/exec.h"

// Like env(1): what goes wrong here must not look like the command's own status.
static struct status fail(int *exit_code, const struct command_context *context,
                          struct status status)
{
    if (*exit_code == 0) {
        *exit_code = EXEC_FAILED;
    }
    (void)fprintf(context->err, "lmroof: exec: %s\n", status.detail);
    return status_ok();
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct exec_request request;
    bool done = false;
    exec_request_defaults(&request);
    struct status status = command_parse(&done, context, exec_request_argp(), argc, argv, &request);
    if (status_is_ok(status) && done) {
        return status;
    }
    if (status_is_ok(status) && request.command == NULL) {
        status = status_error(STATUS_INVALID, "no command; accepted: lmroof exec [OPTION...] -- "
                                              "COMMAND...");
    }
    if (status_is_ok(status)) {
        status = exec_command(exit_code, &request, context);
    }
    return status_is_ok(status) ? status : fail(exit_code, context, status);
}

const struct command command_exec = {
    .name = "exec",
    .summary = "run a command and see what it used, and where its decode stands",
    .run = run,
    .failure_code = EXEC_FAILED,
};
