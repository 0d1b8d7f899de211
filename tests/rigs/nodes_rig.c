// nodes_rig: the matrix of bandwidths between NUMA nodes as `probe` measures it, in an arena small
// enough for an emulated machine and without a limit of time, as JSON.
#include "machines/detect.h"
#include "profiler/clock.h"
#include "profiler/probe_session.h"

#include <stdio.h>

enum { ARENA_BYTES = 16 << 20 };

static struct status measure(struct probe *probe, const struct machine *machine)
{
    TRY(ceiling_kernels_load(&probe->kernels, probe->host->isa));
    TRY(probe_plan_make(&probe->plan, machine, probe->options, true));
    TRY(arena_map(&probe->arena, ARENA_BYTES, false));
    return probe_numa(probe);
}

int main(void)
{
    static volatile sig_atomic_t signal_seen;
    struct machine machine;
    struct result_run run = {.model_name = ""};
    struct probe_options options = {.levels[LEVEL_DRAM] = true};
    struct status status = machine_detect(&machine);
    const struct probe_host host = {
        .machine = &machine, .isa = isa_detect(), .signal = &signal_seen};
    struct probe probe = {.options = &options, .host = &host, .run = &run, .dram = true};
    probe.deadline = clock_seconds() + 1e6;
    if (status_is_ok(status)) {
        status = measure(&probe, &machine);
    }
    (void)printf("{\"nodes\": %zu, \"numa\": [", machine.node_count);
    for (size_t i = 0; i < run.machine.numa_count; i++) {
        const struct result_numa *row = &run.machine.numa[i];
        (void)printf("%s\n{\"from\": %u, \"to\": %u, \"threads\": %u, \"bytes_per_s\": %.0f}",
                     i > 0 ? "," : "", row->from, row->to, row->threads, row->bytes_per_s.value);
    }
    (void)printf("]}\n");
    for (size_t i = 0; i < run.warning_count; i++) {
        (void)fprintf(stderr, "%s\n", run.warnings[i].text);
    }
    if (!status_is_ok(status)) {
        (void)fprintf(stderr, "%s\n", status.detail);
    }
    return status_is_ok(status) ? 0 : 1;
}
