#include "profiler/session.h"

#include "machines/bind.h"
#include "machines/detect.h"
#include "profiler/host_blas.h"
#include "profiler/rotation.h"
#include "profiler/session_memory.h"
#include "workloads/linear_trial.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Without a last-level cache size (VMs hide it) this much is assumed to be out of any reach.
static const uint64_t unknown_llc_dram_bytes = (uint64_t)1 << 30;
static const uint64_t dram_bytes_min = (uint64_t)256 << 20;

// One PU of each core first, the nodes in turn, then the siblings.
static struct status choose_cpus(struct session *s)
{
    const struct machine *m = &s->machine;
    s->threads =
        s->options.threads > 0 ? s->options.threads : machine_default_threads(m, s->options.smt);
    if (s->threads > m->usable_count) {
        return status_error(STATUS_INVALID,
                            "--threads %u: this process may use %zu cpus (affinity mask, cpuset); "
                            "accepted are 1 to %zu",
                            s->threads, m->usable_count, m->usable_count);
    }
    s->cpus = calloc(s->threads, sizeof *s->cpus);
    if (s->cpus == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a list of cpus");
    }
    return bind_choose(s->cpus, m, s->threads, true);
}

struct status session_open(struct session *out, const struct session_options *options)
{
    memset(out, 0, sizeof *out);
    out->options = *options;
    out->read_growth = (double)NAN;
    out->other_mix = (double)NAN;
    TRY(machine_detect(&out->machine));
    TRY(choose_cpus(out));
    out->isa = linear_trial(isa_detect());
    TRY(ceiling_kernels_load(&out->kernels, out->isa));
    struct status status = host_blas_open(&out->blas, &out->machine, out->isa);
    if (status.code != STATUS_OK) {
        (void)snprintf(out->blas_absent, sizeof out->blas_absent, "%s", status.detail);
    }
    return status_ok();
}

uint64_t session_dram_bytes(const struct session *session)
{
    uint64_t llc = session->machine.llc_total_bytes;
    uint64_t bytes = llc == 0 ? unknown_llc_dram_bytes : 4 * llc;
    return bytes < dram_bytes_min ? dram_bytes_min : bytes;
}

// NaN once the limit is reached.
static double best_of(struct ceilings *ceilings, struct ceiling *ceiling, const struct limit *limit)
{
    enum { SAMPLES = 5 };
    double best = 0;
    for (int i = 0; i < SAMPLES; i++) {
        if (limit_reached(limit)) {
            return (double)NAN; // the best of fewer would not compare
        }
        struct ceiling_sample sample;
        ceiling_sample(&sample, ceilings, ceiling);
        best = fmax(best, sample.per_s);
    }
    return best;
}

// What only evidence needs ends early.
static struct limit evidence_limit(const struct session *s)
{
    double until = s->options.evidence_until_seconds;
    struct limit limit = s->options.limit;
    limit.until_seconds = until > 0 ? until : limit.until_seconds;
    return limit;
}

// Reads of the first half of the threads; NaN if they could not be measured.
static double half_team_read(struct session *s)
{
    const struct limit limit = evidence_limit(s);
    struct team *half = NULL;
    struct ceilings *ceilings = NULL;
    struct ceiling read;
    double rate = (double)NAN;
    struct status status = team_create(&half, s->cpus, s->threads / 2);
    if (status.code == STATUS_OK) {
        status = ceilings_create(&ceilings, &s->machine, half, &s->arena, &s->kernels);
    }
    if (status.code == STATUS_OK) {
        ceilings_stop_for(ceilings, limit);
        status = ceiling_choose_stream(&read, ceilings, LEVEL_DRAM, "load");
    }
    if (status.code == STATUS_OK) {
        rate = best_of(ceilings, &read, &limit);
    }
    ceilings_destroy(ceilings);
    team_destroy(half);
    return rate;
}

static void measure_other_mix(struct session *s, double read)
{
    const struct limit limit = evidence_limit(s);
    static const char *const kernels[] = {"store_nt", "copy_nt"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct ceiling mix;
        struct status status = ceiling_choose_stream(&mix, s->ceilings, LEVEL_DRAM, kernels[i]);
        if (status.code != STATUS_OK) {
            continue;
        }
        double ratio = best_of(s->ceilings, &mix, &limit) / read;
        if (!isnan(ratio) && !(ratio <= s->other_mix)) {
            s->other_mix = ratio;
            (void)snprintf(s->other_mix_name, sizeof s->other_mix_name, "%s", kernels[i]);
        }
    }
}

static struct status start_team(struct session *s)
{
    team_destroy(s->team);
    s->team = NULL;
    return team_create(&s->team, s->cpus, s->threads);
}

static struct status fill(struct session *s)
{
    rotation_fill(s->team, &s->arena, &s->options.limit);
    return limit_heed(&s->options.limit);
}

static struct status start_ceilings(struct session *s)
{
    TRY(start_team(s)); // the half team shrank OpenMP's pool
    if (s->blas != NULL) {
        blas_set_threads(s->blas, s->threads);
    }
    TRY(ceilings_create(&s->ceilings, &s->machine, s->team, &s->arena, &s->kernels));
    ceilings_stop_for(s->ceilings, s->options.limit);
    return ceiling_choose_stream(&s->read_dram, s->ceilings, LEVEL_DRAM, "load");
}

// Both keep to the limit of evidence: read_growth and other_mix are NaN for what was not reached.
static void measure_mixes(struct session *s, double half)
{
    const struct limit limit = evidence_limit(s);
    double read = best_of(s->ceilings, &s->read_dram, &s->options.limit);
    s->read_growth = read / half;
    ceilings_stop_for(s->ceilings, limit);
    measure_other_mix(s, read);
    ceilings_stop_for(s->ceilings, s->options.limit);
    s->hurried = limit_reached(&limit);
}

struct status session_start(struct session *session, uint64_t arena_bytes)
{
    struct session *s = session;
    uint64_t bytes = session_dram_bytes(s) > arena_bytes ? session_dram_bytes(s) : arena_bytes;
    TRY(session_memory_map(s, bytes));
    TRY(start_team(s));
    TRY(fill(s)); // first touch by the threads that will read
    TRY(session_memory_check(s));
    double half = s->threads > 1 ? half_team_read(s) : (double)NAN;
    TRY(start_ceilings(s));
    measure_mixes(s, half);
    return fill(s); // the stores left other values
}

static unsigned core_of(const struct session *s, unsigned thread)
{
    for (size_t i = 0; i < s->machine.usable_count; i++) {
        if (s->machine.usable[i].os_index == s->cpus[thread]) {
            return s->machine.usable[i].core;
        }
    }
    return UINT_MAX;
}

bool session_shares_cores(const struct session *session)
{
    for (unsigned t = 0; t < session->threads; t++) {
        for (unsigned other = 0; other < t; other++) {
            if (core_of(session, t) == core_of(session, other)) {
                return true;
            }
        }
    }
    return false;
}

void session_close(struct session *session)
{
    ceilings_destroy(session->ceilings);
    team_destroy(session->team);
    arena_unmap(&session->arena);
    blas_close(session->blas);
    free(session->copy_of);
    free(session->cpus);
    machine_free(&session->machine);
    memset(session, 0, sizeof *session);
}
