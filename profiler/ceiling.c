#include "profiler/ceiling.h"

#include "profiler/ceiling_session.h"
#include "workloads/ceiling_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct status ceiling_kernels_load(struct ceiling_kernels *out, struct isa_set isa)
{
    memset(out, 0, sizeof *out);
    out->isa = isa;
    out->stream_count = stream_kernels_find(out->streams, CEILING_KERNELS_MAX, NULL, isa);
    for (size_t i = 0; i < out->stream_count; i++) {
        TRY(stream_kernel_check(out->streams[i]));
    }
    out->compute_count = compute_kernels_find(out->compute, CEILING_KERNELS_MAX, NULL, isa);
    TRY(compute_kernels_verify(out->verified, out->compute, out->compute_count, isa.sve_bytes));
    for (size_t i = 0; i < out->compute_count; i++) {
        // The child asked for itself: this process needs the permission too.
        if (out->verified[i] && out->compute[i]->prepare != NULL) {
            out->verified[i] = out->compute[i]->prepare();
        }
    }
    return status_ok();
}

static struct status allocate(struct ceilings *session)
{
    size_t threads = session->threads;
    session->slices = calloc(threads, sizeof *session->slices);
    session->states =
        aligned_alloc(_Alignof(struct compute_state), threads * sizeof *session->states);
    if (session->slices == NULL || session->states == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the ceilings of %zu threads", threads);
    }
    memset(session->states, 0, threads * sizeof *session->states);
    return status_ok();
}

struct status ceilings_create(struct ceilings **out, const struct machine *machine,
                              struct team *team, const struct arena *arena,
                              const struct ceiling_kernels *kernels)
{
    *out = NULL;
    unsigned threads = team_threads(team);
    size_t share = arena->bytes / threads / STREAM_BLOCK * STREAM_BLOCK;
    if (share == 0) {
        return status_error(STATUS_INVALID, "an arena of %zu bytes is too small for %u threads",
                            arena->bytes, threads);
    }
    struct ceilings *session = calloc(1, sizeof *session);
    if (session == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a session");
    }
    *session = (struct ceilings){.machine = machine,
                                 .team = team,
                                 .arena = arena,
                                 .kernels = kernels,
                                 .threads = threads,
                                 .share_bytes = share,
                                 .patience_seconds = CEILING_PATIENCE_SECONDS};
    struct status status = allocate(session);
    if (status.code != STATUS_OK) {
        ceilings_destroy(session);
        return status;
    }
    *out = session;
    return status;
}

void ceilings_stop_for(struct ceilings *session, struct limit limit)
{
    session->limit = limit;
}

void ceilings_be_patient(struct ceilings *session, double seconds)
{
    session->patience_seconds = fmax(0, fmin(seconds, CEILING_PATIENCE_SECONDS));
}

struct status ceilings_heed(const struct ceilings *session)
{
    return limit_heed(&session->limit);
}

void ceilings_destroy(struct ceilings *session)
{
    if (session == NULL) {
        return;
    }
    free(session->slices);
    free(session->states);
    free(session);
}

// xorshift64 (Marsaglia, 2003); the exponent makes it a double in [1, 2).
static uint64_t fill_piece(uint64_t *words, size_t count, uint64_t random)
{
    for (size_t i = 0; i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        words[i] = random >> 12 | 0x3ff0000000000000u;
    }
    return random;
}

static void fill_share(void *context, unsigned thread, unsigned threads)
{
    const struct ceilings *session = context;
    enum { PIECE_WORDS = 1 << 18 }; // a millisecond
    (void)threads;
    uint64_t *words = (uint64_t *)(void *)arena_share(session->arena, thread, session->share_bytes);
    uint64_t random = 0x9e3779b97f4a7c15u * (thread + 1);
    size_t count = session->share_bytes / sizeof *words;
    for (size_t at = 0; at < count && !limit_reached(&session->limit); at += PIECE_WORDS) {
        random =
            fill_piece(words + at, count - at < PIECE_WORDS ? count - at : PIECE_WORDS, random);
    }
}

struct status ceilings_fill(struct ceilings *session)
{
    team_run(session->team, (struct team_body){fill_share, session});
    return ceilings_heed(session);
}

void ceiling_sample(struct ceiling_sample *out, struct ceilings *session, struct ceiling *ceiling)
{
    if (ceiling->kind == CEILING_STREAM) {
        ceiling_sample_stream(out, session, ceiling);
    } else {
        ceiling_sample_chain(out, session, ceiling);
    }
}

double ceiling_try(struct ceilings *session, struct ceiling *ceiling)
{
    double best = 0;
    unsigned clean = 0;
    for (unsigned i = 0; i < 2 * CEILING_TRIAL_SAMPLES && clean < CEILING_TRIAL_SAMPLES; i++) {
        if (i > 0 && limit_reached(&session->limit)) {
            break;
        }
        struct ceiling_sample sample;
        ceiling_sample(&sample, session, ceiling);
        best = sample.per_s > best ? sample.per_s : best;
        clean += sample.timing.disturbed ? 0 : 1;
    }
    return best;
}

void ceiling_add_trial(struct ceiling *ceiling, struct ceiling_trial trial)
{
    if (ceiling->trial_count < CEILING_TRIALS_MAX) {
        ceiling->trials[ceiling->trial_count++] = trial;
    }
}

void ceiling_record_sample(struct ceiling_record *record, struct ceilings *session,
                           struct ceiling *ceiling)
{
    struct ceiling_sample sample;
    ceiling_sample(&sample, session, ceiling);
    if (!sample.timing.disturbed && record->count < READING_SAMPLES_MAX) {
        record->rate[record->count] = sample.per_s;
        record->core_hz[record->count++] = sample.core_hz;
    } else if (sample.timing.disturbed && record->disturbed_count < READING_SAMPLES_MAX) {
        record->disturbed_rate[record->disturbed_count] = sample.per_s;
        record->disturbed_core_hz[record->disturbed_count++] = sample.core_hz;
    }
}

static struct reading clock_reading(const double *hz, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(hz[i])) {
            return reading_absent(ABSENT_UNSUPPORTED,
                                  "no clock chain was the longest path of this loop", NULL);
        }
    }
    return reading_of_samples(hz, count, BETTER_HIGHER, ORIGIN_TIMED);
}

void ceiling_record_read(struct reading *out, struct reading *core_hz, unsigned *disturbed,
                         const struct ceiling_record *record, unsigned n)
{
    double rate[READING_SAMPLES_MAX] = {0};
    double hz[READING_SAMPLES_MAX] = {0};
    size_t count = 0;
    unsigned kept = 0;
    n = n > READING_SAMPLES_MAX ? READING_SAMPLES_MAX : n;
    for (; count < n && count < record->count; count++) {
        rate[count] = record->rate[count];
        hz[count] = record->core_hz[count];
    }
    for (; count < n && kept < record->disturbed_count; count++, kept++) {
        rate[count] = record->disturbed_rate[kept];
        hz[count] = record->disturbed_core_hz[kept];
    }
    *out = reading_of_samples(rate, count, BETTER_HIGHER, ORIGIN_TIMED);
    if (core_hz != NULL) {
        *core_hz = clock_reading(hz, count);
    }
    if (disturbed != NULL) {
        *disturbed = kept;
    }
}

void ceiling_read(struct reading *out, struct reading *core_hz, unsigned *disturbed,
                  struct ceilings *session, struct ceiling *ceiling, unsigned n)
{
    struct ceiling_record record = {.count = 0};
    struct ceiling_sample warm;
    ceiling_sample(&warm, session, ceiling);
    for (unsigned i = 0; i < 2 * n && record.count < n; i++) {
        if (limit_reached(&session->limit)) {
            break;
        }
        ceiling_record_sample(&record, session, ceiling);
    }
    ceiling_record_read(out, core_hz, disturbed, &record, n);
}
