#include "profiler/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ; // NOLINT(*-avoid-non-const-global-variables): POSIX declares it so

void gnuplot_quote(FILE *script, const char *text)
{
    (void)fputc('\'', script);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\'') {
            (void)fputs("''", script);
        } else {
            (void)fputc(c < 0x20 || c == 0x7f ? ' ' : *text, script);
        }
    }
    (void)fputc('\'', script);
}

// posix_spawn rather than fork: it tells a missing program apart from a failing one.
static int spawn(pid_t *child, int in, int out, int err)
{
    char *argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, (char[]){"-"}, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        (void)posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
        error = posix_spawnp(child, argv[0], &actions, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool copy_all(FILE *out, int from)
{
    char block[1 << 14];
    bool good = true;
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return good && n == 0;
        }
        // Read on after a failed write, so that the child ends by itself.
        good = good && fwrite(block, 1, (size_t)n, out) == (size_t)n;
    }
}

static struct status child_error(FILE *err)
{
    char line[200] = "no message";
    char next[200];
    rewind(err);
    while (fgets(next, sizeof next, err) != NULL) {
        next[strcspn(next, "\n")] = '\0';
        if (next[0] != '\0') {
            memcpy(line, next, sizeof line);
        }
    }
    return status_error(STATUS_SYSTEM, "gnuplot failed: %s", line);
}

static struct status run_child(FILE *out, FILE *script, FILE *err, const int ends[2])
{
    pid_t child = -1;
    int error = spawn(&child, fileno(script), ends[1], fileno(err));
    (void)close(ends[1]);
    if (error == ENOENT) {
        return status_error(STATUS_UNAVAILABLE, "cannot draw: gnuplot is not installed; install "
                                                "the package gnuplot-nox");
    }
    if (error != 0) {
        return status_error(STATUS_SYSTEM, "cannot start gnuplot: %s", strerror(error));
    }
    bool copied = copy_all(out, ends[0]);
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
        return child_error(err);
    }
    return copied ? status_ok() : status_error(STATUS_SYSTEM, "cannot write the plot");
}

struct status gnuplot_run(FILE *out, FILE *script)
{
    int ends[2] = {-1, -1};
    rewind(script); // flushes, and the child starts at the shared offset 0
    if (ferror(script)) {
        return status_error(STATUS_SYSTEM, "cannot write gnuplot's script to a temporary file");
    }
    FILE *err = tmpfile();
    if (err == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        struct status status =
            status_error(STATUS_SYSTEM, "cannot talk to gnuplot: %s", strerror(errno));
        if (err != NULL) {
            (void)fclose(err);
        }
        return status;
    }
    struct status status = run_child(out, script, err, ends);
    (void)close(ends[0]);
    (void)fclose(err);
    return status;
}

static void write_trimmed(FILE *out, char *drawn)
{
    char *rest = NULL;
    for (char *line = strtok_r(drawn, "\f\n", &rest); line != NULL;
         line = strtok_r(NULL, "\f\n", &rest)) {
        size_t length = strlen(line);
        while (length > 0 && line[length - 1] == ' ') {
            length--;
        }
        (void)fprintf(out, "%.*s\n", (int)length, line);
    }
}

struct status gnuplot_run_text(FILE *out, FILE *script, const char *heading)
{
    char *drawn = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&drawn, &size);
    if (memory == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a drawing");
    }
    struct status status = gnuplot_run(memory, script);
    if (fclose(memory) == 0 && status.code == STATUS_OK) {
        (void)fputs(heading, out);
        write_trimmed(out, drawn);
    }
    free(drawn);
    return status;
}
