#include "profiler/latency.h"

#include "profiler/clock.h"
#include "workloads/chase.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double window_seconds = 5e-4;

enum {
    PATH_LINES_MEMORY = 1 << 15,     // 2 MiB of lines, some milliseconds of misses
    LOADER_BLOCK = 64 * STREAM_BLOCK // between two looks at the flag
};

// One sample: what the threads share. Counts are written by one thread each.
struct chase_run {
    const struct latency_place *place;
    size_t share_bytes;
    void *start;
    uint64_t steps;
    unsigned loaders;
    unsigned pause;
    _Atomic bool done;
    _Atomic uint64_t loaded_bytes;
    double seconds; // of the chase, by the first thread's clock
    struct team_sample timing;
    void *end;
};

static double *share_of(const struct chase_run *run, unsigned thread)
{
    return (double *)(void *)(run->place->arena->base + thread * run->share_bytes);
}

static void load_block(const struct chase_run *run, unsigned thread, size_t offset, size_t bytes)
{
    struct stream_slice slice = {
        .to = share_of(run, thread) + offset / sizeof(double), .bytes = bytes, .passes = 1};
    run->place->sweeper->run(&slice);
    __asm__ volatile("" : : "r"(slice.sink));
}

static void sweep(void *context, unsigned thread, unsigned threads)
{
    const struct chase_run *run = context;
    (void)threads;
    load_block(run, thread, 0, run->share_bytes);
}

static void rest(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        __asm__ volatile("" ::: "memory");
    }
}

static void load_until_done(struct chase_run *run, unsigned thread)
{
    size_t blocks = run->share_bytes / LOADER_BLOCK;
    uint64_t bytes = 0;
    for (size_t i = 0; blocks > 0 && !atomic_load_explicit(&run->done, memory_order_relaxed); i++) {
        load_block(run, thread, i % blocks * LOADER_BLOCK, LOADER_BLOCK);
        bytes += LOADER_BLOCK;
        rest(run->pause);
    }
    atomic_fetch_add(&run->loaded_bytes, bytes);
}

static void chase_or_load(void *context, unsigned thread, unsigned threads)
{
    struct chase_run *run = context;
    (void)threads;
    if (thread == 0) {
        double begin = clock_seconds();
        run->end = chase_follow(run->start, run->steps);
        run->seconds = clock_seconds() - begin;
        atomic_store(&run->done, true);
    } else if (thread <= run->loaders) {
        load_until_done(run, thread);
    }
}

static void prepare(struct chase_run *run, const struct latency_place *place, unsigned loaders,
                    unsigned pause)
{
    unsigned threads = team_threads(place->team);
    size_t placed = 0;
    memset(run, 0, sizeof *run);
    run->place = place;
    run->loaders = loaders;
    run->pause = pause;
    run->share_bytes = place->arena->bytes / threads / STREAM_BLOCK * STREAM_BLOCK;
    size_t room = loaders > 0 ? run->share_bytes : place->arena->bytes;
    size_t bytes = place->working_set_bytes < room ? (size_t)place->working_set_bytes : room;
    size_t lines = place->memory ? (size_t)PATH_LINES_MEMORY : SIZE_MAX;
    run->start = chase_build(&placed, place->arena->base, bytes, lines);
    run->steps = placed;
}

static void take_sample(struct chase_run *run)
{
    atomic_store(&run->done, false);
    atomic_store(&run->loaded_bytes, 0);
    if (run->place->memory) {
        team_run(run->place->team, (struct team_body){sweep, run});
    }
    team_time(&run->timing, run->place->team, (struct team_body){chase_or_load, run});
}

// Not counted: pages, caches and the clock settle, and short paths are walked more often.
static void settle(struct chase_run *run)
{
    take_sample(run);
    if (!limit_reached(&run->place->limit)) {
        take_sample(run);
    }
    double longer = window_seconds / (run->seconds > 0 ? run->seconds : window_seconds);
    if (!run->place->memory && longer > 1) {
        run->steps = (uint64_t)((double)run->steps * longer) + 1;
    }
}

void latency_read_loaded(struct reading *seconds, struct reading *bytes_per_s,
                         const struct latency_place *place, unsigned loaders, unsigned pause,
                         unsigned n)
{
    double latencies[READING_SAMPLES_MAX] = {0};
    double rates[READING_SAMPLES_MAX] = {0};
    struct chase_run run;
    assert(loaders < team_threads(place->team));
    prepare(&run, place, loaders, pause);
    n = n < READING_SAMPLES_MAX ? n : READING_SAMPLES_MAX;
    unsigned count = 0;
    settle(&run);
    for (unsigned i = 0; i < 2 * n && count < n && !limit_reached(&place->limit); i++) {
        take_sample(&run);
        double bytes = (double)atomic_load(&run.loaded_bytes);
        if (loaders == 0 || bytes > 0) { // a load that never got a cpu is no load
            latencies[count] = run.seconds / (double)run.steps;
            rates[count++] = bytes / run.seconds;
        }
    }
    *seconds = reading_of_samples(latencies, count, BETTER_LOWER, ORIGIN_TIMED);
    *bytes_per_s = reading_of_samples(rates, count, BETTER_HIGHER, ORIGIN_TIMED);
}

enum { WINDOWS_OF_A_SAMPLE = 4 };

// The shortest of a few windows; false if all were disturbed.
static bool sample_of(double *seconds, struct chase_run *run)
{
    double clean = (double)INFINITY;
    double other = (double)INFINITY;
    for (unsigned i = 0; i < WINDOWS_OF_A_SAMPLE; i++) {
        if (i > 0 && limit_reached(&run->place->limit)) {
            break;
        }
        take_sample(run);
        double *least = run->timing.disturbed ? &other : &clean;
        *least = fmin(*least, run->seconds / (double)run->steps);
    }
    *seconds = isinf(clean) ? other : clean;
    return !isinf(clean);
}

void latency_read(struct reading *out, unsigned *disturbed, const struct latency_place *place,
                  unsigned n)
{
    double clean[READING_SAMPLES_MAX] = {0};
    double other[READING_SAMPLES_MAX] = {0};
    struct chase_run run;
    prepare(&run, place, 0, 0);
    settle(&run);
    n = n < READING_SAMPLES_MAX ? n : READING_SAMPLES_MAX;
    unsigned count = 0;
    unsigned others = 0;
    unsigned kept = 0;
    for (unsigned i = 0; i < 2 * n && count < n && !limit_reached(&place->limit); i++) {
        double seconds = 0;
        if (sample_of(&seconds, &run)) {
            clean[count++] = seconds;
        } else if (others < n) {
            other[others++] = seconds;
        }
    }
    for (; count < n && kept < others; kept++) {
        clean[count++] = other[kept];
    }
    *out = reading_of_samples(clean, count, BETTER_LOWER, ORIGIN_TIMED);
    if (disturbed != NULL) {
        *disturbed = kept;
    }
}

struct latency_chase {
    struct arena arena;
    struct latency_place place;
    struct chase_run run;
    uint64_t lines;
};

struct status latency_chase_create(struct latency_chase **out, struct team *team,
                                   unsigned char *base, size_t bytes)
{
    struct latency_chase *chase = calloc(1, sizeof *chase);
    *out = chase;
    if (chase == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a chase");
    }
    chase->arena = (struct arena){.base = base, .bytes = bytes};
    chase->place =
        (struct latency_place){.team = team, .arena = &chase->arena, .working_set_bytes = bytes};
    prepare(&chase->run, &chase->place, 0, 0);
    chase->lines = chase->run.steps;
    settle(&chase->run);
    return status_ok();
}

double latency_chase_sample(struct team_sample *timing, struct latency_chase *chase)
{
    uint64_t steps = chase->run.steps;
    chase->run.steps = chase->lines;
    take_sample(&chase->run);
    chase->run.steps = steps;
    take_sample(&chase->run);
    *timing = chase->run.timing;
    return chase->run.seconds / (double)steps;
}

void latency_chase_destroy(struct latency_chase *chase)
{
    free(chase);
}
