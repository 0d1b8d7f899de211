#ifndef PROFILER_ANSWER_OPTIONS_H
#define PROFILER_ANSWER_OPTIONS_H

/** What the commands that answer from documents (`compare`, `place`, `predict`) take alike. */

#include "profiler/command.h"

#include <stdbool.h>

struct answer_options {
    struct command_input input; /**< first: command_option_error() */
    const char *model;          /**< NULL: not given */
    const char *output;         /**< NULL: not given */
    bool json;
    bool quiet;
    bool verbose;
};

enum { ANSWER_KEY_JSON = 0x300, ANSWER_KEY_QUIET, ANSWER_KEY_VERBOSE };

/** Lines of a table of options that stand for json, quiet and verbose, in a group. */
#define ANSWER_OPTIONS(group)                                                            \
    {"json", ANSWER_KEY_JSON, NULL, 0, "one JSON document on standard output", group},   \
        {"verbose", ANSWER_KEY_VERBOSE, NULL, 0, "all warnings of the profiles", group}, \
    {                                                                                    \
        "quiet", ANSWER_KEY_QUIET, NULL, 0, "no warnings on standard error", group       \
    }

/** Takes -m, -o, --json, --quiet and --verbose; false: another key. */
bool answer_options_take(struct answer_options *out, int key, char *text);

/** What an option parser returns for a key that it knows (or not) and has read. */
error_t answer_options_parsed(struct argp_state *state, bool known, struct status status);

#endif
