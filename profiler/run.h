#ifndef PROFILER_RUN_H
#define PROFILER_RUN_H

/** The whole of a run: model, session, points in order, steps and crossovers, the document on disk
 *  after every operator. Used by `run`, `validate` and `lmroof` alone. */

#include "profiler/command.h"
#include "profiler/results.h"
#include "profiler/run_request.h"
#include "roofline/model.h"

/** One pass of a run: all of it, at one number of threads. */
struct run_pass {
    const struct result_run *before; /**< of earlier passes, for the document; NULL: no sweep */
    bool first;
};

/** Runs the request at request->threads, as run_execute() does. */
CHECKED struct status run_pass_execute(struct result_run *out, struct run_request *request,
                                       const struct command_context *context,
                                       const struct run_pass *pass);

/** Runs the request, several numbers of threads one after the other. out is zeroed first and holds
 * whatever was measured even on failure; the caller frees it. If request->output is set, the file
 * is a valid document after every operator. Errors: INVALID for a bad model or thread count;
 * UNAVAILABLE if memory is short or no point could be measured; MISMATCH if a result was wrong;
 * INTERRUPTED after a signal. */
CHECKED struct status run_execute(struct result_run *out, struct run_request *request,
                                  const struct command_context *context);

/** Prints the outcome as the request asks: the JSON document or the table with the roofline on
 *  context->out, warnings on context->err unless quiet. */
CHECKED struct status run_print(const struct result_run *run, const struct run_request *request,
                                const struct command_context *context);

/** True once a point was timed. */
bool run_has_measurement(const struct result_run *run);

/** What a command says that a signal ended and whose file holds the part that was measured. */
CHECKED struct status run_interrupted(const char *output);

/** Prints what there is to print after run_execute() returned status: the results where it went
 *  well, also wrong ones (marked), and an interrupted run's document if JSON was asked for.
 *  Returns status, or the failure to print. */
CHECKED struct status run_conclude(const struct result_run *run, const struct run_request *request,
                                   const struct command_context *context, struct status status);

#endif
