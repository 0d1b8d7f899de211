#include "profiler/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void folder_of(char out[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        (void)snprintf(out, PATH_MAX, ".");
    } else if (slash == path) {
        (void)snprintf(out, PATH_MAX, "/");
    } else {
        (void)snprintf(out, PATH_MAX, "%.*s", (int)(slash - path), path);
    }
}

// A pipe that this process has open already, as /dev/stdout or the shell's >(...) may be.
static bool is_open_here(const struct stat *file)
{
    enum { DESCRIPTORS = 256 };
    struct stat info;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (fstat(fd, &info) == 0 && info.st_dev == file->st_dev && info.st_ino == file->st_ino) {
            return true;
        }
    }
    return false;
}

// Devices and pipes are written in place. Opening a named pipe would wait for a reader.
static struct status check_special(const char *path, const struct stat *info)
{
    bool waits = S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode);
    if (waits && !is_open_here(info)) {
        return status_error(STATUS_INVALID,
                            "%s: is a pipe or socket; a file name is needed (--json writes a "
                            "document to standard output)",
                            path);
    }
    return access(path, W_OK) == 0
               ? status_ok()
               : status_error(STATUS_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
}

// *special: neither a file nor missing, to be written in place.
static struct status check_path(bool *special, const char *path)
{
    char folder[PATH_MAX];
    struct stat info;
    *special = false;
    if (path[0] == '\0' || strlen(path) + 16 > sizeof folder) {
        return status_error(STATUS_INVALID, "output file name is empty or too long");
    }
    folder_of(folder, path);
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return status_error(STATUS_INVALID, "%s: folder '%s' does not exist", path, folder);
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return status_error(STATUS_INVALID, "%s: is a folder; a file name is needed", path);
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        *special = true;
        return check_special(path, &info);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return status_error(STATUS_SYSTEM, "%s: cannot write in folder '%s': %s", path, folder,
                            strerror(errno));
    }
    return status_ok();
}

// The caller closes *fd; name has PATH_MAX bytes.
static struct status create_beside(int *fd, char *name, const char *path)
{
    (void)snprintf(name, PATH_MAX, "%s.XXXXXX", path);
    *fd = mkostemp(name, O_CLOEXEC);
    return *fd >= 0 ? status_ok()
                    : status_error(STATUS_SYSTEM, "%s: cannot create a file beside it: %s", path,
                                   strerror(errno));
}

struct status output_check(const char *path)
{
    char temporary[PATH_MAX];
    int fd = -1;
    bool special = false;
    TRY(check_path(&special, path));
    if (!special) { // root may write everywhere but in /proc, and names have a longest
        TRY(create_beside(&fd, temporary, path));
        (void)close(fd);
        (void)unlink(temporary);
    }
    return status_ok();
}

struct status input_unopened(const char *path, int error)
{
    return error == EINTR
               ? status_error(STATUS_INTERRUPTED, "interrupted")
               : status_error(STATUS_INVALID, "%s: cannot open: %s", path, strerror(error));
}

static struct status write_all(int fd, const char *path, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return status_error(STATUS_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
        }
        bytes += written;
        size -= (size_t)written;
    }
    return status_ok();
}

static struct status write_and_close(int fd, const char *path, const char *bytes, size_t size,
                                     bool sync)
{
    struct status status = write_all(fd, path, bytes, size);
    if (status.code == STATUS_OK && sync && fsync(fd) != 0) {
        status = status_error(STATUS_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
    }
    if (close(fd) != 0 && status.code == STATUS_OK) {
        status = status_error(STATUS_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
    }
    return status;
}

static struct status write_in_place(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return status_error(STATUS_SYSTEM, "%s: cannot open: %s", path, strerror(errno));
    }
    return write_and_close(fd, path, bytes, size, false);
}

static struct status write_beside(const char *path, const char *bytes, size_t size)
{
    char temporary[PATH_MAX];
    int fd = -1;
    TRY(create_beside(&fd, temporary, path));
    // mkostemp makes files private; a result is as readable as any file the user creates.
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, (mode_t)(0666 & ~mask));
    struct status status = write_and_close(fd, path, bytes, size, true);
    if (status.code == STATUS_OK && rename(temporary, path) != 0) {
        status = status_error(STATUS_SYSTEM, "%s: cannot replace it: %s", path, strerror(errno));
    }
    if (status.code != STATUS_OK) {
        (void)unlink(temporary);
    }
    return status;
}

struct status output_replace(const char *path, const char *bytes, size_t size)
{
    bool special = false;
    TRY(check_path(&special, path));
    return special ? write_in_place(path, bytes, size) : write_beside(path, bytes, size);
}

// What an argument says of the output: its text if it names it, NULL else.
static const char *output_named(const char *argument, const char *next)
{
    static const char option[] = "--output";
    size_t length = strcspn(argument, "=");
    if (strncmp(argument, "-o", 2) == 0) {
        return argument[2] != '\0' ? argument + 2 : next;
    }
    if (length < 3 || length >= sizeof option || strncmp(argument, option, length) != 0) {
        return NULL;
    }
    return argument[length] == '=' ? argument + length + 1 : next;
}

static bool same_file(const char *path, const struct stat *output)
{
    char inside[PATH_MAX];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) { // a model's folder is its config.json
        int length = snprintf(inside, sizeof inside, "%s/config.json", path);
        path = length > 0 && (size_t)length < sizeof inside ? inside : path;
    }
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_dev == output->st_dev &&
           info.st_ino == output->st_ino;
}

// An argument as a file, or what stands behind its option: --machine=FILE, -mFILE.
static bool is_input(const char *argument, const struct stat *output)
{
    const char *equals = strchr(argument, '=');
    bool glued = argument[0] == '-' && argument[1] != '-' && argument[1] != '\0';
    return same_file(argument, output) || (equals != NULL && same_file(equals + 1, output)) ||
           (glued && argument[2] != '\0' && same_file(argument + 2, output));
}

static struct status spare_inputs(int argc, char **argv, const char *path)
{
    struct stat output;
    if (stat(path, &output) != 0 || !S_ISREG(output.st_mode)) {
        return status_ok();
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        const char *named = output_named(argv[i], next);
        if (named != NULL) {
            i += named == next ? 1 : 0;
        } else if (is_input(argv[i], &output)) {
            return status_error(STATUS_INVALID,
                                "-o %.200s: is what '%.200s' names as input, and would be lost; "
                                "another file is needed",
                                path, argv[i]);
        }
    }
    return status_ok();
}

struct status output_spares_inputs(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *path = output_named(argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (path != NULL) {
            TRY(spare_inputs(argc, argv, path));
        }
    }
    return status_ok();
}
