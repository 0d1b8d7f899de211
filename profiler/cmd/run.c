#include "profiler/run.h"

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct run_request request;
    struct result_run result;
    bool done = false;
    (void)exit_code;
    run_request_defaults(&request);
    TRY(command_parse(&done, context, run_request_argp(), argc, argv, &request));
    if (done) {
        return status_ok();
    }
    struct status status = run_execute(&result, &request, context);
    status = run_conclude(&result, &request, context, status);
    result_run_free(&result);
    return status;
}

const struct command command_run = {
    .name = "run",
    .summary = "measure a model's operators and place them on the roofline",
    .run = run,
};
