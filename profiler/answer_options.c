#include "profiler/answer_options.h"

bool answer_options_take(struct answer_options *out, int key, char *text)
{
    switch (key) {
    case 'm':
        out->model = text;
        return true;
    case 'o':
        out->output = text;
        return true;
    case ANSWER_KEY_JSON:
        out->json = true;
        return true;
    case ANSWER_KEY_QUIET:
        out->quiet = true;
        return true;
    case ANSWER_KEY_VERBOSE:
        out->verbose = true;
        return true;
    default:
        return false;
    }
}

error_t answer_options_parsed(struct argp_state *state, bool known, struct status status)
{
    if (!status_is_ok(status)) {
        return command_option_error(state, status);
    }
    return known ? 0 : ARGP_ERR_UNKNOWN;
}
