// Counters through PAPI: the names of libpfm4, its presets, and whatever components it has.
#include "profiler/counter_source.h"

#include <papi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct papi_group {
    int event_set;
    size_t count;
    long long values[COUNTER_EVENTS_MAX];
    bool valid; /**< the last stop gave values */
};

// PAPI's own errors in terms of what the kernel said to it (papi 7.0.0 perf_event component).
static enum counter_fault fault_of(int papi_error)
{
    switch (papi_error) {
    case PAPI_OK:
        return FAULT_NONE;
    case PAPI_EPERM:
        return FAULT_PERMISSION;
    case PAPI_ENOEVNT:
    case PAPI_ENOSUPP:
    case PAPI_ENOCMP:
    case PAPI_EATTR:
        return FAULT_UNSUPPORTED;
    case PAPI_ECNFLCT:
    case PAPI_EINVAL:
        return FAULT_NO_FIT;
    case PAPI_ECOUNT:
    case PAPI_ENOMEM:
        return FAULT_RESOURCES;
    default:
        return FAULT_READ;
    }
}

static unsigned long thread_id(void)
{
    return (unsigned long)pthread_self();
}

// The component that counts core events, if PAPI could start it.
static enum counter_fault check_component(char *detail)
{
    int index = PAPI_get_component_index("perf_event");
    const PAPI_component_info_t *info = index < 0 ? NULL : PAPI_get_component_info(index);
    if (info == NULL) {
        (void)snprintf(detail, COUNTER_DETAIL, "this PAPI has no perf_event component");
        return FAULT_UNSUPPORTED;
    }
    if (info->disabled == 0) {
        return FAULT_NONE;
    }
    (void)snprintf(detail, COUNTER_DETAIL, "PAPI: %.100s", info->disabled_reason);
    return strstr(info->disabled_reason, "paranoid") != NULL ? FAULT_PERMISSION : FAULT_UNSUPPORTED;
}

// PAPI stays initialised until the process ends: shutting it down leaves dangling thread data in
// the other threads of OpenMP's pool.
static enum counter_fault open_source(void **out, const char *configuration, char *detail)
{
    (void)configuration;
    *out = NULL;
    detail[0] = '\0';
    if (PAPI_is_initialized() == PAPI_NOT_INITED) {
        int version = PAPI_library_init(PAPI_VER_CURRENT);
        if (version != PAPI_VER_CURRENT) {
            (void)snprintf(detail, COUNTER_DETAIL, "PAPI_library_init: %s",
                           version > 0 ? "library and header differ" : PAPI_strerror(version));
            return FAULT_UNSUPPORTED;
        }
        int error = PAPI_thread_init(thread_id);
        if (error != PAPI_OK) {
            (void)snprintf(detail, COUNTER_DETAIL, "PAPI_thread_init: %s", PAPI_strerror(error));
            return FAULT_UNSUPPORTED;
        }
    }
    return check_component(detail);
}

static void close_source(void *source)
{
    (void)source;
}

static void close_group(void *handle)
{
    struct papi_group *group = handle;
    if (group == NULL) {
        return;
    }
    (void)PAPI_cleanup_eventset(group->event_set);
    (void)PAPI_destroy_eventset(&group->event_set);
    free(group);
}

static int add_events(struct papi_group *group, const struct counter_event *events, size_t count,
                      size_t *refused)
{
    for (size_t i = 0; i < count; i++) {
        *refused = i;
        int error = events[i].name[0] == '\0'
                        ? PAPI_ENOEVNT
                        : PAPI_add_named_event(group->event_set, events[i].name);
        if (error != PAPI_OK) {
            return error;
        }
        group->count++;
    }
    return PAPI_OK;
}

static enum counter_fault open_group(void **out, void *source, const struct counter_event *events,
                                     size_t count, size_t *refused, char *detail)
{
    (void)source;
    detail[0] = '\0';
    *refused = 0;
    struct papi_group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return FAULT_RESOURCES;
    }
    group->event_set = PAPI_NULL;
    int error = PAPI_register_thread();
    if (error == PAPI_OK) {
        error = PAPI_create_eventset(&group->event_set);
    }
    if (error == PAPI_OK) {
        error = add_events(group, events, count, refused);
    }
    if (error != PAPI_OK) {
        (void)snprintf(detail, COUNTER_DETAIL, "PAPI: %s", PAPI_strerror(error));
        close_group(group);
        return fault_of(error);
    }
    *out = group;
    return FAULT_NONE;
}

static enum counter_fault start_group(void *handle)
{
    struct papi_group *group = handle;
    group->valid = false;
    return PAPI_start(group->event_set) == PAPI_OK ? FAULT_NONE : FAULT_READ;
}

static enum counter_fault stop_group(void *handle)
{
    struct papi_group *group = handle;
    group->valid = PAPI_stop(group->event_set, group->values) == PAPI_OK;
    return group->valid ? FAULT_NONE : FAULT_READ;
}

// Sets are pinned by PAPI and never multiplexed here: they run all the time or fail. PAPI has no
// way to say for how long; a negative value is a count that went backwards.
static enum counter_fault read_group(struct counter_values *out, void *handle)
{
    const struct papi_group *group = handle;
    if (!group->valid) {
        return FAULT_READ;
    }
    for (size_t i = 0; i < group->count; i++) {
        if (group->values[i] < 0) {
            return FAULT_NEGATIVE;
        }
        out->value[i] = (uint64_t)group->values[i];
        out->enabled_ns[i] = 0;
        out->running_ns[i] = 0;
    }
    return FAULT_NONE;
}

const struct counter_source counter_source_papi = {
    .name = "papi",
    .counts_from_start = true,
    .open_source = open_source,
    .close_source = close_source,
    .open = open_group,
    .start = start_group,
    .stop = stop_group,
    .read = read_group,
    .close = close_group,
};
