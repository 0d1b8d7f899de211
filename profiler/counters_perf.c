// Counters straight from the kernel: what PAPI's tables do not know is reached by code.
#include "profiler/counter_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct perf_group {
    size_t count;
    bool apart;                  /**< system or of a task: every event is its own leader */
    int fds[COUNTER_EVENTS_MAX]; /**< fds[0] leads a thread's set */
};

static enum counter_fault open_source(void **out, const char *configuration, char *detail)
{
    (void)configuration;
    detail[0] = '\0';
    *out = NULL;
    return FAULT_NONE;
}

static void close_source(void *source)
{
    (void)source;
}

static int open_event(const struct counter_event *event, int leader)
{
    bool system = event->cpu >= 0;
    bool task = event->task > 0;
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = event->type,
        .config = event->config,
        .config1 = event->config1,
        .disabled = leader < 0,
        .inherit = task,
        .enable_on_exec = task && event->on_exec,
        // An uncore box cannot tell modes apart and refuses the question.
        .exclude_kernel = !system,
        .exclude_hv = !system,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                       (system || task ? 0U : (unsigned)PERF_FORMAT_GROUP),
    };
    int pid = system ? -1 : event->task;
    return (int)syscall(SYS_perf_event_open, &attr, pid, event->cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static void close_group(void *handle)
{
    struct perf_group *group = handle;
    if (group == NULL) {
        return;
    }
    for (size_t i = group->count; i > 0; i--) {
        (void)close(group->fds[i - 1]);
    }
    free(group);
}

static enum counter_fault open_group(void **out, void *source, const struct counter_event *events,
                                     size_t count, size_t *refused, char *detail)
{
    (void)source;
    detail[0] = '\0';
    *refused = 0;
    struct perf_group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return FAULT_RESOURCES;
    }
    group->apart = events[0].cpu >= 0 || events[0].task > 0;
    for (size_t i = 0; i < count; i++) {
        int fd = -1;
        int error = EOPNOTSUPP;
        if (events[i].type != EVENT_TYPE_NONE) {
            fd = open_event(&events[i], group->apart || i == 0 ? -1 : group->fds[0]);
            error = errno;
        }
        if (fd < 0) {
            *refused = i;
            (void)snprintf(detail, COUNTER_DETAIL, "perf_event_open: %s", strerror(error));
            close_group(group);
            return counter_fault_of_errno(error);
        }
        group->fds[group->count++] = fd;
    }
    *out = group;
    return FAULT_NONE;
}

static enum counter_fault control(const struct perf_group *group, unsigned long request)
{
    if (!group->apart) {
        return ioctl(group->fds[0], request, 0) == 0 ? FAULT_NONE : FAULT_READ;
    }
    enum counter_fault fault = FAULT_NONE;
    for (size_t i = 0; i < group->count; i++) {
        if (ioctl(group->fds[i], request, 0) != 0) {
            fault = FAULT_READ;
        }
    }
    return fault;
}

static enum counter_fault start_group(void *group)
{
    return control(group, PERF_EVENT_IOC_ENABLE);
}

static enum counter_fault stop_group(void *group)
{
    return control(group, PERF_EVENT_IOC_DISABLE);
}

// perf_event_open(2): {count, enabled, running, value...} for a set.
static enum counter_fault read_set(struct counter_values *out, const struct perf_group *group)
{
    uint64_t buffer[3 + COUNTER_EVENTS_MAX] = {0};
    size_t want = (3 + group->count) * sizeof *buffer;
    ssize_t got = read(group->fds[0], buffer, sizeof buffer);
    if (got < 0 || (size_t)got != want || buffer[0] != group->count) {
        return FAULT_READ;
    }
    for (size_t i = 0; i < group->count; i++) {
        out->value[i] = buffer[3 + i];
        out->enabled_ns[i] = buffer[1];
        out->running_ns[i] = buffer[2];
    }
    return FAULT_NONE;
}

static enum counter_fault read_group(struct counter_values *out, void *handle)
{
    const struct perf_group *group = handle;
    if (!group->apart) {
        return read_set(out, group);
    }
    for (size_t i = 0; i < group->count; i++) {
        uint64_t buffer[3] = {0}; // value, enabled, running
        if (read(group->fds[i], buffer, sizeof buffer) != (ssize_t)sizeof buffer) {
            return FAULT_READ;
        }
        out->value[i] = buffer[0];
        out->enabled_ns[i] = buffer[1];
        out->running_ns[i] = buffer[2];
    }
    return FAULT_NONE;
}

const struct counter_source counter_source_perf = {
    .name = "perf",
    .open_source = open_source,
    .close_source = close_source,
    .open = open_group,
    .start = start_group,
    .stop = stop_group,
    .read = read_group,
    .close = close_group,
};
