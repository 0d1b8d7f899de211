#include "profiler/interference.h"

#include "machines/cgroup.h"
#include "machines/machine.h"
#include "profiler/clock.h"
#include "roofline/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS_MAX = 32, CPU_LINE_MAX = 256, STAT_TAIL = 4096 };

struct interference {
    int stat_fd;
    int load_fd;
    int group_fds[GROUPS_MAX];
    size_t group_count;
    double tick_seconds;
    unsigned *cpus;
    size_t cpu_count;
    char *buffer; // the cpu lines of /proc/stat, which come first in it
    size_t buffer_size;
};

static int open_file(const char *root, const char *path)
{
    char full[ROOTFS_PATH];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full) {
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC);
}

static bool read_now(char *out, size_t size, int fd)
{
    ssize_t n = fd < 0 ? -1 : pread(fd, out, size - 1, 0);
    out[n > 0 ? (size_t)n : 0] = '\0';
    return n > 0;
}

// Keeps the cpu.stat of every group that counts throttling, from the own one up.
static void open_groups(struct interference *meter, const char *root)
{
    for (unsigned version = 1; version <= 2; version++) {
        struct cgroup_place place;
        if (!cgroup_find(&place, root, version, "cpu")) {
            continue;
        }
        do {
            char path[ROOTFS_PATH];
            char text[STAT_TAIL];
            char value[32];
            (void)snprintf(path, sizeof path, "%s%s/cpu.stat", place.mount, place.path);
            int fd = meter->group_count < GROUPS_MAX ? open_file(root, path) : -1;
            if (read_now(text, sizeof text, fd) &&
                rootfs_line_value(value, sizeof value, text, "nr_throttled")) {
                meter->group_fds[meter->group_count++] = fd;
            } else if (fd >= 0) {
                (void)close(fd);
            }
        } while (cgroup_up(&place));
    }
}

static unsigned highest(const unsigned *values, size_t n)
{
    unsigned out = 0;
    for (size_t i = 0; i < n; i++) {
        out = values[i] > out ? values[i] : out;
    }
    return out;
}

struct status interference_open(struct interference **out, const char *root, const unsigned *cpus,
                                size_t cpu_count)
{
    *out = NULL;
    if (cpu_count == 0 || highest(cpus, cpu_count) >= MACHINE_CPUS_MAX) {
        return status_error(STATUS_INVALID,
                            "interference: %zu cpus to watch, accepted 1 or more "
                            "with indices below %d",
                            cpu_count, MACHINE_CPUS_MAX);
    }
    struct interference *meter = calloc(1, sizeof *meter);
    if (meter == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to watch interference");
    }
    meter->stat_fd = meter->load_fd = -1;
    meter->buffer_size = ((size_t)highest(cpus, cpu_count) + 2) * CPU_LINE_MAX;
    meter->buffer = malloc(meter->buffer_size);
    meter->cpus = calloc(cpu_count, sizeof *meter->cpus);
    if (meter->buffer == NULL || meter->cpus == NULL) {
        interference_close(meter);
        return status_error(STATUS_SYSTEM, "no memory to watch %zu cpus", cpu_count);
    }
    memcpy(meter->cpus, cpus, cpu_count * sizeof *cpus);
    meter->cpu_count = cpu_count;
    meter->tick_seconds = 1.0 / (double)sysconf(_SC_CLK_TCK);
    meter->stat_fd = open_file(root, "/proc/stat");
    meter->load_fd = open_file(root, "/proc/loadavg");
    open_groups(meter, root);
    *out = meter;
    return status_ok();
}

void interference_close(struct interference *meter)
{
    if (meter == NULL) {
        return;
    }
    for (size_t i = 0; i < meter->group_count; i++) {
        (void)close(meter->group_fds[i]);
    }
    if (meter->stat_fd >= 0) {
        (void)close(meter->stat_fd);
    }
    if (meter->load_fd >= 0) {
        (void)close(meter->load_fd);
    }
    free(meter->cpus);
    free(meter->buffer);
    free(meter);
}

// The eighth number of a line "cpuN user nice system idle iowait irq softirq steal ..."
static bool line_steal(uint64_t *out, const char *line)
{
    enum { STEAL = 8 };
    const char *at = strchr(line, ' ');
    uint64_t value = 0;
    for (unsigned field = 0; at != NULL && field < STEAL; field++) {
        char *end = NULL;
        value = strtoull(at, &end, 10);
        at = end == at ? NULL : end;
    }
    *out = at == NULL ? 0 : value;
    return at != NULL;
}

// Lines are in ascending order of cpu; offline ones are missing. Finds the line of one cpu from
// *line on and moves *line there; false if the cpu is not told.
static bool seek_cpu(const char **line, unsigned cpu)
{
    while (strncmp(*line, "cpu", 3) == 0) {
        char *end = NULL;
        bool one_cpu = (*line)[3] != ' '; // the first line is the sum of all: "cpu  ..."
        unsigned long found = strtoul(*line + 3, &end, 10);
        if (one_cpu && found >= cpu) {
            return found == cpu && *end == ' ';
        }
        const char *next = strchr(*line, '\n');
        *line = next == NULL ? *line + strlen(*line) : next + 1;
    }
    return false;
}

static bool sum_steal(uint64_t *out, const struct interference *meter)
{
    *out = 0;
    const char *line = meter->buffer;
    for (size_t i = 0; i < meter->cpu_count; i++) {
        if (i > 0 && meter->cpus[i] <= meter->cpus[i - 1]) {
            line = meter->buffer;
        }
        uint64_t ticks = 0;
        if (!seek_cpu(&line, meter->cpus[i]) || !line_steal(&ticks, line)) {
            return false;
        }
        *out += ticks;
    }
    return true;
}

static bool sum_throttled(uint64_t *out, const struct interference *meter)
{
    *out = 0;
    for (size_t i = 0; i < meter->group_count; i++) {
        char text[STAT_TAIL];
        char value[32];
        uint64_t count = 0;
        if (!read_now(text, sizeof text, meter->group_fds[i]) ||
            !rootfs_line_value(value, sizeof value, text, "nr_throttled") ||
            !rootfs_parse_u64(&count, value)) {
            return false;
        }
        *out += count;
    }
    return meter->group_count > 0;
}

// "0.52 0.58 0.59 3/602 4711": averages, runnable/all threads, last pid.
static void read_load(struct interference_mark *out, const struct interference *meter)
{
    char text[128];
    out->load_average = out->runnable = (double)NAN;
    const char *slash = read_now(text, sizeof text, meter->load_fd) ? strchr(text, '/') : NULL;
    if (slash == NULL) {
        return;
    }
    while (slash > text && slash[-1] != ' ') {
        slash--;
    }
    out->load_average = strtod(text, NULL);
    out->runnable = strtod(slash, NULL);
}

void interference_mark(struct interference_mark *out, struct interference *meter)
{
    out->clock_seconds = clock_seconds();
    out->steal_known = read_now(meter->buffer, meter->buffer_size, meter->stat_fd) &&
                       sum_steal(&out->steal_ticks, meter);
    out->throttled_known = sum_throttled(&out->throttled_count, meter);
    read_load(out, meter);
}

void interference_between(struct interference_signs *out, const struct interference *meter,
                          const struct interference_mark *before,
                          const struct interference_mark *after)
{
    *out =
        (struct interference_signs){.elapsed_seconds = after->clock_seconds - before->clock_seconds,
                                    .steal_seconds = (double)NAN,
                                    .throttled_count = (double)NAN,
                                    .involuntary_switches = (double)NAN,
                                    .load_average = after->load_average,
                                    .runnable = after->runnable};
    if (before->steal_known && after->steal_known) {
        double steal =
            ((double)after->steal_ticks - (double)before->steal_ticks) * meter->tick_seconds;
        double most = (double)meter->cpu_count * (out->elapsed_seconds + meter->tick_seconds);
        if (steal >= 0 && steal <= most) {
            out->steal_seconds = steal;
        }
    }
    if (before->throttled_known && after->throttled_known &&
        after->throttled_count >= before->throttled_count) {
        out->throttled_count = (double)(after->throttled_count - before->throttled_count);
    }
}

void interference_add(struct interference_signs *sum, const struct interference_signs *part)
{
    sum->elapsed_seconds += part->elapsed_seconds;
    sum->steal_seconds += part->steal_seconds > 0 ? part->steal_seconds : 0;
    sum->throttled_count += part->throttled_count > 0 ? part->throttled_count : 0;
    sum->involuntary_switches += part->involuntary_switches;
    sum->on_cpu_fraction = fmin(sum->on_cpu_fraction, part->on_cpu_fraction);
    sum->load_average = part->load_average;
    sum->runnable = part->runnable;
}

static uint64_t switches_of(int who)
{
    struct rusage usage = {0};
    int error = getrusage(who, &usage);
    return error == 0 && usage.ru_nivcsw > 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

uint64_t interference_thread_switches(void)
{
    return switches_of(RUSAGE_THREAD);
}

uint64_t interference_process_switches(void)
{
    return switches_of(RUSAGE_SELF);
}

static double cpu_seconds_of(clockid_t clock)
{
    struct timespec used;
    return clock_gettime(clock, &used) == 0 ? (double)used.tv_sec + 1e-9 * (double)used.tv_nsec
                                            : (double)NAN;
}

double interference_thread_cpu_seconds(void)
{
    return cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double interference_process_cpu_seconds(void)
{
    return cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

bool interference_disturbed(const struct interference_signs *signs)
{
    // Comparisons with NaN are false: an unknown sign is no sign.
    bool cheap = signs->on_cpu_fraction >= 0.99;
    return signs->steal_seconds > 0 || signs->throttled_count > 0 ||
           (signs->involuntary_switches > 0 && !cheap);
}

char *interference_describe(char *out, size_t size, const struct interference_signs *signs)
{
    char steal[48] = "";
    char throttled[48] = "";
    char switches[48] = "";
    if (signs->steal_seconds > 0) {
        (void)snprintf(steal, sizeof steal, ", steal %.0f ms", 1e3 * signs->steal_seconds);
    }
    if (signs->throttled_count > 0) {
        (void)snprintf(throttled, sizeof throttled, ", throttled in %.0f periods",
                       signs->throttled_count);
    }
    if (signs->involuntary_switches > 0) {
        (void)snprintf(switches, sizeof switches, ", %.0f involuntary switches",
                       signs->involuntary_switches);
    }
    char all[160];
    (void)snprintf(all, sizeof all, "%s%s%s", steal, throttled, switches);
    (void)snprintf(out, size, "%s", all[0] == '\0' ? "" : all + 2);
    return out;
}

double interference_cost_seconds(struct interference *meter)
{
    enum { CALLS = 9 };
    double seconds[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        struct interference_mark mark;
        double start = clock_seconds();
        interference_mark(&mark, meter);
        seconds[i] = clock_seconds() - start;
    }
    return stats_median(seconds, CALLS);
}
