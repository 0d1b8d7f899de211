// Regions of a program that lmroof runs. The state is the process's: this library lives in programs
// of others. What it counts goes into a file at the end, one line a region.
#include "profiler/marker/lmroof.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REGIONS_MAX = 64, EVENTS_MAX = 16, DEPTH_MAX = 16, NAME_MAX_BYTES = 48 };

struct region {
    char name[NAME_MAX_BYTES];
    uint64_t calls;
    unsigned inside;  // threads that are in it now
    unsigned threads; // most at once
    uint64_t since_ns;
    uint64_t wall_ns; // with at least one thread inside
    double flop;
    double bytes;
    double counts[EVENTS_MAX];
    uint64_t enabled_ns;
    uint64_t running_ns;
    int failed; // a thread could not count
};

struct event {
    uint32_t type;
    uint64_t config;
    uint64_t config1;
};

struct reading {
    uint64_t enabled_ns;
    uint64_t running_ns;
    uint64_t value[EVENTS_MAX];
};

/** What a thread has open, and the regions that it is in. */
struct thread {
    int prepared;
    int leader; // -1: nothing is counted here
    int depth;
    struct region *inside[DEPTH_MAX];
    struct reading at[DEPTH_MAX];
};

int lmroof_markers_on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region regions[REGIONS_MAX];
static size_t region_count;
static struct event events[EVENTS_MAX];
static size_t event_count;
static const char *path;
static _Thread_local struct thread here;

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

// "TYPE:CONFIG:CONFIG1 ..." in hexadecimal, as lmroof passes it.
static void read_events(const char *text)
{
    while (text != NULL && event_count < EVENTS_MAX) {
        unsigned type = 0;
        unsigned long long config = 0;
        unsigned long long config1 = 0;
        int used = 0;
        if (sscanf(text, " %x:%llx:%llx%n", &type, &config, &config1, &used) != 3) {
            return;
        }
        events[event_count++] = (struct event){.type = type, .config = config, .config1 = config1};
        text += used;
    }
}

static void write_region(FILE *file, const struct region *region)
{
    (void)fprintf(file, "%s %llu %u %llu %.17g %.17g %d %llu %llu", region->name,
                  (unsigned long long)region->calls, region->threads,
                  (unsigned long long)region->wall_ns, region->flop, region->bytes, region->failed,
                  (unsigned long long)region->enabled_ns, (unsigned long long)region->running_ns);
    for (size_t i = 0; i < event_count; i++) {
        (void)fprintf(file, " %.17g", region->counts[i]);
    }
    (void)fputc('\n', file);
}

static void write_all(void)
{
    FILE *file = fopen(path, "ae");
    if (file == NULL) {
        return; // nothing that the program should hear of
    }
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < region_count; i++) {
        write_region(file, &regions[i]);
    }
    (void)pthread_mutex_unlock(&lock);
    (void)fclose(file);
}

// A child that goes on without exec begins with nothing of its parent's.
static void forget(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    region_count = 0;
    memset(&here, 0, sizeof here);
}

__attribute__((constructor)) static void prepare(void)
{
    path = getenv("LMROOF_MARKER_FILE");
    if (path == NULL || path[0] == '\0') {
        return;
    }
    read_events(getenv("LMROOF_MARKER_EVENTS"));
    lmroof_markers_on = 1;
    (void)pthread_atfork(NULL, NULL, forget);
    (void)atexit(write_all);
}

static int open_event(const struct event *event, int leader)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = event->type,
        .config = event->config,
        .config1 = event->config1,
        .disabled = leader < 0,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .read_format =
            PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

// All events as one set of this thread, or none: a part of them would be no intensity.
static void prepare_thread(void)
{
    int fds[EVENTS_MAX];
    size_t opened = 0;
    here.prepared = 1;
    here.leader = -1;
    while (opened < event_count) {
        fds[opened] = open_event(&events[opened], opened == 0 ? -1 : fds[0]);
        if (fds[opened] < 0) {
            break;
        }
        opened++;
    }
    if (opened == event_count && opened > 0) {
        here.leader = fds[0];
        return;
    }
    while (opened > 0) {
        (void)close(fds[--opened]);
    }
}

static int read_counts(struct reading *out)
{
    uint64_t buffer[3 + EVENTS_MAX] = {0};
    ssize_t want = (ssize_t)((3 + event_count) * sizeof *buffer);
    if (read(here.leader, buffer, sizeof buffer) != want) {
        return -1;
    }
    out->enabled_ns = buffer[1];
    out->running_ns = buffer[2];
    memcpy(out->value, buffer + 3, event_count * sizeof *buffer);
    return 0;
}

static struct region *find_region(const char *name)
{
    for (size_t i = 0; i < region_count; i++) {
        if (strcmp(regions[i].name, name) == 0) {
            return &regions[i];
        }
    }
    size_t length = strlen(name);
    if (region_count == REGIONS_MAX || length == 0 || length >= NAME_MAX_BYTES ||
        strpbrk(name, " \t\r\n\v\f") != NULL) {
        return NULL;
    }
    struct region *region = &regions[region_count++];
    memset(region, 0, sizeof *region);
    memcpy(region->name, name, length);
    return region;
}

static struct region *enter(const char *name)
{
    (void)pthread_mutex_lock(&lock);
    struct region *region = find_region(name);
    if (region != NULL) {
        region->since_ns = region->inside == 0 ? now_ns() : region->since_ns;
        region->inside++;
        region->threads = region->inside > region->threads ? region->inside : region->threads;
        region->failed |= event_count > 0 && here.leader < 0;
    }
    (void)pthread_mutex_unlock(&lock);
    return region;
}

void lmroof_marker_begin(const char *name)
{
    if (!here.prepared) {
        prepare_thread();
    }
    if (here.depth >= DEPTH_MAX) {
        here.depth++; // counted, so that the ends match
        return;
    }
    struct reading *at = &here.at[here.depth];
    memset(at, 0, sizeof *at);
    struct region *region = enter(name);
    here.inside[here.depth++] = region;
    if (here.leader < 0) {
        return;
    }
    int failed = read_counts(at);
    if (here.depth == 1) {
        failed |= ioctl(here.leader, PERF_EVENT_IOC_ENABLE, 0);
    }
    if (failed != 0 && region != NULL) {
        region->failed = 1;
    }
}

static void leave(struct region *region, uint64_t end_ns, const struct reading *from,
                  const struct reading *to)
{
    (void)pthread_mutex_lock(&lock);
    region->calls++;
    region->inside--;
    region->wall_ns += region->inside == 0 ? end_ns - region->since_ns : 0;
    region->failed |= to == NULL && event_count > 0;
    for (size_t i = 0; to != NULL && i < event_count; i++) {
        region->counts[i] += (double)(to->value[i] - from->value[i]);
    }
    if (to != NULL) {
        region->enabled_ns += to->enabled_ns - from->enabled_ns;
        region->running_ns += to->running_ns - from->running_ns;
    }
    (void)pthread_mutex_unlock(&lock);
}

void lmroof_marker_end(const char *name)
{
    uint64_t end_ns = now_ns();
    if (here.depth > DEPTH_MAX || here.depth == 0) {
        here.depth -= here.depth > 0;
        return;
    }
    struct region *region = here.inside[here.depth - 1];
    if (region == NULL || strcmp(region->name, name) != 0) {
        here.depth -= region == NULL; // an end without its beginning changes nothing
        return;
    }
    here.depth--;
    struct reading now;
    int counted = here.leader >= 0;
    if (counted && here.depth == 0) {
        counted = ioctl(here.leader, PERF_EVENT_IOC_DISABLE, 0) == 0;
    }
    counted = counted && read_counts(&now) == 0;
    leave(region, end_ns, &here.at[here.depth], counted ? &now : NULL);
}

void lmroof_marker_work(const char *name, double flop, double bytes)
{
    (void)pthread_mutex_lock(&lock);
    struct region *region = find_region(name);
    if (region != NULL) {
        region->flop += flop;
        region->bytes += bytes;
    }
    (void)pthread_mutex_unlock(&lock);
}
