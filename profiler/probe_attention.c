// What our attention over a cache reaches without waiting for memory: the roof of that operator,
// far below the FMA peak because of its softmax and its short products.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "workloads/attention.h"

#include <stdio.h>

// The shape of a common model of 8 billion weights; 16 pages of the cache and more for each thread.
enum {
    ATTENTION_HEADS = 32,
    ATTENTION_KV_HEADS = 8,
    ATTENTION_DIM = 128,
    ATTENTION_VISIBLE = 1024,
    ATTENTION_CHECKED = 64
};

struct attention_job {
    struct attention *attention;
    unsigned char *cache[MACHINE_CPUS_MAX];
    size_t share_bytes;
    enum linear_mode mode;
};

static void fill_cache(void *context, unsigned thread, unsigned threads)
{
    const struct attention_job *job = context;
    (void)threads;
    line_fill(job->cache[thread], job->share_bytes, thread + 1);
}

static void run_attention(void *context, unsigned thread, unsigned threads)
{
    const struct attention_job *job = context;
    (void)threads;
    attention_run(job->attention, thread, job->cache, job->mode);
}

static bool passes(struct team *team, struct attention_job *job)
{
    job->mode = LINEAR_FULL;
    team_run(team, (struct team_body){fill_cache, job});
    team_run(team, (struct team_body){run_attention, job});
    return attention_check(job->attention, job->cache, ATTENTION_CHECKED) <=
           attention_tolerance(job->attention);
}

static struct reading rate(struct probe *probe, struct team *team, struct attention_job *job,
                           double flop)
{
    double rates[READING_SAMPLES_MAX];
    unsigned long repeats = 0;
    unsigned count = probe_repeats(probe);
    job->mode = LINEAR_COMPUTE_ONLY;
    unsigned taken = 0;
    for (; taken < count && (taken == 0 || !limit_reached(&probe->limit)); taken++) {
        struct team_sample timing;
        team_time_repeated(&timing, &repeats, team, (struct team_body){run_attention, job}, 2e-3);
        rates[taken] = flop / timing.seconds;
    }
    return reading_of_samples(rates, taken, BETTER_HIGHER, ORIGIN_TIMED);
}

static void push(struct probe *probe, struct team *team, struct attention_job *job, unsigned batch)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row == NULL) {
        return;
    }
    double flop = 4.0 * ATTENTION_HEADS * ATTENTION_DIM * ATTENTION_VISIBLE * batch;
    (void)snprintf(row->dtype, sizeof row->dtype, "f16");
    (void)snprintf(row->kind, sizeof row->kind, "attention");
    (void)snprintf(row->class_, sizeof row->class_, "%s", attention_class_name(job->attention));
    (void)snprintf(row->backend, sizeof row->backend, "lmroof");
    (void)snprintf(row->shape, sizeof row->shape, "%u x %d/%d x %d, %d tokens", batch,
                   (int)ATTENTION_HEADS, (int)ATTENTION_KV_HEADS, (int)ATTENTION_DIM,
                   (int)ATTENTION_VISIBLE);
    row->threads = team_threads(team);
    row->core_hz = reading_absent(ABSENT_UNSUPPORTED, "this kernel has no clock chain", NULL);
    row->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no published rate of a whole kernel", NULL);
    row->verified = passes(team, job);
    row->flop_per_s = row->verified ? rate(probe, team, job, flop)
                                    : reading_absent(ABSENT_FAILED,
                                                     "its result differs from the reference", NULL);
}

static struct status measure(struct probe *probe, struct probe_session *session,
                             struct attention_job *job, unsigned batch)
{
    struct arena arena;
    job->share_bytes = attention_thread_bytes(job->attention, 0);
    TRY(arena_map(&arena, job->share_bytes * session->threads, true));
    for (unsigned t = 0; t < session->threads; t++) {
        job->cache[t] = (unsigned char *)arena.base + t * job->share_bytes;
    }
    push(probe, session->team, job, batch);
    arena_unmap(&arena);
    return status_ok();
}

struct status probe_attention(struct probe *probe, struct probe_session *session)
{
    const unsigned batch = (session->threads + ATTENTION_KV_HEADS - 1) / ATTENTION_KV_HEADS;
    const struct attention_params params = {.format = LINE_F16,
                                            .isa = probe->host->isa,
                                            .batch = batch,
                                            .heads = ATTENTION_HEADS,
                                            .kv_heads = ATTENTION_KV_HEADS,
                                            .k_dim = ATTENTION_DIM,
                                            .v_dim = ATTENTION_DIM,
                                            .context = ATTENTION_VISIBLE - 1,
                                            .rows = 1,
                                            .threads = session->threads};
    struct attention_job job = {.attention = NULL};
    TRY(probe_interrupted(probe));
    if (!attention_supported(LINE_F16, probe->host->isa) ||
        !probe_dtype_asked(probe->options, "f32") ||
        !probe_has_time_for(probe, "f16", "attention")) {
        return status_ok();
    }
    probe_progress(probe, "attention");
    TRY(attention_create(&job.attention, &params));
    struct status status = measure(probe, session, &job, batch);
    attention_destroy(job.attention);
    return status;
}
