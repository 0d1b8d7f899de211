// Beside the roofs of one team: GEMM and the curve over threads.
#include "profiler/ceiling_dnnl.h"
#include "profiler/ceiling_gemm.h"
#include "profiler/clock.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_CURVE_MAX = 128 };

// A library's product of square matrices, whatever the library.
struct product {
    struct gemm_ceiling *blas;
    struct dnnl_ceiling *dnnl;
};

static struct status open_product(struct product *out, struct probe *probe,
                                  struct probe_session *session, const char *dtype, size_t n)
{
    *out = (struct product){.blas = NULL};
    return strcmp(dtype, "f32") == 0 || strcmp(dtype, "f64") == 0
               ? gemm_ceiling_create(&out->blas, probe->host->blas, session->team, dtype, n)
               : dnnl_ceiling_create(&out->dnnl, session->team, dtype, n);
}

static void close_product(struct product *product)
{
    gemm_ceiling_destroy(product->blas);
    dnnl_ceiling_destroy(product->dnnl);
}

static double time_product(struct team_sample *timing, struct product *product)
{
    return product->blas != NULL ? gemm_ceiling_sample(timing, product->blas)
                                 : dnnl_ceiling_sample(timing, product->dnnl);
}

// n that makes one product last about seconds, from one small product of the same library; of a few
// sizes, so that the next probe takes the same.
static struct status product_size(size_t *n, struct probe *probe, struct probe_session *session,
                                  const char *dtype, double seconds)
{
    enum { SMALL = 1024, MOST = 8192 };
    struct product product;
    struct team_sample timing;
    TRY(open_product(&product, probe, session, dtype, SMALL));
    (void)time_product(&timing, &product);
    close_product(&product);
    double wanted = SMALL * cbrt(seconds / timing.seconds);
    *n = SMALL;
    while (*n < MOST && (double)*n * 1.5 < wanted) {
        *n *= 2;
    }
    return status_ok();
}

// A product at a time, with a look after each.
static void sample_product(struct result_compute *row, struct product *product,
                           struct probe_session *session, unsigned least, double seconds)
{
    struct probe_samples *samples = calloc(1, sizeof *samples);
    double enough = clock_seconds() + seconds;
    if (product->blas != NULL) {
        gemm_ceiling_describe(row, product->blas);
    } else {
        dnnl_ceiling_describe(row, product->dnnl);
    }
    witness_look(&session->last, session->witness);
    while (samples != NULL && samples->count < PROBE_WINDOWS_MAX &&
           (samples->count < least || clock_seconds() < enough)) {
        struct team_sample timing;
        double per_s = time_product(&timing, product);
        probe_session_keep(session, samples, per_s, (double)NAN, &timing.signs);
    }
    if (samples != NULL) {
        probe_samples_read(&row->flop_per_s, NULL, row->unsteady, sizeof row->unsteady, samples,
                           &session->view, least);
    }
    free(samples);
}

static struct status one_product(struct probe *probe, struct probe_session *session,
                                 const char *dtype)
{
    struct result_machine *machine = &probe->run->machine;
    struct product product;
    size_t n = 0;
    bool quick = probe->options->quick;
    TRY(product_size(&n, probe, session, dtype, quick ? 0.06 : 0.2));
    TRY(open_product(&product, probe, session, dtype, n));
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row != NULL) {
        sample_product(row, &product, session, 5, quick ? 0.3 : 1.2);
    }
    close_product(&product);
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
    static const struct {
        const char *dtype;
        bool blas;
    } products[] = {{"f32", true}, {"f64", true}, {"bf16", false}, {"int8", false}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        TRY(probe_interrupted(probe));
        if ((products[i].blas && probe->host->blas == NULL) ||
            !probe_dtype_asked(probe->options, products[i].dtype) ||
            !probe_has_time(probe, probe->deadline)) {
            continue;
        }
        probe_progress(probe, "GEMM");
        struct status status = one_product(probe, session, products[i].dtype);
        // oneDNN may be missing, or have no kernel for this CPU: then there is no such roof.
        if (status.code != STATUS_UNAVAILABLE || products[i].blas) {
            TRY(status);
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
