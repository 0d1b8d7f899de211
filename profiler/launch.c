#include "profiler/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_ABANDONED = 125, EXIT_NOT_RUN = 126 };

// What this program changed for itself does not reach the command.
static void restore_signals(const struct command_signals *inherited)
{
    (void)sigaction(SIGINT, &inherited->interrupt, NULL);
    (void)sigaction(SIGTERM, &inherited->terminate, NULL);
    (void)sigaction(SIGPIPE, &inherited->pipe, NULL);
    (void)sigaction(SIGXFSZ, &inherited->file_size, NULL);
    (void)sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

// In the child, which shares nothing with its parent's threads: only what may be called there.
static _Noreturn void become_command(const struct launch_options *options, int go_fd, int error_fd)
{
    char byte = 0;
    ssize_t got = 0;
    do {
        got = read(go_fd, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(EXIT_ABANDONED);
    }
    if (options->output_to_error) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    restore_signals(options->inherited);
    (void)execvp(options->argv[0], options->argv);
    int error = errno;
    (void)!write(error_fd, &error, sizeof error);
    _exit(EXIT_NOT_RUN);
}

static struct status no_pipe(void)
{
    return status_error(STATUS_SYSTEM, "cannot make a pipe to the command: %s", strerror(errno));
}

struct status launch_prepare(struct launch *out, const struct launch_options *options)
{
    int go[2];
    int error[2];
    *out = (struct launch){.pid = -1, .go_fd = -1, .error_fd = -1};
    if (pipe2(go, O_CLOEXEC) != 0) {
        return no_pipe();
    }
    if (pipe2(error, O_CLOEXEC) != 0) {
        struct status status = no_pipe();
        (void)close(go[0]);
        (void)close(go[1]);
        return status;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        (void)close(error[0]);
        become_command(options, go[0], error[1]);
    }
    int fork_error = errno;
    (void)close(go[0]);
    (void)close(error[1]);
    *out = (struct launch){.pid = pid, .go_fd = go[1], .error_fd = error[0]};
    if (pid < 0) {
        launch_abandon(out);
        return status_error(STATUS_SYSTEM, "cannot start a process: %s", strerror(fork_error));
    }
    return status_ok();
}

static void close_once(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

int launch_go(struct launch *launch)
{
    int error = 0;
    ssize_t written = 0;
    do {
        written = write(launch->go_fd, "g", 1);
    } while (written < 0 && errno == EINTR);
    close_once(&launch->go_fd);
    ssize_t got = 0;
    do { // end of file: the command runs, and its copy was closed by that
        got = read(launch->error_fd, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    close_once(&launch->error_fd);
    return got == (ssize_t)sizeof error ? error : 0;
}

void launch_abandon(struct launch *launch)
{
    close_once(&launch->go_fd);
    close_once(&launch->error_fd);
    if (launch->pid > 0) {
        (void)waitpid(launch->pid, NULL, 0);
    }
    launch->pid = -1;
}
