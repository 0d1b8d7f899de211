// Bandwidth ceilings: which part of the arena each thread walks, and how often.
#include "profiler/ceiling_session.h"
#include "profiler/clock.h"
#include "profiler/contest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE_BYTES = 64 << 20, // of user bytes in one sample from memory
    STAGGER_BYTES = 21 * 64 // between arrays: stores and loads must not meet at the same 4 KiB
                            // offset (4K aliasing, Intel Optimization Manual 3.6.8.2)
};

static unsigned array_count(const struct stream_kernel *kernel)
{
    unsigned count = kernel->loads + kernel->stores;
    assert(count > 0);
    return count;
}

struct stream_call {
    struct stream_slice *slices; // one per thread
    void (*run)(struct stream_slice *slice);
};

static void run_slice(void *context, unsigned thread, unsigned threads)
{
    const struct stream_call *call = context;
    (void)threads;
    call->run(&call->slices[thread]);
}

static void set_slice(struct stream_slice *slice, const struct ceilings *session,
                      const struct ceiling *ceiling, unsigned thread)
{
    size_t per_array = session->share_bytes / array_count(ceiling->stream);
    unsigned char *share = arena_share(session->arena, thread, session->share_bytes);
    double *arrays[3] = {NULL, NULL, NULL};
    for (unsigned i = 0; i < array_count(ceiling->stream); i++) {
        size_t at = (i * per_array + 63) / 64 * 64 + i * (size_t)STAGGER_BYTES + ceiling->cursor;
        arrays[i] = (double *)(void *)(share + at);
    }
    *slice = (struct stream_slice){.to = arrays[0],
                                   .from = arrays[1],
                                   .plus = arrays[2],
                                   .bytes = ceiling->piece_bytes,
                                   .passes = ceiling->passes,
                                   .scalar = 0.375};
}

// One pass over every slice, untimed.
static void warm(struct ceilings *session, const struct ceiling *ceiling)
{
    struct stream_call call = {session->slices, ceiling->stream->run};
    for (unsigned t = 0; t < session->threads; t++) {
        session->slices[t].passes = 1;
    }
    team_run(session->team, (struct team_body){run_slice, &call});
    for (unsigned t = 0; t < session->threads; t++) {
        session->slices[t].passes = ceiling->passes;
    }
}

void ceiling_sample_stream(struct ceiling_sample *out, struct ceilings *session,
                           struct ceiling *ceiling)
{
    assert(ceiling->stream != NULL);
    struct stream_call call = {session->slices, ceiling->stream->run};
    double bytes = 0;
    for (unsigned t = 0; t < session->threads; t++) {
        set_slice(&session->slices[t], session, ceiling, t);
        bytes += stream_kernel_bytes(ceiling->stream, &session->slices[t]);
    }
    if (ceiling->level != LEVEL_DRAM) {
        warm(session, ceiling); // whatever ran before may have emptied the caches
    }
    team_time(&out->timing, session->team, (struct team_body){run_slice, &call});
    out->per_s = bytes / out->timing.seconds;
    out->core_hz = (double)NAN;
    ceiling->cursor += ceiling->piece_bytes;
    if (ceiling->cursor + ceiling->piece_bytes > ceiling->rotation_bytes) {
        ceiling->cursor = 0;
    }
}

// Largest piece of one array in a thread's share, with room to stagger the others.
static size_t array_room(const struct ceilings *session, const struct stream_kernel *kernel)
{
    size_t per_array = session->share_bytes / array_count(kernel);
    size_t room = per_array / STREAM_BLOCK * STREAM_BLOCK;
    return array_count(kernel) == 1 ? room : room - STREAM_BLOCK;
}

// Equal pieces that cover the rotation, each of at least the wanted bytes if there is room.
static void cut_rotation(struct ceiling *ceiling, size_t wanted_bytes)
{
    size_t pieces = ceiling->rotation_bytes / (wanted_bytes > 0 ? wanted_bytes : 1);
    pieces = pieces > 0 ? pieces : 1;
    ceiling->piece_bytes = ceiling->rotation_bytes / pieces / STREAM_BLOCK * STREAM_BLOCK;
    ceiling->cursor = 0;
}

static double seconds_once(struct ceilings *session, struct ceiling *ceiling)
{
    struct ceiling_sample sample;
    ceiling_sample_stream(&sample, session, ceiling);
    return sample.timing.seconds;
}

// Grows a sample until it lasts: longer stretches of memory, more passes over a cache.
static struct status calibrate(struct ceilings *session, struct ceiling *ceiling)
{
    bool memory = ceiling->level == LEVEL_DRAM;
    if (memory) {
        double seconds = seconds_once(session, ceiling);
        if (seconds < CEILING_SAMPLE_SECONDS) {
            double longer = (double)ceiling->piece_bytes * CEILING_SAMPLE_SECONDS / seconds;
            double most = (double)ceiling->rotation_bytes;
            cut_rotation(ceiling, (size_t)(longer < most ? longer : most));
        }
        return status_ok();
    }
    for (unsigned i = 0; i < 40; i++) {
        TRY(ceilings_heed(session)); // a shorter sample would be of the barrier
        double seconds = seconds_once(session, ceiling);
        if (seconds >= CEILING_SAMPLE_SECONDS) {
            return status_ok();
        }
        double factor = seconds > 0 ? CEILING_SAMPLE_SECONDS / seconds * 1.1 : 8;
        ceiling->passes = (size_t)((double)ceiling->passes * (factor < 8 ? factor : 8)) + 1;
    }
    return status_ok();
}

struct status ceiling_prepare_stream(struct ceiling *out, struct ceilings *session,
                                     enum memory_level level, const struct stream_kernel *kernel,
                                     uint64_t working_set_bytes)
{
    unsigned arrays = array_count(kernel);
    assert(arrays > 0 && session->threads > 0);
    memset(out, 0, sizeof *out);
    *out = (struct ceiling){.kind = CEILING_STREAM, .level = level, .stream = kernel, .passes = 1};
    size_t wanted =
        (size_t)(working_set_bytes / session->threads / arrays) / STREAM_BLOCK * STREAM_BLOCK;
    size_t room = array_room(session, kernel);
    wanted = wanted > 0 ? wanted : STREAM_BLOCK;
    if (session->share_bytes / arrays < 2 * (size_t)STREAM_BLOCK ||
        wanted > room + 2 * (size_t)STREAM_BLOCK) {
        return status_error(STATUS_UNAVAILABLE,
                            "%s of %s needs %llu bytes of memory, the arena has %zu",
                            kernel->kernel, memory_level_name(level),
                            (unsigned long long)working_set_bytes, session->arena->bytes);
    }
    wanted = wanted < room ? wanted : room;
    out->rotation_bytes = level == LEVEL_DRAM ? room : wanted;
    cut_rotation(out,
                 level == LEVEL_DRAM ? (size_t)SLICE_BYTES / arrays / session->threads : wanted);
    out->working_set_bytes = (uint64_t)out->rotation_bytes * arrays * session->threads;
    TRY(ceilings_heed(session));
    (void)seconds_once(session, out); // pages, caches and the clock settle
    return calibrate(session, out);
}

// Nothing is to be fetched ahead where everything is already near.
static bool is_candidate(const struct stream_kernel *kernel, const char *name,
                         enum memory_level level)
{
    bool near = level == LEVEL_L1 || level == LEVEL_L2;
    return strcmp(kernel->kernel, name) == 0 && !(near && kernel->prefetch_bytes > 0);
}

static struct status prepare_all(struct ceiling *tried, size_t *count, struct ceilings *session,
                                 enum memory_level level, const char *kernel,
                                 uint64_t working_set_bytes)
{
    double give_up = clock_seconds() + session->patience_seconds;
    *count = 0;
    for (size_t i = 0; i < session->kernels->stream_count && *count < CONTEST_ENTRIES_MAX; i++) {
        const struct stream_kernel *candidate = session->kernels->streams[i];
        TRY(ceilings_heed(session));
        if (*count > 0 && clock_seconds() > give_up) {
            break;
        }
        if (is_candidate(candidate, kernel, level)) {
            TRY(ceiling_prepare_stream(&tried[*count], session, level, candidate,
                                       working_set_bytes));
            ++*count;
        }
    }
    return *count > 0 ? status_ok()
                      : status_error(STATUS_INVALID, "no kernel is called '%s'", kernel);
}

static void take_turn(struct contest *contest, struct ceilings *session, struct ceiling *tried,
                      double give_up)
{
    for (size_t i = 0; i < contest->entries; i++) {
        bool late = limit_reached(&session->limit) || clock_seconds() > give_up;
        if (late && (i > 0 || contest->turns > 0)) {
            contest_cut(contest, i);
            return;
        }
        if (!contest->out[i]) {
            struct ceiling_sample sample;
            ceiling_sample_stream(&sample, session, &tried[i]);
            contest->seconds[contest->turns][i] = 1 / sample.per_s;
        }
    }
    contest->turns++;
}

// All take two turns, then the slower half leaves after every turn until two are left.
static void hold_contest(struct contest *contest, struct ceilings *session, struct ceiling *tried)
{
    double give_up = clock_seconds() + session->patience_seconds;
    while (contest->turns < CONTEST_TURNS_MAX && status_is_ok(ceilings_heed(session))) {
        take_turn(contest, session, tried, give_up);
        if (clock_seconds() > give_up) {
            return;
        }
        if (contest->turns > 1) {
            contest_halve(contest);
        }
    }
}

static double best_rate(const struct contest *contest, size_t entry)
{
    double best = 0;
    for (unsigned turn = 0; turn < contest->turns && contest->seconds[turn][entry] > 0; turn++) {
        best = fmax(best, 1 / contest->seconds[turn][entry]);
    }
    return best;
}

static struct status choose(struct ceiling *out, struct ceilings *session, struct ceiling *tried,
                            size_t count)
{
    struct contest contest;
    contest_begin(&contest, count);
    if (count > 1) {
        hold_contest(&contest, session, tried);
    } else {
        take_turn(&contest, session, tried, 0);
    }
    TRY(ceilings_heed(session)); // without a turn there is nothing to choose by
    *out = tried[contest_leader(&contest)];
    for (size_t i = 0; i < count; i++) {
        double per_s = best_rate(&contest, i);
        if (per_s > 0) { // there was time for it
            ceiling_add_trial(out, (struct ceiling_trial){tried[i].stream->variant, 0, per_s});
        }
    }
    return status_ok();
}

struct status ceiling_choose_stream_in(struct ceiling *out, struct ceilings *session,
                                       enum memory_level level, const char *kernel,
                                       uint64_t working_set_bytes)
{
    size_t count;
    struct ceiling *tried = calloc(CONTEST_ENTRIES_MAX, sizeof *tried);
    if (tried == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to choose a ceiling");
    }
    struct status status = prepare_all(tried, &count, session, level, kernel, working_set_bytes);
    if (status.code == STATUS_OK) {
        status = choose(out, session, tried, count);
    }
    free(tried);
    return status;
}

struct status ceiling_choose_stream(struct ceiling *out, struct ceilings *session,
                                    enum memory_level level, const char *kernel)
{
    struct working_set set;
    unsigned cpus[MACHINE_CPUS_MAX];
    for (unsigned t = 0; t < session->threads && t < MACHINE_CPUS_MAX; t++) {
        cpus[t] = team_cpu(session->team, t);
    }
    TRY(working_set_of(&set, session->machine, cpus, session->threads, level));
    return ceiling_choose_stream_in(out, session, level, kernel, set.bytes);
}
