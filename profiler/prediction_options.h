#ifndef PROFILER_PREDICTION_OPTIONS_H
#define PROFILER_PREDICTION_OPTIONS_H

/** The options that `predict` and `compare` share, as one argp for both. */

#include "profiler/command.h"
#include "profiler/prediction.h"

struct prediction_options {
    struct command_input input; /**< first: command_option_error() */
    const char *model;          /**< NULL: not given */
    const char *output;
    bool list, json, quiet;
    struct prediction_request request;
    size_t word_count;
    const char *words[PREDICTION_MACHINES_MAX]; /**< MACHINE arguments */
    size_t price_count;
    const char *prices[PREDICTION_MACHINES_MAX]; /**< NAME=VALUE */
};

/** Everything but MACHINE arguments and -o; to be the child of a command's argp with the same input. */
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

/** Releases both; either may be NULL. */
void prediction_options_release(struct machine_source *sources, size_t count, double *prices);

#endif
