#ifndef PROFILER_EXEC_REQUEST_H
#define PROFILER_EXEC_REQUEST_H

/** What `exec` and `attach` are asked for. */

#include "profiler/command.h"
#include "profiler/counters.h"
#include "roofline/dtype.h"

#include <stdbool.h>
#include <stdint.h>

struct exec_request {
    struct command_input input; /**< of the option parser: stays first */
    const char *model;          /**< NULL: nothing is placed */
    uint64_t tokens;            /**< decoded in the window; 0: not told */
    uint64_t batch;
    uint64_t context; /**< cached before the first of them */
    enum dtype_id dtype;
    enum dtype_id kv_dtype;
    double interval_seconds;
    bool has_window;
    double window_begin; /**< seconds */
    double window_end;   /**< INFINITY: to the end */
    const char *machine; /**< a profile to take the roofs from; NULL: they are measured */
    enum counter_policy counters;
    const char *events_path;
    bool markers; /**< exec: the program counts in its own regions */
    const char *output;
    bool json;
    bool quiet;
    double seconds_max; /**< attach: 0 until it ends */
    int pid;            /**< attach; 0: none was given */
    char **command;     /**< exec, ended by NULL; NULL: none was given */
};

void exec_request_defaults(struct exec_request *out);

/** Options of each, argp parsers over a struct exec_request. Static. */
const struct argp *exec_request_argp(void);
const struct argp *attach_request_argp(void);

/** What no single option can tell. Errors: INVALID. */
CHECKED struct status exec_request_check(const struct exec_request *request);

#endif
