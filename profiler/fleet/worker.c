#include "profiler/fleet/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct command command_probe;

char *worker_file(char out[PATH_MAX], const char *stem, unsigned repeat, unsigned repeats)
{
    if (repeats > 1) {
        (void)snprintf(out, PATH_MAX, "%s.r%u.json", stem, repeat);
    } else {
        (void)snprintf(out, PATH_MAX, "%s.json", stem);
    }
    return out;
}

// False if the other end is gone.
static bool read_all(int fd, void *out, size_t bytes)
{
    char *to = out;
    while (bytes > 0) {
        ssize_t got = read(fd, to, bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        to += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t put = write(fd, from, bytes);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        from += put;
        bytes -= (size_t)put;
    }
    return true;
}

struct status worker_bind(const unsigned *cpus, size_t count)
{
    cpu_set_t *set = CPU_ALLOC(MACHINE_CPUS_MAX);
    size_t bytes = CPU_ALLOC_SIZE(MACHINE_CPUS_MAX);
    if (set == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a set of cpus");
    }
    CPU_ZERO_S(bytes, set);
    for (size_t i = 0; i < count; i++) {
        CPU_SET_S(cpus[i], bytes, set);
    }
    int failed = sched_setaffinity(0, bytes, set);
    int error = errno;
    CPU_FREE(set);
    return failed == 0
               ? status_ok()
               : status_error(STATUS_UNAVAILABLE, "cannot run on its cpus: %s", strerror(error));
}

static struct status probe_once(int *exit_code, const struct worker_options *options, char *file)
{
    char *argv[WORKER_ARGUMENTS + 5] = {(char[]){"probe"}, (char[]){"--quiet"}, (char[]){"-o"},
                                        file};
    int argc = 4;
    for (size_t i = 0; i < WORKER_ARGUMENTS && options->arguments[i] != NULL; i++) {
        argv[argc++] = options->arguments[i];
    }
    struct command_context context = *options->context;
    context.out = fopen("/dev/null", "we");
    context.err = context.out;
    if (context.out == NULL) {
        return status_error(STATUS_SYSTEM, "/dev/null: cannot open: %s", strerror(errno));
    }
    struct status status = command_probe.run(exit_code, &context, argc, argv);
    (void)fclose(context.out);
    return status;
}

_Noreturn static void work(int tasks, int answers, const struct worker_options *options)
{
    struct worker_task *task = malloc(sizeof *task);
    if (task == NULL || !read_all(tasks, task, sizeof *task)) {
        _exit(EXIT_FAILURE); // the rank ended before it had something to do
    }
    struct worker_answer answer = {.status = worker_bind(task->cpus, task->cpu_count)};
    bool heard = answer.status.code == STATUS_OK || write_all(answers, &answer, sizeof answer);
    for (unsigned r = 0; r < task->repeat && heard && answer.status.code == STATUS_OK; r++) {
        char file[PATH_MAX];
        answer.repeat = r;
        answer.exit_code = 0;
        (void)worker_file(file, task->stem, r, task->repeat);
        answer.status = probe_once(&answer.exit_code, options, file);
        heard = write_all(answers, &answer, sizeof answer);
    }
    _exit(answer.status.code == STATUS_OK && heard ? EXIT_SUCCESS : EXIT_FAILURE);
}

static struct status open_pipes(int tasks[2], int answers[2])
{
    if (pipe2(tasks, O_CLOEXEC) != 0) {
        return status_error(STATUS_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    }
    if (pipe2(answers, O_CLOEXEC) != 0) {
        (void)close(tasks[0]);
        (void)close(tasks[1]);
        return status_error(STATUS_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    }
    return status_ok();
}

struct status worker_start(struct worker *out, const struct worker_options *options)
{
    int tasks[2];
    int answers[2];
    memset(out, 0, sizeof *out);
    TRY(open_pipes(tasks, answers));
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        // A group of its own: what ends the rank's group must not cut off a result being written;
        // and no life without the rank.
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)close(tasks[1]);
        (void)close(answers[0]);
        if (getppid() != parent) {
            _exit(EXIT_FAILURE);
        }
        work(tasks[0], answers[1], options);
    }
    int error = errno;
    (void)close(tasks[0]);
    (void)close(answers[1]);
    if (pid < 0) {
        (void)close(tasks[1]);
        (void)close(answers[0]);
        return status_error(STATUS_SYSTEM, "cannot start a process: %s", strerror(error));
    }
    (void)fcntl(answers[0], F_SETFL, O_NONBLOCK);
    *out = (struct worker){.pid = pid, .tasks = tasks[1], .answers = answers[0]};
    return status_ok();
}

struct status worker_give(struct worker *worker, const struct worker_task *task)
{
    if (!write_all(worker->tasks, task, sizeof *task)) {
        return status_error(STATUS_SYSTEM, "the measuring process is gone");
    }
    return status_ok();
}

bool worker_hear(struct worker_answer *out, struct worker *worker)
{
    // An answer is shorter than PIPE_BUF: it comes as a whole or not at all.
    _Static_assert(sizeof *out <= PIPE_BUF, "an answer is written at once");
    return worker->tasks > 0 && read(worker->answers, out, sizeof *out) == (ssize_t)sizeof *out;
}

bool worker_ended(struct worker *worker, char *problem, size_t bytes)
{
    int status = 0;
    problem[0] = '\0';
    if (worker->pid == 0) {
        return true;
    }
    if (waitpid(worker->pid, &status, WNOHANG) != worker->pid) {
        return false;
    }
    worker->pid = 0;
    if (WIFSIGNALED(status)) {
        (void)snprintf(problem, bytes, "killed by signal %d (%s)%s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)),
                       WTERMSIG(status) == SIGKILL ? ": by hand, or out of memory" : "");
    }
    return true;
}

void worker_signal(const struct worker *worker, int number)
{
    if (worker->pid > 0) {
        (void)kill(worker->pid, number);
    }
}

void worker_close(struct worker *worker)
{
    if (worker->pid > 0) {
        (void)kill(worker->pid, SIGKILL);
        (void)waitpid(worker->pid, NULL, 0);
        worker->pid = 0;
    }
    if (worker->tasks > 0) {
        (void)close(worker->tasks);
        (void)close(worker->answers);
    }
    worker->tasks = 0;
}
