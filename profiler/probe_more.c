// Beside the roofs of one team: GEMM and the curve over threads.
#include "profiler/ceiling_gemm.h"
#include "profiler/clock.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_CURVE_MAX = 128 };

// n that makes one product last about seconds, from one small product of the same library; of a few
// sizes, so that the next probe takes the same.
static struct status gemm_size(size_t *n, struct probe *probe, struct probe_session *session,
                               const char *dtype, double seconds)
{
    enum { SMALL = 1024, MOST = 8192 };
    struct gemm_ceiling *gemm = NULL;
    struct team_sample timing;
    TRY(gemm_ceiling_create(&gemm, probe->host->blas, session->team, dtype, SMALL));
    (void)gemm_ceiling_sample(&timing, gemm);
    gemm_ceiling_destroy(gemm);
    double wanted = SMALL * cbrt(seconds / timing.seconds);
    *n = SMALL;
    while (*n < MOST && (double)*n * 1.5 < wanted) {
        *n *= 2;
    }
    return status_ok();
}

// A product at a time, with a look after each.
static void sample_gemm(struct result_compute *row, struct gemm_ceiling *gemm,
                        struct probe_session *session, unsigned least, double seconds)
{
    struct probe_samples *samples = calloc(1, sizeof *samples);
    double enough = clock_seconds() + seconds;
    gemm_ceiling_describe(row, gemm);
    witness_look(&session->last, session->witness);
    while (samples != NULL && samples->count < READING_SAMPLES_MAX &&
           (samples->count < least || clock_seconds() < enough)) {
        struct team_sample timing;
        double per_s = gemm_ceiling_sample(&timing, gemm);
        probe_session_keep(session, samples, per_s, (double)NAN, &timing.signs);
    }
    if (samples != NULL) {
        probe_samples_read(&row->flop_per_s, NULL, row->unsteady, sizeof row->unsteady, samples,
                           &session->view, least);
    }
    free(samples);
}

static struct status one_gemm(struct probe *probe, struct probe_session *session, const char *dtype)
{
    struct result_machine *machine = &probe->run->machine;
    struct gemm_ceiling *gemm = NULL;
    size_t n = 0;
    bool quick = probe->options->quick;
    TRY(gemm_size(&n, probe, session, dtype, quick ? 0.06 : 0.3));
    TRY(gemm_ceiling_create(&gemm, probe->host->blas, session->team, dtype, n));
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row != NULL) {
        sample_gemm(row, gemm, session, 5, quick ? 0.6 : 3);
    }
    gemm_ceiling_destroy(gemm);
    return status_ok();
}

bool probe_dtype_asked(const struct probe_options *options, const char *dtype)
{
    for (size_t i = 0; i < options->dtype_count; i++) {
        if (strcmp(options->dtypes[i], dtype) == 0) {
            return true;
        }
    }
    return options->dtype_count == 0;
}

struct status probe_gemm(struct probe *probe, struct probe_session *session)
{
    static const char *const dtypes[] = {"f32", "f64"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes && probe->host->blas != NULL; i++) {
        TRY(probe_interrupted(probe));
        if (probe_dtype_asked(probe->options, dtypes[i]) &&
            probe_has_time(probe, probe->deadline)) {
            probe_progress(probe, "GEMM");
            TRY(one_gemm(probe, session, dtypes[i]));
        }
    }
    return status_ok();
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
        if (task->kind != PROBE_SCALING || !probe_has_time(probe, probe->deadline)) {
            continue;
        }
        probe_progress(probe, "scaling");
        TRY(scaling_point(&rate, probe, task));
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
