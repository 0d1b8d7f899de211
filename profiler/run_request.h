#ifndef PROFILER_RUN_REQUEST_H
#define PROFILER_RUN_REQUEST_H

/** What `run` and `validate` are asked for, and how it is read from the command line. */

#include "profiler/command.h"
#include "profiler/counters.h"
#include "profiler/option_list.h"
#include "profiler/session.h"
#include "roofline/dtype.h"
#include "roofline/status.h"

#include <stdbool.h>

enum { RUN_DTYPES_MAX = 16 };

struct run_request {
    struct command_input input; /**< of the option parser: stays first */
    const char *model;
    bool decode;
    bool prefill;
    struct option_counts batch;
    struct option_counts context;
    struct option_counts prompt;
    enum dtype_id dtypes[RUN_DTYPES_MAX]; /**< none: the model's own */
    size_t dtype_count;
    enum dtype_id kv_dtype;
    uint64_t threads;                   /**< 0 = all usable cores */
    struct option_counts thread_counts; /**< two or more: a run at each of them */
    bool smt;
    bool small_pages;
    enum session_numa numa;
    enum counter_policy counters;
    const char *events_path; /**< NULL: the built-in tables */
    bool step;
    bool no_twins;
    uint64_t repeat;
    double budget_seconds;   /**< 0 = none */
    const char *budget_name; /**< for messages, where the user typed none; NULL: "--budget" */
    const char *budget_try;  /**< what helps if it was not enough */
    const char *output;      /**< -o; NULL: none */
    bool replaces;           /**< set by the run: output was there before it */
    bool json;
    bool quiet;
};

/** The contract's defaults. */
void run_request_defaults(struct run_request *out);

/** Options of `run`, an argp parser over a struct run_request. Static. */
const struct argp *run_request_argp(void);

/** Fills the lists that were not given. */
void run_request_finish(struct run_request *request);

/** Parses "bf16,f32" into the request. Errors: INVALID naming what can be run. */
CHECKED struct status run_request_dtypes(struct run_request *request, const char *text);

/** The same of one type, which replaces those set before. Errors: INVALID also for several. */
CHECKED struct status run_request_one_dtype(struct run_request *request, const char *text);

#endif
