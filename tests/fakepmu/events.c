// perf_event_open(2) and the calls on its descriptors.
#include "events.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FDS_MAX = 8192, MEMBERS_MAX = 64, THREADS_MAX = 64, INTERVAL_NS = 1000000 };

struct event {
    bool used, on;
    bool settled; /**< of a leader: the interval since the last enabling is counted */
    int leader;
    int members[MEMBERS_MAX]; /**< of a leader, itself first */
    int member_count;
    struct perf_event_attr attr;
    bool system;
    pid_t task;       /**< of a foreign process: counts on while it is read; 0: none */
    bool awaits_exec; /**< of a task: nothing counts before it executes another program */
    int thread_index;
    uint64_t value, enabled_ns, running_ns;
    uint64_t began_ns, began_work;
};

static struct event events[FDS_MAX];
static unsigned open_events;
static uint64_t work_done;     /**< intervals of threads' sets so far */
static bool tasks_known;       /**< an event of a foreign process was opened */
static uint64_t task_begin_ns; /**< when the first of them began to count; 0: not yet */
static pid_t threads[THREADS_MAX];
static int thread_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static int thread_index(void)
{
    pid_t id = gettid();
    for (int i = 0; i < thread_count; i++) {
        if (threads[i] == id) {
            return i;
        }
    }
    if (thread_count == THREADS_MAX) {
        return -1;
    }
    threads[thread_count] = id;
    return thread_count++;
}

static struct fake_question question_of(const struct perf_event_attr *attr, int index)
{
    struct fake_question question = {.type = attr->type,
                                     .config = attr->config,
                                     .config1 = attr->config1,
                                     .thread_index = index};
    (void)pthread_getname_np(pthread_self(), question.thread_name, sizeof question.thread_name);
    return question;
}

static bool find(double *value, enum fake_kind kind, const struct event *event)
{
    struct fake_question question = question_of(&event->attr, event->thread_index);
    return fake_script_find(value, fake_script(), kind, &question);
}

static bool is_ours(int fd)
{
    return fd >= 0 && fd < FDS_MAX && events[fd].used;
}

bool fake_event_is(int fd)
{
    return is_ours(fd);
}

// General counters that a set needs.
static unsigned general(const struct event *leader)
{
    unsigned count = 0;
    for (int i = 0; i < leader->member_count; i++) {
        const struct perf_event_attr *attr = &events[leader->members[i]].attr;
        count += fake_script_is_fixed(fake_script(), attr->type, attr->config) ? 0 : 1;
    }
    return count;
}

static bool scheduled(const struct event *event)
{
    const struct fake_limits *limits = fake_script_limits(fake_script());
    return event->system || limits->counters == 0 ||
           general(&events[event->leader]) + limits->stolen <= limits->counters;
}

static int refuse(const struct perf_event_attr *attr, const struct fake_question *question,
                  int group)
{
    const struct fake_limits *limits = fake_script_limits(fake_script());
    double error = 0;
    if (fake_script_find(&error, fake_script(), FAKE_ERRNO, question)) {
        return (int)error;
    }
    if (!fake_script_knows(fake_script(), question)) {
        return ENOENT;
    }
    if (limits->files > 0 && open_events >= limits->files) {
        return EMFILE;
    }
    bool fixed = fake_script_is_fixed(fake_script(), attr->type, attr->config);
    unsigned there = is_ours(group) ? general(&events[group]) : 0;
    if (limits->counters > 0 && there + (fixed ? 0 : 1) > limits->counters) {
        return EINVAL;
    }
    if (is_ours(group) && events[group].member_count == MEMBERS_MAX) {
        return ENOSPC;
    }
    return 0;
}

static int add(const struct perf_event_attr *attr, pid_t pid, int group, int index)
{
    int fd = memfd_create("fakepmu", MFD_CLOEXEC); // a page of zeros when mapped: no rdpmc
    if (fd < 0 || fd >= FDS_MAX || ftruncate(fd, 4096 * 129) != 0) {
        if (fd >= 0) {
            (void)fake_real_close(fd);
        }
        return -1;
    }
    struct event *event = &events[fd];
    *event = (struct event){.used = true,
                            .on = !attr->disabled,
                            .leader = group < 0 ? fd : group,
                            .attr = *attr,
                            .system = pid<0, .task = pid> 0 && attr->inherit ? pid : 0,
                            .awaits_exec = attr->enable_on_exec,
                            .thread_index = index};
    event->on = event->on || event->awaits_exec;
    event->began_ns = now_ns();
    tasks_known = tasks_known || event->task != 0;
    double start = 0;
    if (find(&start, FAKE_FROM, event)) {
        event->value = (uint64_t)start;
    }
    struct event *leader = &events[event->leader];
    leader->members[leader->member_count++] = fd;
    open_events++;
    return fd;
}

long fake_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
    (void)pthread_mutex_lock(&lock);
    int index = thread_index();
    struct fake_question question = question_of(attr, index);
    int error = refuse(attr, &question, group);
    if (error == 0 && pid < 0 && cpu < 0) {
        error = EINVAL; // what the kernel says to an uncore event without a cpu
    }
    int fd = error == 0 ? add(attr, pid, group, index) : -1;
    if (error == 0 && fd < 0) {
        error = EMFILE;
    }
    fake_log("open %u:0x%llx,0x%llx pid %d cpu %d group %d -> %d errno %d", attr->type,
             (unsigned long long)attr->config, (unsigned long long)attr->config1, pid, cpu, group,
             fd, fd < 0 ? error : 0);
    (void)pthread_mutex_unlock(&lock);
    if (fd < 0) {
        errno = error;
    }
    return fd;
}

static void begin(struct event *event)
{
    event->began_ns = now_ns();
    event->began_work = work_done;
}

static void wrap(struct event *event)
{
    double bits = 0;
    if (find(&bits, FAKE_WRAP, event) && bits < 64) {
        event->value &= (UINT64_C(1) << (unsigned)bits) - 1;
    }
}

// A set is on the counters as a whole, or not.
static double running_fraction(const struct event *leader)
{
    double fraction = scheduled(leader) ? 1 : 0;
    for (int i = 0; i < leader->member_count; i++) {
        double its = 1;
        if (find(&its, FAKE_RUNNING, &events[leader->members[i]]) && its < fraction) {
            fraction = its;
        }
    }
    return fraction;
}

// One interval of being enabled has ended: what did it count?
static void end(struct event *event)
{
    double fraction = running_fraction(&events[event->leader]), value = 0;
    event->enabled_ns += INTERVAL_NS;
    event->running_ns += (uint64_t)(INTERVAL_NS * fraction);
    if (find(&value, FAKE_BACK, event)) {
        event->value -= (uint64_t)value;
        return;
    }
    if (find(&value, FAKE_STEP, event)) {
        event->value += (uint64_t)(value * fraction);
    } else if (find(&value, FAKE_WORK, event)) {
        event->value += (uint64_t)(value * fraction) * (work_done - event->began_work);
    } else if (find(&value, FAKE_RATE, event)) {
        event->value += (uint64_t)(value * fraction * (double)(now_ns() - event->began_ns));
    }
    wrap(event);
}

// True until the task runs another program than this one. One that is gone did.
static bool still_waits(const struct event *event)
{
    char path[64], own[4096] = "", its[4096] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/exe", event->task);
    return readlink("/proc/self/exe", own, sizeof own - 1) > 0 &&
           readlink(path, its, sizeof its - 1) > 0 && strcmp(own, its) == 0;
}

// Time since the last reading of an event that goes on counting.
static void flow(struct event *event)
{
    uint64_t now = now_ns();
    if (event->awaits_exec && still_waits(event)) {
        event->began_ns = now;
        return;
    }
    event->awaits_exec = false;
    if (event->task != 0 && task_begin_ns == 0) {
        task_begin_ns = event->began_ns;
    }
    double fraction = running_fraction(&events[event->leader]), value = 0;
    uint64_t elapsed = now - event->began_ns;
    uint64_t worked = task_begin_ns == 0                ? 0
                      : task_begin_ns > event->began_ns ? now - task_begin_ns
                                                        : elapsed;
    event->enabled_ns += elapsed;
    event->running_ns += (uint64_t)((double)elapsed * fraction);
    if (event->system && find(&value, FAKE_WORK, event)) {
        event->value += (uint64_t)(value * fraction * (double)worked / INTERVAL_NS);
    } else if (find(&value, FAKE_RATE, event)) {
        event->value += (uint64_t)(value * fraction * (double)elapsed);
    }
    event->began_ns = now;
    wrap(event);
}

static void enable(struct event *event)
{
    if (event->leader != (int)(event - events)) {
        event->on = true;
        return;
    }
    if (event->on) {
        return;
    }
    event->on = true;
    event->settled = false;
    for (int i = 0; i < event->member_count; i++) {
        begin(&events[event->members[i]]);
    }
}

// Counts the interval that runs, once: PAPI reads before it disables, others after.
static void settle(struct event *event)
{
    struct event *leader = &events[event->leader];
    if (leader->on && (leader->task != 0 || (leader->system && tasks_known))) {
        flow(event);
        return;
    }
    if (!leader->on || leader->settled) {
        return;
    }
    leader->settled = true;
    for (int i = 0; i < leader->member_count; i++) {
        end(&events[leader->members[i]]);
    }
    char name[16] = "";
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    work_done += leader->system || fake_script_is_idle(fake_script(), name) ? 0 : 1;
}

static void disable(struct event *event)
{
    if (event->leader == (int)(event - events)) {
        settle(event);
        event->on = false;
    }
}

int fake_event_ioctl(int fd, unsigned long request, void *argument)
{
    int result = 0;
    (void)pthread_mutex_lock(&lock);
    struct event *event = &events[fd];
    if (request == PERF_EVENT_IOC_ENABLE) {
        enable(event);
    } else if (request == PERF_EVENT_IOC_DISABLE) {
        disable(event);
    } else if (request == PERF_EVENT_IOC_RESET) {
        double start = 0;
        (void)find(&start, FAKE_FROM, event);
        event->value = (uint64_t)start;
    } else if (request == PERF_EVENT_IOC_ID) {
        *(uint64_t *)argument = (uint64_t)fd;
    } else {
        errno = ENOTTY;
        result = -1;
    }
    fake_log("ioctl %d 0x%lx -> value %llu", fd, request, (unsigned long long)event->value);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static size_t fill(uint64_t *out, const struct event *event)
{
    uint64_t format = event->attr.read_format;
    bool group = (format & PERF_FORMAT_GROUP) != 0;
    size_t n = 0;
    out[n++] = group ? (uint64_t)event->member_count : event->value;
    if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) {
        out[n++] = event->enabled_ns;
    }
    if ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0) {
        out[n++] = event->running_ns;
    }
    for (int i = 0; group && i < event->member_count; i++) {
        out[n++] = events[event->members[i]].value;
        if ((format & PERF_FORMAT_ID) != 0) {
            out[n++] = (uint64_t)event->members[i];
        }
    }
    return n * sizeof *out;
}

ssize_t fake_event_read(int fd, void *buffer, size_t size)
{
    uint64_t values[3 + 2 * MEMBERS_MAX];
    double unused = 0;
    (void)pthread_mutex_lock(&lock);
    struct event *event = &events[fd];
    settle(event);
    size_t length = fill(values, event);
    // A pinned set that cannot be scheduled reads as end of file (perf_event_open(2)).
    if (find(&unused, FAKE_EOF, event) || (event->attr.pinned && !scheduled(event))) {
        length = 0;
    } else if (find(&unused, FAKE_SHORT, event)) {
        length /= 2;
    }
    fake_log("read %d -> %zu bytes, value %llu", fd, length, (unsigned long long)event->value);
    (void)pthread_mutex_unlock(&lock);
    if (size < length) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(buffer, values, length);
    return (ssize_t)length;
}

void fake_event_close(int fd)
{
    (void)pthread_mutex_lock(&lock);
    struct event *leader = &events[events[fd].leader];
    for (int i = 0; leader->used && i < leader->member_count; i++) {
        if (leader->members[i] == fd) {
            leader->members[i] = leader->members[--leader->member_count];
            break;
        }
    }
    events[fd].used = false;
    open_events--;
    (void)pthread_mutex_unlock(&lock);
}
