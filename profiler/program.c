#include "profiler/program.h"

#include "profiler/kernel_list.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void program_catch_signals(struct command_signals *before, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    (void)sigprocmask(SIG_SETMASK, NULL, &before->mask);
    (void)sigaction(SIGINT, &action, &before->interrupt);
    (void)sigaction(SIGTERM, &action, &before->terminate);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore,
                    &before->pipe); // a closed stdout is a write error: exit 1, message
    (void)sigaction(SIGXFSZ, &ignore, &before->file_size); // so is a file beyond its limit
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

static void print_help(FILE *out, const struct program *program)
{
    (void)fputs(program->help_head, out);
    for (size_t i = 0; program->commands[i] != NULL; i++) {
        if (program->commands[i]->summary != NULL) {
            (void)fprintf(out, "  %-9s %s\n", program->commands[i]->name,
                          program->commands[i]->summary);
        }
    }
    (void)fputs(program->help_tail, out);
}

static const struct command *find_command(const struct program *program, const char *word)
{
    for (size_t i = 0; program->commands[i] != NULL; i++) {
        if (strcmp(program->commands[i]->name, word) == 0) {
            return program->commands[i];
        }
    }
    return NULL;
}

// Of results that have nowhere to go: for a command that passes on another's status it must not
// look like that.
static int failure_code(const struct program *program, int argc, char **argv)
{
    const struct command *command = argc > 1 ? find_command(program, argv[1]) : NULL;
    return command != NULL && command->failure_code != 0 ? command->failure_code : 1;
}

static int exit_code_of(struct status status, int exit_code, const struct program *program)
{
    switch (status.code) {
    case STATUS_OK:
        return exit_code;
    case STATUS_INVALID:
        return 2;
    case STATUS_INTERRUPTED:
        return 128 + (int)*program->signal;
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
    struct pollfd end = {.fd = fileno(out), .events = POLLOUT};
    bool unread = poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0; // a pipe without a reader
    if (fflush(out) != 0 || ferror(out) != 0 || fclose(out) != 0) {
        return status_error(STATUS_SYSTEM, "cannot write the results to standard output: %s",
                            unread ? "its reader has ended" : "it is closed, or the disk is full");
    }
    return status_ok();
}

static struct status dispatch(int *exit_code, const struct command_context *context,
                              const struct program *program)
{
    int argc = context->argc;
    char **argv = context->argv;
    char name[32];
    (void)snprintf(name, sizeof name, "%s",
                   program->default_command == NULL ? "--help" : program->default_command);
    char *default_argv[] = {name, NULL};
    const char *word = argc > 1 ? argv[1] : name;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "help") == 0) {
        print_help(context->out, program);
        return status_ok();
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        (void)fprintf(context->out, "%s %s\n", program->name, command_version());
        if (argc > 2 && strcmp(argv[2], "--verbose") == 0) {
            kernel_list_print(context->out);
        }
        return status_ok();
    }
    const struct command *command = find_command(program, word);
    if (command != NULL) {
        return argc > 1 ? command->run(exit_code, context, argc - 1, argv + 1)
                        : command->run(exit_code, context, 1, default_argv);
    }
    return status_error(STATUS_INVALID, "unknown %s '%s'; '%s --help' lists the commands",
                        word[0] == '-' ? "option" : "command", word, program->name);
}

static int run_into(FILE *out, FILE *err, const struct program *program, int argc, char **argv)
{
    const struct command_context context = {.program = program->name,
                                            .out = out,
                                            .err = err,
                                            .signal = program->signal,
                                            .inherited = program->inherited,
                                            .argc = argc,
                                            .argv = argv,
                                            .commands = program->commands};
    int exit_code = 0;
    struct status status = dispatch(&exit_code, &context, program);
    struct status written = close_output(out);
    if (status.code == STATUS_OK && written.code != STATUS_OK && exit_code == 0) {
        exit_code = failure_code(program, argc, argv);
    }
    if (status.code == STATUS_OK) {
        status = written;
    }
    if (status.code != STATUS_OK && status.detail[0] != '\0') {
        (void)fprintf(err, "%s: %s\n", program->name, status.detail);
    }
    return written.code != STATUS_OK && failure_code(program, argc, argv) != 1
               ? exit_code
               : exit_code_of(status, exit_code, program);
}

// The trees of large documents are millions of small blocks. glibc gathers its lists of freed ones
// anew at each large allocation beside them: a quarter of the time of reading (2026-11-30).
static void choose_allocation(void)
{
#ifdef M_MXFAST
    (void)mallopt(M_MXFAST, 0);
#endif
}

int program_run(const struct program *program, int argc, char **argv)
{
    choose_allocation();
    if (!hold_standard_files()) {
        (void)fprintf(stderr, "%s: standard output is closed: nowhere to write results\n",
                      program->name);
        return failure_code(program, argc, argv);
    }
    if (!program->silent) {
        return run_into(stdout, stderr, program, argc, argv);
    }
    FILE *out = fopen("/dev/null", "we");
    FILE *err = fopen("/dev/null", "we");
    int code = out != NULL && err != NULL ? run_into(out, err, program, argc, argv) : 1;
    if (err != NULL) {
        (void)fclose(err);
    }
    return code;
}
