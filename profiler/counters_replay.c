// Counts from a recording. The file is text: a first line "lmroof-replay 1", then one line for
// each event: NAME COUNT [RUNNING_FRACTION], or NAME error ERRNO_NAME. NAME is the event's libpfm4
// spelling without the PMU, or its sysfs terms. COUNT is what one thread (one box) counts in one
// run of the measured work. '#' starts a comment. Events that the file does not name are not there.
#include "profiler/counter_source.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, EVENTS_MAX = 512 };

struct replay_event {
    char name[COUNTER_NAME];
    uint64_t count;
    double running_fraction;
    int error;
};

struct replay {
    size_t count;
    struct replay_event events[EVENTS_MAX];
};

struct replay_group {
    size_t count;
    uint64_t intervals;
    const struct replay_event *events[COUNTER_EVENTS_MAX];
};

static const struct {
    const char *name;
    int error;
} errors[] = {{"EACCES", EACCES}, {"EPERM", EPERM},   {"ENOENT", ENOENT}, {"ENODEV", ENODEV},
              {"ENOSPC", ENOSPC}, {"EINVAL", EINVAL}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}};

static bool parse_error(struct replay_event *event, const char *word)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (strcmp(errors[i].name, word) == 0) {
            event->error = errors[i].error;
            return true;
        }
    }
    return false;
}

static bool parse_numbers(struct replay_event *event, const char *count, const char *fraction)
{
    char *end = NULL;
    errno = 0;
    event->count = strtoull(count, &end, 0);
    if (errno != 0 || end == count || *end != '\0' || !isdigit((unsigned char)count[0])) {
        return false;
    }
    event->running_fraction = 1;
    if (fraction != NULL) {
        event->running_fraction = strtod(fraction, &end);
        return end != fraction && *end == '\0' && event->running_fraction >= 0 &&
               event->running_fraction <= 1;
    }
    return true;
}

// True if the line is empty, or gave an event.
static bool parse_line(struct replay *replay, char *line)
{
    line[strcspn(line, "#\n")] = '\0';
    char *save = NULL;
    const char *name = strtok_r(line, " \t", &save);
    if (name == NULL) {
        return true;
    }
    const char *first = strtok_r(NULL, " \t", &save);
    const char *second = strtok_r(NULL, " \t", &save);
    if (first == NULL || strtok_r(NULL, " \t", &save) != NULL || replay->count == EVENTS_MAX ||
        strlen(name) >= COUNTER_NAME) {
        return false;
    }
    struct replay_event *event = &replay->events[replay->count++];
    (void)snprintf(event->name, sizeof event->name, "%s", name);
    if (strcmp(first, "error") == 0) {
        return second != NULL && parse_error(event, second);
    }
    return parse_numbers(event, first, second);
}

static bool parse_file(struct replay *replay, FILE *file, char *detail)
{
    char line[LINE_MAX_BYTES] = "";
    unsigned number = 1;
    for (; fgets(line, sizeof line, file) != NULL; number++) {
        bool whole = strchr(line, '\n') != NULL || feof(file) != 0;
        bool fine = number == 1 ? strcmp(line, "lmroof-replay 1\n") == 0
                                : whole && parse_line(replay, line);
        if (!fine) {
            (void)snprintf(detail, COUNTER_DETAIL, "line %u is not %s", number,
                           number == 1 ? "'lmroof-replay 1'" : "'NAME COUNT [FRACTION]'");
            return false;
        }
    }
    if (number == 1) {
        (void)snprintf(detail, COUNTER_DETAIL, "line 1 is missing: 'lmroof-replay 1'");
    }
    return number > 1;
}

static enum counter_fault open_source(void **out, const char *configuration, char *detail)
{
    detail[0] = '\0';
    FILE *file = configuration == NULL ? NULL : fopen(configuration, "re");
    if (file == NULL) {
        (void)snprintf(detail, COUNTER_DETAIL, "cannot read the recording: %s", strerror(errno));
        return FAULT_READ;
    }
    struct replay *replay = calloc(1, sizeof *replay);
    bool parsed = replay != NULL && parse_file(replay, file, detail);
    (void)fclose(file);
    if (!parsed) {
        free(replay);
        return FAULT_READ;
    }
    *out = replay;
    return FAULT_NONE;
}

static const struct replay_event *find(const struct replay *replay, const struct event_row *row)
{
    for (size_t i = 0; i < replay->count; i++) {
        const char *name = replay->events[i].name;
        if ((row->event != NULL && strcmp(row->event, name) == 0) ||
            (row->terms != NULL && strcmp(row->terms, name) == 0)) {
            return &replay->events[i];
        }
    }
    return NULL;
}

static enum counter_fault open_group(void **out, void *source, const struct counter_event *events,
                                     size_t count, size_t *refused, char *detail)
{
    struct replay_group *group = calloc(1, sizeof *group);
    detail[0] = '\0';
    *refused = 0;
    if (group == NULL) {
        return FAULT_RESOURCES;
    }
    for (size_t i = 0; i < count; i++) {
        const struct replay_event *event = find(source, events[i].row);
        int error = event == NULL ? ENOENT : event->error;
        if (error != 0) {
            *refused = i;
            (void)snprintf(detail, COUNTER_DETAIL, "recording: %s", strerror(error));
            free(group);
            return counter_fault_of_errno(error);
        }
        group->events[group->count++] = event;
    }
    *out = group;
    return FAULT_NONE;
}

static enum counter_fault start_group(void *group)
{
    (void)group;
    return FAULT_NONE;
}

static enum counter_fault stop_group(void *handle)
{
    struct replay_group *group = handle;
    group->intervals++;
    return FAULT_NONE;
}

static enum counter_fault read_group(struct counter_values *out, void *handle)
{
    const struct replay_group *group = handle;
    const double interval_ns = 1e6;
    for (size_t i = 0; i < group->count; i++) {
        const struct replay_event *event = group->events[i];
        out->value[i] = event->count * group->intervals;
        out->enabled_ns[i] = (uint64_t)interval_ns * group->intervals;
        out->running_ns[i] =
            (uint64_t)llround(event->running_fraction * interval_ns) * group->intervals;
    }
    return FAULT_NONE;
}

const struct counter_source counter_source_replay = {
    .name = "replay",
    .open_source = open_source,
    .close_source = free,
    .open = open_group,
    .start = start_group,
    .stop = stop_group,
    .read = read_group,
    .close = free,
};
