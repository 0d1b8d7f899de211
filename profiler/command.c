#include "profiler/command.h"

#include "profiler/output.h"

#include <stdlib.h>
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

// The command's parser runs as the child of one that learns where parsing stopped: argp tells the
// position only there (ARGP_KEY_ERROR), and not to its caller.
struct parse {
    void *input; // of the command's parser
    int next;    // index behind the offending word; 0 if there was none
};

static error_t watch_parse(int key, char *text, struct argp_state *state)
{
    struct parse *parse = state->input;
    (void)text;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = parse->input;
        return 0;
    }
    if (key == ARGP_KEY_ERROR) {
        parse->next = state->next;
    }
    return ARGP_ERR_UNKNOWN;
}

// argv index of the word that could not be taken; argc if all were.
static int first_refused(const struct argp *argp, int argc, char **argv, void *input)
{
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp watched = {NULL, watch_parse, NULL, NULL, children, NULL, NULL};
    struct parse parse = {.input = input};
    int index = argc;
    error_t error =
        argp_parse(&watched, argc, argv, ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER,
                   &index, &parse);
    if (error == 0) {
        return index;
    }
    return parse.next > 1 && parse.next <= argc ? parse.next - 1 : argc - 1;
}

// The option that a word names: by its letter, its name, or what begins only that name.
static const struct argp_option *named_option(bool *several, const struct argp *argp,
                                              const char *word)
{
    const struct argp_option *found = NULL;
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word + 2, "=") : 1;
    for (const struct argp_option *o = argp->options; o != NULL && (o->name != NULL || o->key != 0);
         o++) {
        bool letter = !is_long && o->key == word[1];
        bool name = is_long && o->name != NULL && strncmp(o->name, word + 2, length) == 0;
        if (letter || (name && o->name[length] == '\0')) {
            *several = false;
            return o;
        }
        *several = *several || (name && found != NULL);
        found = name ? o : found;
    }
    return found;
}

static const char *why_refused(const struct argp *argp, const char *word)
{
    if (word[0] != '-' || word[1] == '\0') {
        return "is one argument too many";
    }
    bool several = false;
    const struct argp_option *option = named_option(&several, argp, word);
    if (option == NULL) {
        return "is not an option of this command";
    }
    if (several) {
        return "begins several options";
    }
    return option->arg != NULL ? "lacks its value" : "takes no value";
}

struct status command_parse(bool *done, const struct command_context *context,
                            const struct argp *argp, int argc, char **argv, void *input)
{
    struct command_input *common = input;
    char name[64];
    (void)snprintf(name, sizeof name, "%s %s",
                   context->program == NULL ? "lmroof" : context->program, argv[0]);
    *done = asks_for_help(argc, argv);
    if (*done) {
        // No note on the arguments of short options, unless the user chose a form.
        (void)setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
        argp_help(argp, context->out, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, name);
        return status_ok();
    }
    common->status = status_ok();
    int refused = first_refused(argp, argc, argv, input);
    if (common->status.code != STATUS_OK) {
        return common->status;
    }
    if (refused < argc) {
        return status_error(STATUS_INVALID, "'%s' of '%s' %s; '%s --help' lists what is accepted",
                            argv[refused], name, why_refused(argp, argv[refused]), name);
    }
    return output_spares_inputs(argc, argv);
}
