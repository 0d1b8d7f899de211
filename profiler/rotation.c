#include "profiler/rotation.h"

#include <math.h>

enum { THREADS_MAX = 4096 };

size_t rotation_share_bytes(const struct arena *arena, unsigned threads)
{
    return arena->bytes / threads / LINE_BYTES * LINE_BYTES;
}

struct fill_context {
    const struct arena *arena;
    size_t share_bytes;
    const struct limit *limit;
};

static void fill_copy(const struct fill_context *c, unsigned thread, unsigned copy)
{
    enum { PIECE = 16 << 20 };
    unsigned char *share = arena_share_in(c->arena, copy, thread, c->share_bytes);
    for (size_t at = 0; at < c->share_bytes; at += PIECE) {
        size_t left = c->share_bytes - at;
        if (limit_reached(c->limit)) {
            return;
        }
        line_fill(share + at, left < PIECE ? left : PIECE, (uint64_t)thread << 32 | at / PIECE);
    }
}

static void fill_share(void *context, unsigned thread, unsigned threads)
{
    const struct fill_context *c = context;
    (void)threads;
    for (unsigned copy = 0; copy < c->arena->copies; copy++) {
        fill_copy(c, thread, copy);
    }
}

void rotation_fill(struct team *team, const struct arena *arena, const struct limit *limit)
{
    struct fill_context context = {arena, rotation_share_bytes(arena, team_threads(team)), limit};
    team_run(team, (struct team_body){fill_share, &context});
}

struct status rotation_create(struct rotation *out, struct team *team, const struct arena *arena,
                              struct work *work, uint64_t bytes)
{
    unsigned threads = team_threads(team);
    *out = (struct rotation){.team = team, .arena = arena, .work = work, .per_sample = 1};
    unsigned owners = work_is_library(work) ? 1 : threads;
    out->share_bytes = work_is_library(work) ? arena->bytes : rotation_share_bytes(arena, threads);
    out->step_bytes = work_thread_bytes(work);
    uint64_t fit = out->share_bytes / out->step_bytes;
    uint64_t wanted = bytes / owners / out->step_bytes;
    if (fit == 0 || threads > THREADS_MAX) {
        return status_error(
            STATUS_UNAVAILABLE,
            "one instance takes %zu bytes per thread, more than the %zu of the arena",
            out->step_bytes, out->share_bytes);
    }
    out->instances = wanted == 0 ? 1 : wanted < fit ? wanted : fit;
    return status_ok();
}

uint64_t rotation_bytes(const struct rotation *rotation)
{
    return rotation->instances * work_stored_bytes(rotation->work);
}

struct sample_context {
    struct rotation *rotation;
    enum linear_mode mode;
};

static void instance_memory(const struct rotation *r, uint64_t instance, unsigned char **memory,
                            unsigned threads)
{
    for (unsigned t = 0; t < threads; t++) {
        memory[t] = arena_share(r->arena, t, r->share_bytes) + instance * r->step_bytes;
    }
}

static void sample_body(void *context, unsigned thread, unsigned threads)
{
    const struct sample_context *c = context;
    const struct rotation *r = c->rotation;
    unsigned char *memory[THREADS_MAX];
    for (uint64_t i = 0; i < r->per_sample; i++) {
        instance_memory(r, (r->cursor + i) % r->instances, memory, threads);
        work_run(r->work, thread, memory, c->mode);
        if (i + 1 < r->per_sample) {
#pragma omp barrier
        }
    }
}

static void sample_call(void *context)
{
    const struct sample_context *c = context;
    const struct rotation *r = c->rotation;
    for (uint64_t i = 0; i < r->per_sample; i++) {
        unsigned char *memory[1];
        instance_memory(r, (r->cursor + i) % r->instances, memory, 1);
        work_run(r->work, 0, memory, c->mode);
    }
}

double rotation_sample_on(struct team_sample *timing, struct rotation *rotation, uint64_t *offset)
{
    rotation->cursor = *offset / rotation->step_bytes % rotation->instances;
    *offset = (rotation->cursor + rotation->per_sample) * rotation->step_bytes;
    return rotation_sample(timing, rotation, LINEAR_FULL);
}

double rotation_sample(struct team_sample *timing, struct rotation *rotation, enum linear_mode mode)
{
    struct sample_context context = {rotation, mode};
    if (work_is_library(rotation->work)) {
        team_time_call(timing, rotation->team, sample_call, &context);
    } else {
        team_time(timing, rotation->team, (struct team_body){sample_body, &context});
    }
    rotation->cursor = (rotation->cursor + rotation->per_sample) % rotation->instances;
    return timing->seconds / (double)rotation->per_sample;
}

double rotation_sample_probed(struct team_sample *timing, uint64_t *instances,
                              struct rotation *rotation, struct team_probe probe)
{
    struct sample_context context = {rotation, LINEAR_FULL};
    team_time_probed(timing, rotation->team, (struct team_body){sample_body, &context}, probe);
    rotation->cursor = (rotation->cursor + rotation->per_sample) % rotation->instances;
    *instances = rotation->per_sample;
    return timing->seconds / (double)rotation->per_sample;
}

// A sample longer than this gains nothing.
static const double long_seconds = 0.025;

void rotation_calibrate(struct rotation *rotation, uint64_t sample_bytes, double seconds)
{
    uint64_t stored = work_stored_bytes(rotation->work);
    struct team_sample timing;
    rotation->per_sample = 1;
    double one = rotation_sample(&timing, rotation, LINEAR_FULL);
    double by_bytes = ceil((double)sample_bytes / (double)stored);
    // A rotation that fits in cache is not made longer by its size in memory, and work that takes
    // long for its bytes is not bound by fetching them.
    by_bytes = fmin(by_bytes, (double)rotation->instances);
    by_bytes = fmin(by_bytes, one > 0 ? long_seconds / one : by_bytes);
    double by_time = one > 0 ? ceil(seconds / one) : 1;
    rotation->per_sample = (uint64_t)fmax(1, fmax(by_bytes, fmin(by_time, 1e6)));
}

static void check_body(void *context, unsigned thread, unsigned threads)
{
    const struct rotation *r = context;
    unsigned char *memory[THREADS_MAX];
    instance_memory(r, 0, memory, threads);
    work_run(r->work, thread, memory, LINEAR_FULL);
}

double rotation_check(struct rotation *rotation, uint64_t samples)
{
    unsigned threads = work_is_library(rotation->work) ? 1 : team_threads(rotation->team);
    unsigned char *memory[THREADS_MAX];
    instance_memory(rotation, 0, memory, threads);
    if (work_is_library(rotation->work)) {
        work_run(rotation->work, 0, memory, LINEAR_FULL);
    } else {
        team_run(rotation->team, (struct team_body){check_body, rotation});
    }
    return work_check(rotation->work, memory, samples);
}
