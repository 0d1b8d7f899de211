#include "profiler/exec_regions.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_VARIABLE "LMROOF_MARKER_FILE"
#define EVENTS_VARIABLE "LMROOF_MARKER_EVENTS"

enum { LINE = 2048, EVENTS = 16 };

static const double nanosecond = 1e-9;

struct status exec_markers_offer(struct exec_markers *out, const struct process_counters *counters)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(out->path, sizeof out->path, "%.200s/lmroof-markers-XXXXXX",
                   folder != NULL && folder[0] == '/' ? folder : "/tmp");
    int fd = mkostemp(out->path, O_CLOEXEC);
    if (fd < 0) {
        struct status status = status_error(STATUS_SYSTEM, "%s: cannot make a file for markers: %s",
                                            out->path, strerror(errno));
        out->path[0] = '\0';
        return status;
    }
    (void)close(fd);
    size_t count = 0;
    const struct counter_event *events = process_counters_list(&count, counters);
    char text[LINE] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && i < EVENTS; i++) {
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%x:%llx:%llx", i > 0 ? " " : "", events[i].type,
            (unsigned long long)events[i].config, (unsigned long long)events[i].config1);
    }
    (void)setenv(FILE_VARIABLE, out->path, 1);
    (void)setenv(EVENTS_VARIABLE, text, 1);
    return status_ok();
}

void exec_markers_end(struct exec_markers *markers)
{
    if (markers->path[0] != '\0') {
        (void)unlink(markers->path);
        (void)unsetenv(FILE_VARIABLE);
        (void)unsetenv(EVENTS_VARIABLE);
    }
    markers->path[0] = '\0';
}

static struct exec_region *find(struct exec_region *regions, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(regions[i].name, name) == 0) {
            return &regions[i];
        }
    }
    if (*count == EXEC_REGIONS_MAX) {
        return NULL;
    }
    struct exec_region *region = &regions[(*count)++];
    *region = (struct exec_region){.counted = true, .running_fraction = (double)NAN};
    (void)snprintf(region->name, sizeof region->name, "%s", name);
    return region;
}

/** A line of the file, less its counts. */
struct line {
    char name[EXEC_REGION_NAME];
    unsigned long long calls;
    unsigned threads;
    unsigned long long wall_ns;
    double flop;
    double bytes;
    int failed;
    unsigned long long enabled_ns;
    unsigned long long running_ns;
};

static bool parse_line(struct line *out, double counts[EVENTS], size_t events, const char *text)
{
    int used = 0;
    if (sscanf(text, "%47s %llu %u %llu %lf %lf %d %llu %llu%n", out->name, &out->calls,
               &out->threads, &out->wall_ns, &out->flop, &out->bytes, &out->failed,
               &out->enabled_ns, &out->running_ns, &used) != 9 ||
        !isfinite(out->flop) || !isfinite(out->bytes) || out->flop < 0 || out->bytes < 0) {
        return false;
    }
    for (size_t i = 0; i < events; i++) {
        char *end = NULL;
        counts[i] = strtod(text + used, &end);
        if (end == text + used || !(counts[i] >= 0)) {
            return false;
        }
        used = (int)(end - text);
    }
    return text[used] == '\n';
}

static void add_line(struct exec_region *region, const struct line *line, const double *counts,
                     const struct counter_event *events, size_t event_count)
{
    region->calls += line->calls;
    region->threads = line->threads > region->threads ? line->threads : region->threads;
    region->seconds += (double)line->wall_ns * nanosecond;
    region->flop += line->flop;
    region->bytes += line->bytes;
    region->counted = region->counted && line->failed == 0 && event_count > 0;
    double fraction =
        line->enabled_ns > 0 ? (double)line->running_ns / (double)line->enabled_ns : (double)NAN;
    region->running_fraction =
        isnan(region->running_fraction) ? fraction : fmin(region->running_fraction, fraction);
    for (size_t i = 0; i < event_count && fraction > 0; i++) {
        region->counts[events[i].row->metric] += counts[i] * events[i].weight / fraction;
    }
}

// Metrics without an event, or of a region that failed, are not 0.
static void forget_uncounted(struct exec_region *region, const struct counter_event *events,
                             size_t event_count)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        bool known = false;
        for (size_t i = 0; i < event_count; i++) {
            known = known || events[i].row->metric == (enum metric)m;
        }
        if (!known || !region->counted || !(region->running_fraction >= COUNTER_RUNNING_USABLE)) {
            region->counts[m] = (double)NAN;
        }
    }
}

size_t exec_markers_collect(struct exec_region out[EXEC_REGIONS_MAX],
                            const struct exec_markers *markers,
                            const struct process_counters *counters)
{
    size_t count = 0;
    size_t events = 0;
    const struct counter_event *list = process_counters_list(&events, counters);
    events = events < EVENTS ? events : EVENTS;
    FILE *file = fopen(markers->path, "re");
    char text[LINE];
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        struct line line = {.calls = 0};
        double counts[EVENTS] = {0};
        struct exec_region *region =
            parse_line(&line, counts, events, text) ? find(out, &count, line.name) : NULL;
        if (region != NULL) {
            add_line(region, &line, counts, list, events);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    for (size_t i = 0; i < count; i++) {
        forget_uncounted(&out[i], list, events);
    }
    return count;
}
