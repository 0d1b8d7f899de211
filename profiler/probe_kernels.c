// What our own kernel of each weight format reaches with its weights in cache: the roof that its
// format leaves, beside the FMA peak.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "workloads/linear.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const enum linear_class classes[] = {LINEAR_FMA, LINEAR_DOT};

enum { KERNEL_N = 2048, KERNEL_K = 2048, KERNEL_BATCH = 64, CHECKED_ROWS = 64 };

struct kernel_job {
    struct linear *linear;
    unsigned char *base;
    size_t share_bytes;
    enum linear_mode mode;
};

static void fill_share(void *context, unsigned thread, unsigned threads)
{
    const struct kernel_job *job = context;
    (void)threads;
    line_fill(job->base + thread * job->share_bytes, job->share_bytes, thread + 1);
}

static void run_share(void *context, unsigned thread, unsigned threads)
{
    const struct kernel_job *job = context;
    (void)threads;
    linear_run(job->linear, thread, job->base + thread * job->share_bytes, job->mode);
}

// The full kernel against its reference, once.
static bool passes(struct team *team, struct kernel_job *job)
{
    const unsigned char *weights[MACHINE_CPUS_MAX];
    for (unsigned t = 0; t < team_threads(team) && t < MACHINE_CPUS_MAX; t++) {
        weights[t] = job->base + t * job->share_bytes;
    }
    job->mode = LINEAR_FULL;
    team_run(team, (struct team_body){fill_share, job});
    team_run(team, (struct team_body){run_share, job});
    return linear_check(job->linear, weights, CHECKED_ROWS) <= linear_tolerance(job->linear);
}

static struct reading compute_rate(struct probe *probe, struct team *team, struct kernel_job *job)
{
    double rates[READING_SAMPLES_MAX];
    unsigned long repeats = 0;
    unsigned count = probe_repeats(probe);
    job->mode = LINEAR_COMPUTE_ONLY;
    unsigned taken = 0;
    for (; taken < count && (taken == 0 || !limit_reached(&probe->limit)); taken++) {
        struct team_sample timing;
        team_time_repeated(&timing, &repeats, team, (struct team_body){run_share, job}, 2e-3);
        rates[taken] = 2.0 * KERNEL_N * KERNEL_K * KERNEL_BATCH / timing.seconds;
    }
    return reading_of_samples(rates, taken, BETTER_HIGHER, ORIGIN_TIMED);
}

static void push_kernel(struct probe *probe, struct team *team, struct kernel_job *job,
                        enum line_format format)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row == NULL) {
        return;
    }
    (void)snprintf(row->dtype, sizeof row->dtype, "%s", line_layout(format)->name);
    row->integer_operations = line_is_blocks(format);
    (void)snprintf(row->kind, sizeof row->kind, "kernel");
    (void)snprintf(row->class_, sizeof row->class_, "%s", linear_class_name(job->linear));
    (void)snprintf(row->backend, sizeof row->backend, "lmroof");
    (void)snprintf(row->shape, sizeof row->shape, "%d x %d x %d", (int)KERNEL_BATCH, (int)KERNEL_N,
                   (int)KERNEL_K);
    row->threads = team_threads(team);
    row->core_hz = reading_absent(ABSENT_UNSUPPORTED, "this kernel has no clock chain", NULL);
    row->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no published rate of a whole kernel", NULL);
    row->verified = passes(team, job);
    row->flop_per_s = row->verified ? compute_rate(probe, team, job)
                                    : reading_absent(ABSENT_FAILED,
                                                     "its result differs from the reference", NULL);
}

static struct status one_kernel(struct probe *probe, struct probe_session *session,
                                enum line_format format, enum linear_class class_)
{
    struct linear_params params = {.format = format,
                                   .class_ = class_,
                                   .isa = probe->host->isa,
                                   .n = KERNEL_N,
                                   .k = KERNEL_K,
                                   .batch = KERNEL_BATCH,
                                   .threads = session->threads};
    struct kernel_job job = {.linear = NULL};
    struct arena arena;
    TRY(linear_create(&job.linear, &params));
    job.share_bytes = linear_thread_bytes(job.linear, 0);
    struct status status = arena_map(&arena, job.share_bytes * session->threads, true);
    if (status.code == STATUS_OK) {
        job.base = arena.base;
        push_kernel(probe, session->team, &job, format);
        arena_unmap(&arena);
    }
    linear_destroy(job.linear);
    return status;
}

// Block formats are asked for by the operands of their products.
bool probe_format_asked(const struct probe *probe, enum line_format format)
{
    return probe_dtype_asked(probe->options,
                             line_is_blocks(format) ? "int8" : line_layout(format)->name);
}

struct status probe_kernels(struct probe *probe, struct probe_session *session)
{
    for (int i = 0; i < LINE_FORMATS; i++) {
        enum line_format format = (enum line_format)i;
        for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
            TRY(probe_interrupted(probe));
            if (linear_supported(format, classes[c], probe->host->isa) &&
                probe_format_asked(probe, format) &&
                probe_has_time_for(probe, line_layout(format)->name, "kernel")) {
                probe_progress(probe, "kernels");
                TRY(one_kernel(probe, session, format, classes[c]));
            }
        }
    }
    return status_ok();
}
