#ifndef PROFILER_CEILING_SESSION_H
#define PROFILER_CEILING_SESSION_H

/** The inside of a ceilings session, shared by ceiling.c, ceiling_stream.c and ceiling_chain.c
 *  alone. */

#include "profiler/ceiling.h"
#include "profiler/limit.h"

struct ceilings {
    const struct machine *machine;
    struct team *team;
    const struct arena *arena;
    const struct ceiling_kernels *kernels;
    struct limit limit;
    double patience_seconds; // of a choice
    unsigned threads;
    size_t share_bytes;           // of the arena, per thread
    uint64_t page_bytes;          // as read back; 0: not yet, or unknown
    struct stream_slice *slices;  // one per thread
    struct compute_state *states; // one per thread
};

/** Samples that a candidate gets before the best is chosen, and how long a sample shall last:
 *  10000 times the clock's resolution and some hundred times the cost of a barrier. Not longer: on
 *  a shared machine a short sample is often undisturbed where a long one never is. */
enum { CEILING_TRIAL_SAMPLES = 3 };
#define CEILING_SAMPLE_SECONDS 1e-3
/** A choice tries no further candidates after this long: on a busy machine each sample waits for
 *  its turn. Quiet, the largest set (27 loads) takes 0.4 s (2 threads, 2026-11-29). */
#define CEILING_PATIENCE_SECONDS 0.8

void ceiling_sample_stream(struct ceiling_sample *out, struct ceilings *session,
                           struct ceiling *ceiling);
void ceiling_sample_chain(struct ceiling_sample *out, struct ceilings *session,
                          struct ceiling *ceiling);

/** That of limit_heed() for the session's limit. */
CHECKED struct status ceilings_heed(const struct ceilings *session);

/** Best rate of a few samples. */
double ceiling_try(struct ceilings *session, struct ceiling *ceiling);

/** Appends to the list of what was tried; what does not fit is not kept. */
void ceiling_add_trial(struct ceiling *ceiling, struct ceiling_trial trial);

#endif
