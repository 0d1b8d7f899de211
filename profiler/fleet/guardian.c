#include "profiler/fleet/guardian.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Written last, so that what follows it is whole.
struct will {
    size_t row_count; // 0: nothing was left
    unsigned rank;
    char library[sizeof((struct fleet_index *)NULL)->library];
};

struct status guardian_start(struct guardian *out)
{
    out->rank = -1;
    out->will = memfd_create("lmroof-fleet", MFD_CLOEXEC);
    if (out->will < 0) {
        return status_error(STATUS_SYSTEM, "cannot make a file in memory: %s", strerror(errno));
    }
    pid_t guardian = getpid();
    out->rank = fork();
    if (out->rank < 0) {
        int error = errno;
        guardian_close(out);
        return status_error(STATUS_SYSTEM, "cannot start a process: %s", strerror(error));
    }
    if (out->rank == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != guardian) {
            _exit(EXIT_FAILURE);
        }
    } else {
        (void)prctl(PR_SET_NAME, "fleet-guardian");
    }
    return status_ok();
}

void guardian_close(struct guardian *guardian)
{
    if (guardian->will >= 0) {
        (void)close(guardian->will);
        guardian->will = -1;
    }
}

// True if all bytes went.
static bool put(int file, const void *data, size_t bytes, off_t at)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t done = pwrite(file, from, bytes, at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return false;
        }
        from += done;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

static bool take(int file, void *out, size_t bytes, off_t at)
{
    char *to = out;
    while (bytes > 0) {
        ssize_t done = pread(file, to, bytes, at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return false;
        }
        to += done;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

struct status guardian_write_will(const struct guardian *guardian, const struct fleet_index *index,
                                  unsigned rank)
{
    struct will will = {.row_count = index->row_count, .rank = rank};
    (void)snprintf(will.library, sizeof will.library, "%s", index->library);
    bool whole = put(guardian->will, index->rows, index->row_count * sizeof *index->rows,
                     (off_t)sizeof will) &&
                 put(guardian->will, &will, sizeof will, 0);
    return whole
               ? status_ok()
               : status_error(STATUS_SYSTEM, "cannot write a file in memory: %s", strerror(errno));
}

int guardian_wait(int *exit_code, const struct guardian *guardian,
                  const volatile sig_atomic_t *signal)
{
    const struct timespec look = {.tv_nsec = 20000000};
    bool passed_on = false;
    int status = 0;
    pid_t ended = 0;
    while (ended == 0 || (ended < 0 && errno == EINTR)) {
        (void)nanosleep(&look, NULL);
        if (*signal != 0 && !passed_on) {
            passed_on = kill(guardian->rank, (int)*signal) == 0;
        }
        ended = waitpid(guardian->rank, &status, WNOHANG);
    }
    *exit_code = ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    return ended > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool guardian_read_will(struct fleet_index *index, unsigned *rank, const struct guardian *guardian)
{
    struct will will;
    if (!take(guardian->will, &will, sizeof will, 0) || will.row_count == 0) {
        return false;
    }
    index->rows = calloc(will.row_count, sizeof *index->rows);
    if (index->rows == NULL || !take(guardian->will, index->rows,
                                     will.row_count * sizeof *index->rows, (off_t)sizeof will)) {
        return false;
    }
    index->row_count = will.row_count;
    *rank = will.rank;
    (void)snprintf(index->library, sizeof index->library, "%s", will.library);
    return true;
}
