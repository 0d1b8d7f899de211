#ifndef PROFILER_VALIDATE_H
#define PROFILER_VALIDATE_H

/** "Low-batch decode is bound by memory here": the claim put to a run of one decode step. */

#include "profiler/command.h"
#include "profiler/results.h"
#include "profiler/session.h"
#include "roofline/verdict.h"

enum { VALIDATE_OPERATORS_MAX = 64 };

struct validation {
    enum verdict_claim verdict;
    char claim[256];        /**< the sentence that was put to the test */
    char finding[512];      /**< what was found, which cores, whether the memory is saturated */
    struct verdict step;    /**< evidence for the step as a whole */
    double memory_fraction; /**< of the step's time, in operators bound by DRAM */
    double unknown_fraction;
};

/** Judges a run of one dtype, batch and context of decode, with its session's read_growth and
 *  other_mix (NaN: unknown). The step's ratios are its operators', weighted by time. */
void validation_judge(struct validation *out, const struct result_run *run);

/** The verdict on a run that did not come to its end: cannot tell, whatever was measured by then.
 *  why: "interrupted", or what failed. */
void validation_interrupted(struct validation *out, const struct result_run *run, const char *why);

/** True if every operator was measured. */
bool validation_is_whole(const struct result_run *run);

/** Writes the document to path (may be NULL) and, if asked, to context->out. */
CHECKED struct status validation_write_json(const struct validation *validation,
                                            const struct result_run *run,
                                            const struct command_context *context, const char *path,
                                            bool to_stdout);

/** The verdict in words. */
void validation_print(FILE *out, const struct validation *validation, const struct result_run *run);

#endif
