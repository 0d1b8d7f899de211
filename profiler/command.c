#include "profiler/command.h"

#include <string.h>

const char *command_version(void)
{
    return LMROOF_VERSION;
}

error_t command_option_error(struct argp_state *state, struct status status)
{
    struct command_input *input = state->input;
    if (input->status.code == STATUS_OK) {
        input->status = status;
    }
    return EINVAL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0) {
            return true;
        }
    }
    return false;
}

struct status command_parse(bool *done, const struct command_context *context,
                            const struct argp *argp, int argc, char **argv, void *input)
{
    struct command_input *common = input;
    char name[64];
    (void)snprintf(name, sizeof name, "lmroof %s", argv[0]);
    *done = asks_for_help(argc, argv);
    if (*done) {
        argp_help(argp, context->out, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, name);
        return status_ok();
    }
    int index = 1;
    common->status = status_ok();
    error_t error =
        argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER,
                   &index, input);
    if (common->status.code != STATUS_OK) {
        return common->status;
    }
    if (error != 0) {
        const char *word = index > 0 && index <= argc ? argv[index - 1] : argv[0];
        if (index < argc && argv[index][0] != '-' && (index == 1 || argv[index - 1][0] != '-')) {
            word = argv[index];
        }
        return status_error(STATUS_INVALID,
                            "option '%s' of '%s' is unknown, incomplete or out of place; "
                            "'%s --help' lists what is accepted",
                            word, name, name);
    }
    return status_ok();
}
