#include "profiler/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define X(name) extern const struct command command_##name;
#include "command_registry.inc"
#undef X

static const struct command *const commands[] = {
#define X(name) &command_##name,
#include "command_registry.inc"
#undef X
    NULL};

// The one mutable global: what the signal handler saw.
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

static void catch_signals(struct command_signals *before)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigprocmask(SIG_SETMASK, NULL, &before->mask);
    (void)sigaction(SIGINT, &action, &before->interrupt);
    (void)sigaction(SIGTERM, &action, &before->terminate);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore,
                    &before->pipe); // a closed stdout is a write error: exit 1, message
}

// A file opened later must not take the number of a standard one that the caller closed: messages
// would go into it. Returns false if there is no standard output.
static bool hold_standard_files(void)
{
    bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    int fd = STDIN_FILENO;
    while (fd >= 0 && fd <= STDERR_FILENO) {
        fd = open("/dev/null", O_RDWR); // the lowest number that is free
    }
    if (fd > STDERR_FILENO) {
        (void)close(fd);
    }
    return has_output;
}

static void print_help(FILE *out)
{
    (void)fputs("Usage: lmroof [COMMAND] [OPTION...]\n"
                "Roofline profiler for language-model inference on CPUs.\n\n"
                "Without a command: measures this machine and the operators of llama-3.2-1b "
                "(decode at\nbatches 1 to 64, prefill, f32 and bf16) within 90 seconds, shows "
                "where they stand under\nthe roofline, and writes lmroof-report.html into the "
                "current folder.\n\nCommands:\n",
                out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (commands[i]->summary != NULL) {
            (void)fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
        }
    }
    (void)fputs("\n  --help, --version\n\n"
                "'lmroof COMMAND --help' explains each, with an example. Exit status: 0 done, "
                "1 the machine\ncould not, 2 bad usage or input, 3 refuted, 4 cannot tell, "
                "5 a check failed, 130 and 143\nended by Ctrl-C and SIGTERM.\n"
                "Example: lmroof validate -m llama-3.2-1b --dtype bf16\n",
                out);
}

static int exit_code_of(struct status status, int exit_code)
{
    switch (status.code) {
    case STATUS_OK:
        return exit_code;
    case STATUS_INVALID:
        return 2;
    case STATUS_INTERRUPTED:
        return 128 + (int)signal_seen;
    case STATUS_UNAVAILABLE:
    case STATUS_SYSTEM:
    case STATUS_MISMATCH:
        break;
    }
    return 1;
}

// A result that did not reach its reader is a failure even if everything else went well.
static struct status close_output(FILE *out)
{
    if (fflush(out) != 0 || ferror(out) != 0 || fclose(out) != 0) {
        return status_error(STATUS_SYSTEM, "cannot write the results to standard output (closed, "
                                           "or the disk is full)");
    }
    return status_ok();
}

static struct status dispatch(int *exit_code, const struct command_context *context)
{
    int argc = context->argc;
    char **argv = context->argv;
    char *default_argv[] = {(char[]){"default"}, NULL};
    const char *word = argc > 1 ? argv[1] : "default";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "help") == 0) {
        print_help(context->out);
        return status_ok();
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        (void)fprintf(context->out, "lmroof %s\n", command_version());
        return status_ok();
    }
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, word) == 0) {
            return argc > 1 ? commands[i]->run(exit_code, context, argc - 1, argv + 1)
                            : commands[i]->run(exit_code, context, 1, default_argv);
        }
    }
    return status_error(STATUS_INVALID, "unknown %s '%s'; 'lmroof --help' lists the commands",
                        word[0] == '-' ? "option" : "command", word);
}

int main(int argc, char **argv)
{
    struct command_signals before;
    catch_signals(&before);
    const struct command_context context = {.out = stdout,
                                            .err = stderr,
                                            .signal = &signal_seen,
                                            .inherited = &before,
                                            .argc = argc,
                                            .argv = argv,
                                            .commands = commands};
    int exit_code = 0;
    struct status status =
        hold_standard_files()
            ? dispatch(&exit_code, &context)
            : status_error(STATUS_SYSTEM, "standard output is closed: nowhere to write results");
    struct status written = close_output(stdout);
    if (status.code == STATUS_OK) {
        status = written;
    }
    if (status.code != STATUS_OK && status.detail[0] != '\0') {
        (void)fprintf(stderr, "lmroof: %s\n", status.detail);
    }
    return exit_code_of(status, exit_code);
}
