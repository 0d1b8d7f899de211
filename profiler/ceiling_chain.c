// Compute ceilings: chains of one instruction, and the clock inside them.
#include "profiler/ceiling_session.h"
#include "profiler/clock.h"
#include "workloads/ceiling_check.h"

#include <math.h>
#include <string.h>

struct chain_call {
    struct compute_state *states;
    void (*run)(struct compute_state *state, uint64_t iterations);
    uint64_t iterations;
};

static void run_chain(void *context, unsigned thread, unsigned threads)
{
    const struct chain_call *call = context;
    (void)threads;
    call->run(&call->states[thread], call->iterations);
}

static void time_chain(struct team_sample *out, struct ceilings *session,
                       void (*run)(struct compute_state *state, uint64_t iterations),
                       uint64_t iterations)
{
    struct chain_call call = {session->states, run, iterations};
    team_time(out, session->team, (struct team_body){run_chain, &call});
}

static double operations(const struct ceilings *session, const struct ceiling *ceiling)
{
    return compute_kernel_flop(ceiling->chain, session->kernels->isa.sve_bytes) *
           (double)ceiling->iterations * session->threads;
}

static void fill_states(struct ceilings *session, const struct compute_kernel *kernel)
{
    size_t bytes =
        kernel->vector_bytes != 0 ? kernel->vector_bytes : session->kernels->isa.sve_bytes;
    for (unsigned t = 0; t < session->threads; t++) {
        compute_state_fill(&session->states[t], kernel, bytes);
    }
}

void ceiling_sample_chain(struct ceiling_sample *out, struct ceilings *session,
                          struct ceiling *ceiling)
{
    fill_states(session, ceiling->chain);
    time_chain(&out->timing, session, ceiling->chain->run, ceiling->iterations);
    out->per_s = operations(session, ceiling) / out->timing.seconds;
    out->core_hz = (double)NAN;
    if (ceiling->clock < COMPUTE_CLOCKS) {
        struct team_sample timing;
        uint64_t iterations = ceiling->iterations / 4 + 1;
        time_chain(&timing, session, ceiling->chain->clocked[ceiling->clock], iterations);
        out->core_hz = ceiling->chain->cycles[ceiling->clock] * (double)iterations / timing.seconds;
        out->timing.disturbed = out->timing.disturbed || timing.disturbed;
        interference_add(&out->timing.signs, &timing.signs);
    }
}

static double best_seconds(struct ceilings *session,
                           void (*run)(struct compute_state *state, uint64_t iterations),
                           uint64_t iterations)
{
    double best = (double)INFINITY;
    unsigned clean = 0;
    for (unsigned i = 0; i < 2 * CEILING_TRIAL_SAMPLES && clean < CEILING_TRIAL_SAMPLES; i++) {
        if (i > 0 && limit_reached(&session->limit)) {
            break;
        }
        struct team_sample timing;
        time_chain(&timing, session, run, iterations);
        best = timing.seconds < best ? timing.seconds : best;
        clean += timing.disturbed ? 0 : 1;
    }
    return best;
}

// The shortest clock chain that makes the loop clearly slower is its longest path. The next one
// must agree on the clock, or something else is slow.
static unsigned choose_clock(struct ceilings *session, const struct ceiling *ceiling)
{
    const struct compute_kernel *kernel = ceiling->chain;
    uint64_t iterations = ceiling->iterations / 4 + 1;
    double plain = best_seconds(session, kernel->run, iterations);
    double hz_before = (double)NAN;
    for (unsigned i = 0; i < COMPUTE_CLOCKS && !limit_reached(&session->limit); i++) {
        if (kernel->clocked[i] == NULL) {
            continue;
        }
        double seconds = best_seconds(session, kernel->clocked[i], iterations);
        double hz = kernel->cycles[i] * (double)iterations / seconds;
        if (fabs(hz / hz_before - 1) < 0.04) {
            return i - 1;
        }
        hz_before = seconds > 1.05 * plain ? hz : (double)NAN;
    }
    return COMPUTE_CLOCKS;
}

static struct status calibrate(struct ceilings *session, struct ceiling *ceiling)
{
    ceiling->iterations = 1000;
    for (unsigned i = 0; i < 20; i++) {
        struct team_sample timing;
        TRY(ceilings_heed(session)); // a shorter sample would be of the barrier
        time_chain(&timing, session, ceiling->chain->run, ceiling->iterations);
        if (timing.seconds >= CEILING_SAMPLE_SECONDS) {
            return status_ok();
        }
        double factor = timing.seconds > 0 ? CEILING_SAMPLE_SECONDS / timing.seconds * 1.1 : 8;
        ceiling->iterations =
            (uint64_t)((double)ceiling->iterations * (factor < 8 ? factor : 8)) + 1;
    }
    return status_ok();
}

// Operands of 16 bits may be widened and meet in f32 FMA: where the dot instruction is slow,
// that is the faster way.
static bool does_arithmetic_on(const struct compute_kernel *kernel, const char *dtype)
{
    bool half = strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0;
    return strcmp(kernel->dtype, dtype) == 0 || (half && strcmp(kernel->dtype, "f32") == 0);
}

static struct status try_chain(struct ceiling *chosen, double *best, struct ceilings *session,
                               const struct compute_kernel *kernel)
{
    struct ceiling tried = {
        .kind = CEILING_CHAIN, .chain = kernel, .clock = COMPUTE_CLOCKS, .level = LEVEL_L1};
    fill_states(session, kernel);
    TRY(calibrate(session, &tried));
    double per_s = ceiling_try(session, &tried);
    ceiling_add_trial(chosen, (struct ceiling_trial){kernel->class_, kernel->chains, per_s});
    if (per_s > *best) {
        *best = per_s;
        memcpy(tried.trials, chosen->trials, sizeof tried.trials);
        tried.trial_count = chosen->trial_count;
        *chosen = tried;
    }
    return status_ok();
}

// The type's own instructions first, then f32 for types that are widened: on a busy machine each
// of the two gets its time, and one candidate at least.
static struct status try_chains(struct ceiling *chosen, double *best, struct ceilings *session,
                                const char *dtype, const char *class_, bool widened)
{
    double give_up = clock_seconds() + session->patience_seconds;
    size_t tried = 0;
    for (size_t i = 0; i < session->kernels->compute_count; i++) {
        const struct compute_kernel *kernel = session->kernels->compute[i];
        bool late = tried > 0 && clock_seconds() > give_up;
        if (!late && session->kernels->verified[i] && does_arithmetic_on(kernel, dtype) &&
            (strcmp(kernel->dtype, dtype) != 0) == widened &&
            (class_ == NULL || strcmp(class_, kernel->class_) == 0)) {
            TRY(try_chain(chosen, best, session, kernel));
            tried++;
        }
    }
    return status_ok();
}

struct status ceiling_choose_compute(struct ceiling *out, struct ceilings *session,
                                     const char *dtype, const char *class_)
{
    double best = 0;
    struct ceiling chosen = {.kind = CEILING_CHAIN};
    struct status status = try_chains(&chosen, &best, session, dtype, class_, false);
    if (status.code == STATUS_OK) {
        status = try_chains(&chosen, &best, session, dtype, class_, true);
    }
    if (chosen.chain == NULL && status.code != STATUS_OK) {
        return status;
    }
    if (chosen.chain == NULL) {
        return status_error(STATUS_UNAVAILABLE, "this CPU has no verified %s arithmetic%s%s", dtype,
                            class_ != NULL ? " of class " : "", class_ != NULL ? class_ : "");
    }
    fill_states(session, chosen.chain);
    chosen.clock = choose_clock(session, &chosen);
    (void)strncpy(chosen.dtype, dtype, sizeof chosen.dtype - 1);
    *out = chosen;
    return status_ok();
}
