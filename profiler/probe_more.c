// Beside the roofs of one team: the curve over threads.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBE_CURVE_MAX = 128 };

bool probe_dtype_asked(const struct probe_options *options, const char *dtype)
{
    for (size_t i = 0; i < options->dtype_count; i++) {
        if (strcmp(options->dtypes[i], dtype) == 0) {
            return true;
        }
    }
    return options->dtype_count == 0;
}

// Load from memory by these threads.
static struct status scaling_point(struct reading *out, struct probe *probe,
                                   const struct probe_task *task)
{
    struct probe_session session;
    struct ceiling ceiling;
    TRY(probe_session_open(&session, probe, probe_plan_cpus(&probe->plan, task), task->threads));
    struct status status = ceiling_choose_stream(&ceiling, session.ceilings, LEVEL_DRAM, "load");
    if (status.code == STATUS_OK) {
        ceiling_read(out, NULL, NULL, session.ceilings, &ceiling, probe_repeats(probe));
    }
    probe_session_close(&session);
    return status;
}

static void conclude_curve(struct result_machine *machine)
{
    unsigned threads[PROBE_CURVE_MAX];
    double rates[PROBE_CURVE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < machine->scaling_count && count < PROBE_CURVE_MAX; i++) {
        threads[count] = machine->scaling[i].threads;
        rates[count++] = machine->scaling[i].bytes_per_s.value;
    }
    double knee = probe_knee(threads, rates, count);
    machine->saturating_threads = isnan(knee)
                                      ? reading_absent(ABSENT_FAILED,
                                                       "no knee was reached: the last thread added "
                                                       "bandwidth, or there was only one",
                                                       "more cores would help a load from memory")
                                      : reading_plain(knee, ORIGIN_TIMED);
}

struct status probe_scaling(struct probe *probe)
{
    struct result_machine *machine = &probe->run->machine;
    if (probe->options->quick || !probe->dram) {
        machine->saturating_threads =
            reading_absent(ABSENT_NOT_ASKED, "the curve over threads was not measured", NULL);
        return status_ok();
    }
    for (size_t i = 0; i < probe->plan.task_count; i++) {
        const struct probe_task *task = &probe->plan.tasks[i];
        struct reading rate;
        TRY(probe_interrupted(probe));
        if (task->kind != PROBE_SCALING ||
            !probe_has_time_for(probe, "the curve over", "threads")) {
            continue;
        }
        probe_progress(probe, "scaling");
        struct status status = scaling_point(&rate, probe, task);
        TRY(probe_in_time(probe, status, "the curve over", "threads"));
        if (status.code != STATUS_OK || !reading_is_present(&rate)) {
            continue;
        }
        struct result_scaling *row =
            result_append(&machine->scaling, &machine->scaling_count, sizeof *row);
        if (row != NULL) {
            *row = (struct result_scaling){
                .level = "DRAM", .kernel = "load", .threads = task->threads, .bytes_per_s = rate};
        }
    }
    conclude_curve(machine);
    return status_ok();
}
