#include "profiler/exec.h"

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct exec_request request;
    bool done = false;
    exec_request_defaults(&request);
    TRY(command_parse(&done, context, attach_request_argp(), argc, argv, &request));
    if (done) {
        return status_ok();
    }
    if (request.pid == 0) {
        return status_error(STATUS_INVALID, "attach needs --pid PID: the process to watch");
    }
    return exec_attach(exit_code, &request, context);
}

const struct command command_attach = {
    .name = "attach",
    .summary = "the same for a process that runs already",
    .run = run,
};
