#include "profiler/process_counters_parts.h"

#include <stdio.h>

static const struct {
    enum metric metric;
    enum energy_domain domain;
} energy_metrics[] = {{METRIC_PACKAGE_JOULES, ENERGY_PACKAGE}, {METRIC_DRAM_JOULES, ENERGY_DRAM}};

enum { ENERGY_METRICS = sizeof energy_metrics / sizeof *energy_metrics };

struct status process_energy_open(struct process_counters *counters, enum counter_policy policy)
{
    if (policy == COUNTERS_OFF) {
        return status_ok();
    }
    TRY(energy_open(&counters->energy, ""));
    for (size_t i = 0; i < ENERGY_METRICS; i++) {
        struct metric_state *state = &counters->metrics[energy_metrics[i].metric];
        struct reading joules = energy_joules(counters->energy, energy_metrics[i].domain);
        if (state->counted) {
            continue;
        }
        state->by_powercap = reading_is_present(&joules);
        state->counted = state->by_powercap;
        if (state->by_powercap) {
            (void)snprintf(state->answer.source, sizeof state->answer.source, "powercap");
            (void)snprintf(state->answer.events, sizeof state->answer.events, "%s",
                           energy_zones(counters->energy, energy_metrics[i].domain));
        } else if (joules.absence.state != ABSENT_UNSUPPORTED) {
            state->answer.value = joules;
        }
    }
    return status_ok();
}

void process_energy_read(struct process_counters *counters)
{
    if (counters->energy == NULL) {
        return;
    }
    energy_update(counters->energy);
    for (size_t i = 0; i < ENERGY_METRICS; i++) {
        struct metric_state *state = &counters->metrics[energy_metrics[i].metric];
        struct reading joules = energy_joules(counters->energy, energy_metrics[i].domain);
        if (state->by_powercap) {
            state->total = joules.value;
            state->fault = reading_is_present(&joules) ? state->fault : FAULT_READ;
        }
    }
}

bool process_energy_counts(const struct process_counters *counters)
{
    bool any = false;
    for (size_t i = 0; i < ENERGY_METRICS; i++) {
        any = any || counters->metrics[energy_metrics[i].metric].by_powercap;
    }
    return any;
}
