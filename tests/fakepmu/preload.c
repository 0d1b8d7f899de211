// The library functions that are replaced. Everything that is not about counters goes to the real
// one.
#include "events.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(function) ((__typeof__(function) *)dlsym(RTLD_NEXT, #function))
#define EXPORT __attribute__((visibility("default")))

static struct fake_script *script;
static const char *root;
static FILE *log_file;
static bool ready;

// The script and the log are files themselves: they are opened before anything is replaced.
static void __attribute__((constructor)) prepare(void)
{
    if (ready) {
        return;
    }
    ready = true;
    const char *log_path = getenv("FAKEPMU_LOG");
    struct fake_script *read_script = fake_script_read(getenv("FAKEPMU_SCRIPT"));
    if (log_path != NULL) {
        log_file = fopen(log_path, "ae");
    }
    root = getenv("FAKEPMU_ROOT");
    script = read_script;
}

const struct fake_script *fake_script(void)
{
    return script;
}

void fake_log(const char *format, ...)
{
    if (log_file == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(log_file, format, arguments);
    va_end(arguments);
    (void)fputc('\n', log_file);
    (void)fflush(log_file);
}

int fake_real_close(int fd)
{
    return REAL(close)(fd);
}

static bool is_about_counters(const char *path)
{
    return strncmp(path, "/sys/bus/event_source", 21) == 0 ||
           strncmp(path, "/sys/class/powercap", 19) == 0 ||
           strncmp(path, "/sys/devices/", 13) == 0 || strncmp(path, "/proc/sys/kernel/", 17) == 0 ||
           strcmp(path, "/proc/cpuinfo") == 0 || strcmp(path, "/proc/self/status") == 0;
}

enum { PATH_BYTES = 4096 };

// Where to look instead: below the root if it is there, nowhere (NULL) if the script hides it.
static const char *redirect(char *buffer, const char *path)
{
    if (script == NULL || path == NULL || !is_about_counters(path)) {
        return path;
    }
    if (fake_script_hides(script, path)) {
        return NULL;
    }
    if (root == NULL) {
        return path;
    }
    (void)snprintf(buffer, PATH_BYTES, "%s%s", root, path);
    if (REAL(access)(buffer, F_OK) == 0) {
        return buffer;
    }
    // A root that has the kernel's list of PMUs has all of it.
    return strncmp(path, "/sys/bus/event_source", 21) == 0 ? NULL : path;
}

#define REDIRECT(path, failed)                    \
    char buffer_[PATH_BYTES];                     \
    const char *target = redirect(buffer_, path); \
    if (target == NULL) {                         \
        errno = ENOENT;                           \
        return failed;                            \
    }

EXPORT FILE *fopen(const char *path, const char *mode)
{
    REDIRECT(path, NULL)
    return REAL(fopen)(target, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
    REDIRECT(path, NULL)
    return REAL(fopen64)(target, mode);
}

static int open_mode(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = open_mode(flags, arguments);
    va_end(arguments);
    REDIRECT(path, -1)
    return REAL(open)(target, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = open_mode(flags, arguments);
    va_end(arguments);
    REDIRECT(path, -1)
    return REAL(open64)(target, flags, mode);
}

EXPORT DIR *opendir(const char *path)
{
    REDIRECT(path, NULL)
    return REAL(opendir)(target);
}

EXPORT int access(const char *path, int mode)
{
    REDIRECT(path, -1)
    return REAL(access)(target, mode);
}

EXPORT int stat(const char *restrict path, struct stat *restrict out)
{
    REDIRECT(path, -1)
    return REAL(stat)(target, out);
}

EXPORT long syscall(long number, ...)
{
    va_list arguments;
    long a[6];
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    if (number == SYS_perf_event_open && script != NULL) {
        return fake_event_open((struct perf_event_attr *)a[0], (pid_t)a[1], (int)a[2], (int)a[3]);
    }
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (fake_event_is(fd)) {
        return fake_event_ioctl(fd, request, argument);
    }
    int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
    return real(fd, request, argument);
}

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    return fake_event_is(fd) ? fake_event_read(fd, buffer, size) : REAL(read)(fd, buffer, size);
}

EXPORT int close(int fd)
{
    if (fake_event_is(fd)) {
        fake_event_close(fd);
    }
    return REAL(close)(fd);
}

// PAPI has libpfm4 look for the CPU's PMU in here.
EXPORT int PAPI_library_init(int version);
EXPORT int PAPI_library_init(int version)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "PAPI_library_init");
    fake_cpuid_begin(fake_script_limits(script));
    int result = real(version);
    fake_cpuid_end();
    return result;
}
