#ifndef PROFILER_PREDICTION_OPTIONS_H
#define PROFILER_PREDICTION_OPTIONS_H

/** The options that `predict` and `compare` share, as one argp for both. */

#include "profiler/answer_options.h"
#include "profiler/prediction.h"

struct prediction_options {
    struct answer_options answer; /**< first: command_option_error() */
    bool list;
    struct prediction_request request;
    size_t word_count;
    const char *words[PREDICTION_MACHINES_MAX]; /**< MACHINE arguments */
    size_t price_count;
    const char *prices[PREDICTION_MACHINES_MAX]; /**< NAME=VALUE */
};

/** Everything but MACHINE arguments and -o; to be the child of a command's argp with the same
 * input. */
extern const struct argp prediction_argp;

/** Fills what the user left open: batch 1, context 512, prompt 512, the model's type, f16 cache. */
void prediction_options_default(struct prediction_options *options);

/** Adds a MACHINE. Errors: INVALID if there are too many. */
CHECKED struct status prediction_options_machine(struct prediction_options *options,
                                                 const char *word);

/** Loads every MACHINE into *out (word_count of them, owned by the caller: free with
 *  prediction_options_release()) and its price into *prices. Errors: INVALID, SYSTEM. */
CHECKED struct status prediction_options_load(struct machine_source **out, double **prices,
                                              const struct prediction_options *options);

/** Loads the model and computes. The caller frees *out (prediction_free()) and *model in either
 *  case. Errors: INVALID, SYSTEM. */
CHECKED struct status prediction_options_predict(struct prediction *out, struct model **model,
                                                 const struct prediction_options *options,
                                                 const struct machine_source *machines,
                                                 const double *prices);

/** A command that answers about machines: run once with its options. */
struct prediction_command {
    const struct argp *parser; /**< its input: struct prediction_options */
    struct status (*check)(const struct prediction_options *options);
    struct status (*answer)(const struct command_context *context,
                            const struct prediction_options *options,
                            const struct machine_source *machines, const double *prices);
};

/** Parses, lists the built-in machines if asked to, else checks, loads the machines and answers. */
CHECKED struct status prediction_command_run(const struct prediction_command *command,
                                             const struct command_context *context, int argc,
                                             char **argv);

/** Releases both; either may be NULL. */
void prediction_options_release(struct machine_source *sources, size_t count, double *prices);

#endif
