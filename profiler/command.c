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

static const struct argp_option *find_option(const struct argp *argp, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    bool is_long = strncmp(word, "--", 2) == 0;
    for (const struct argp_option *option = argp->options; option->key != 0; option++) {
        bool matches = is_long ? option->name != NULL && strncmp(option->name, name, length) == 0
                               : option->key == word[1];
        if (matches) {
            return option;
        }
    }
    return NULL;
}

// The first word that argp cannot have taken: an unknown option, or one without its value.
static const char *offending_word(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0') {
            continue;
        }
        const struct argp_option *option = find_option(argp, word);
        bool joined = word[1] == '-' ? strchr(word, '=') != NULL : word[2] != '\0';
        bool wants_value = option != NULL && option->arg != NULL;
        if (option == NULL || (joined && !wants_value)) {
            return word;
        }
        if (wants_value && !joined && ++i == argc) {
            return word;
        }
    }
    return argv[argc - 1];
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
    // Words that nobody took are no error to argp: it only tells where it stopped.
    if (error != 0 || index < argc) {
        const char *word = error == 0 ? argv[index] : offending_word(argp, argc, argv);
        return status_error(STATUS_INVALID,
                            "option '%s' of '%s' is unknown, incomplete or out of place; "
                            "'%s --help' lists what is accepted",
                            word, name, name);
    }
    return status_ok();
}
