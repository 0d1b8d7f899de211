#include "profiler/counter_resolve.h"

#include "profiler/pmu_sysfs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The type of core events: fixed, unless the kernel has several core PMUs and this is one of them.
static uint32_t core_type(const struct counter_resolver *resolver, const struct event_row *row)
{
    struct pmu_box box;
    if (row->type == EVENT_TYPE_RAW && resolver->table->core_pmu != NULL &&
        pmu_boxes(&box, 1, resolver->root, resolver->table->core_pmu) == 1) {
        return box.type;
    }
    return row->type;
}

static size_t resolve_core(struct counter_event *out, const struct counter_resolver *resolver,
                           const struct event_row *row)
{
    *out = (struct counter_event){.row = row,
                                  .type = core_type(resolver, row),
                                  .config = row->config,
                                  .config1 = row->config1,
                                  .weight = row->weight,
                                  .width_bits = resolver->table->width_bits,
                                  .cpu = -1};
    if (row->per_vector) {
        out->weight *= resolver->sve_bytes / 16.0;
    }
    if (row->event != NULL && strncmp(row->event, "PAPI_", 5) == 0) {
        (void)snprintf(out->name, sizeof out->name, "%s", row->event);
    } else if (row->event != NULL && resolver->papi_pmu[0] != '\0') {
        (void)snprintf(out->name, sizeof out->name, "%s::%s", resolver->papi_pmu, row->event);
    }
    (void)snprintf(out->label, sizeof out->label, "%s", row->event != NULL ? row->event : "raw");
    return 1;
}

// libpfm4's name of a box's event: its PMU's '*' stands for the box's number.
static void name_box(struct counter_event *event, const struct event_row *row,
                     const struct pmu_box *box, int cpu)
{
    event->name[0] = '\0';
    if (row->papi_pmu == NULL || row->event == NULL) {
        return;
    }
    size_t length = strlen(row->papi_pmu);
    if (row->papi_pmu[length - 1] == '*') {
        (void)snprintf(event->name, sizeof event->name, "%.*s%u::%s:cpu=%d", (int)(length - 1),
                       row->papi_pmu, box->number, row->event, cpu);
    } else {
        (void)snprintf(event->name, sizeof event->name, "%s::%s:cpu=%d", row->papi_pmu, row->event,
                       cpu);
    }
}

static bool code_box(struct counter_event *event, const struct counter_resolver *resolver,
                     const struct event_row *row, const struct pmu_box *box)
{
    *event = (struct counter_event){.row = row,
                                    .type = box->type,
                                    .config = row->config,
                                    .config1 = row->config1,
                                    .weight = row->weight};
    if (row->terms == NULL) {
        (void)snprintf(event->label, sizeof event->label, "%s/%s/", box->name,
                       row->event != NULL ? row->event : "config");
        return true;
    }
    double scale = (double)NAN;
    (void)snprintf(event->label, sizeof event->label, "%s/%s/", box->name, row->terms);
    if (!pmu_terms(&event->config, &event->config1, &scale, resolver->root, box->name,
                   row->terms)) {
        return false;
    }
    if (!isnan(scale)) {
        event->weight = row->weight < 0 ? -scale : scale;
    }
    return true;
}

static size_t resolve_boxes(struct counter_event *out, size_t max,
                            const struct counter_resolver *resolver, const struct event_row *row)
{
    struct pmu_box boxes[PMU_BOXES_MAX];
    size_t count = 0;
    size_t found = pmu_boxes(boxes, PMU_BOXES_MAX, resolver->root, row->pmu);
    for (size_t b = 0; b < found; b++) {
        struct counter_event event;
        if (!code_box(&event, resolver, row, &boxes[b])) {
            return 0;
        }
        for (size_t c = 0; c < boxes[b].cpu_count && count < max; c++, count++) {
            event.cpu = boxes[b].cpus[c];
            name_box(&event, row, &boxes[b], event.cpu);
            out[count] = event;
        }
    }
    return count;
}

static bool row_is(const struct counter_resolver *resolver, size_t i, enum metric metric,
                   unsigned rank)
{
    const struct event_row *row = &resolver->table->rows[i];
    return row->metric == metric && row->rank == rank &&
           !(row->per_vector && resolver->sve_bytes == 0);
}

// Events of one row, 0 with its fault and what is missing.
static size_t resolve_row(struct counter_event *out, size_t room, enum counter_fault *fault,
                          char *what, const struct counter_resolver *resolver,
                          const struct event_row *row)
{
    size_t added = 0;
    if (room > 0) {
        added = row->pmu == NULL ? resolve_core(out, resolver, row)
                                 : resolve_boxes(out, room, resolver, row);
    }
    if (added == 0) {
        *fault = FAULT_UNSUPPORTED;
        (void)snprintf(what, COUNTER_DETAIL, "no PMU %s in sysfs with %s",
                       row->pmu != NULL ? row->pmu : "core",
                       row->terms != NULL ? row->terms : "a cpumask");
    }
    return added;
}

size_t counter_resolve(struct counter_event *out, enum counter_fault *fault, char *what,
                       const struct counter_resolver *resolver, enum metric metric, unsigned rank)
{
    size_t count = 0;
    what[0] = '\0';
    *fault = FAULT_NO_EVENT;
    for (size_t i = 0; i < resolver->table->row_count; i++) {
        const struct event_row *row = &resolver->table->rows[i];
        if (!row_is(resolver, i, metric, rank)) {
            continue;
        }
        if (resolver->banned != NULL && resolver->banned[i] != FAULT_NONE) {
            *fault = resolver->banned[i];
            (void)snprintf(what, COUNTER_DETAIL, "%s",
                           row->event != NULL ? row->event : row->terms);
            return 0;
        }
        size_t added =
            resolve_row(&out[count], COUNTER_RESOLVED_MAX - count, fault, what, resolver, row);
        if (added == 0) {
            return 0;
        }
        count += added;
    }
    if (count > 0) {
        *fault = FAULT_NONE;
    }
    return count;
}
