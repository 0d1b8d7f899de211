#include "profiler/team.h"

#include "profiler/clock.h"

#include <omp.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct team {
    unsigned threads;
    unsigned *cpus;
    cpu_set_t *inherited; // affinity of the first thread before the team
    size_t set_bytes;
    int set_cpus;
    struct interference *meter;
    struct interference_signs signs; // summed over the samples
};

static bool bind_to(const struct team *team, unsigned cpu)
{
    cpu_set_t *set = CPU_ALLOC((size_t)team->set_cpus);
    if (set == NULL) {
        return false;
    }
    CPU_ZERO_S(team->set_bytes, set);
    CPU_SET_S(cpu, team->set_bytes, set);
    bool bound = sched_setaffinity(0, team->set_bytes, set) == 0;
    CPU_FREE(set);
    return bound;
}

// Binding at every region costs microseconds outside the timed part and keeps a pool right that
// OpenMP may have regrown since.
static bool bind_all(const struct team *team)
{
    bool bound = true;
    unsigned granted = 0;
#pragma omp parallel num_threads((int)team->threads) reduction(&& : bound) reduction(+ : granted)
    {
        granted = 1;
        bound = bind_to(team, team->cpus[omp_get_thread_num()]);
    }
    return bound && granted == team->threads;
}

static struct status team_setup(struct team *team, const unsigned *cpus, unsigned threads)
{
    unsigned highest = 0;
    team->threads = threads;
    team->cpus = malloc(threads * sizeof *team->cpus);
    if (team->cpus == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a team of %u threads", threads);
    }
    for (unsigned i = 0; i < threads; i++) {
        team->cpus[i] = cpus[i];
        highest = cpus[i] > highest ? cpus[i] : highest;
    }
    // The kernel refuses masks shorter than its own: 8192 is above every distribution's NR_CPUS.
    team->set_cpus = highest < 8192 ? 8192 : (int)highest + 1;
    team->set_bytes = CPU_ALLOC_SIZE((size_t)team->set_cpus);
    team->inherited = CPU_ALLOC((size_t)team->set_cpus);
    if (team->inherited == NULL || sched_getaffinity(0, team->set_bytes, team->inherited) != 0) {
        return status_error(STATUS_SYSTEM, "cannot read the affinity mask: %s", strerror(errno));
    }
    omp_set_dynamic(0);
    omp_set_num_threads((int)threads);
    if (!bind_all(team)) {
        return status_error(STATUS_UNAVAILABLE,
                            "cannot run %u bound threads (cpus %u...%u): an affinity mask, cpuset "
                            "or OMP_THREAD_LIMIT forbids it",
                            threads, cpus[0], highest);
    }
    return interference_open(&team->meter, "", cpus, threads);
}

struct status team_create(struct team **out, const unsigned *cpus, unsigned threads)
{
    *out = NULL;
    if (threads == 0) {
        return status_error(STATUS_INVALID, "a team needs at least one thread");
    }
    struct team *team = calloc(1, sizeof *team);
    if (team == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a team");
    }
    struct status status = team_setup(team, cpus, threads);
    if (status.code != STATUS_OK) {
        team_destroy(team);
        return status;
    }
    *out = team;
    return status;
}

void team_destroy(struct team *team)
{
    if (team == NULL) {
        return;
    }
    if (team->inherited != NULL) {
        (void)sched_setaffinity(0, team->set_bytes, team->inherited);
        CPU_FREE(team->inherited);
    }
    interference_close(team->meter);
    free(team->cpus);
    free(team);
}

unsigned team_threads(const struct team *team)
{
    return team->threads;
}

unsigned team_cpu(const struct team *team, unsigned thread)
{
    return team->cpus[thread];
}

struct interference_signs team_signs(const struct team *team)
{
    return team->signs;
}

void team_run(struct team *team, struct team_body body)
{
#pragma omp parallel num_threads((int)team->threads)
    {
        unsigned thread = (unsigned)omp_get_thread_num();
        (void)bind_to(team, team->cpus[thread]);
        body.run(body.context, thread, team->threads);
    }
}

// Reading the signs takes some microseconds: always outside the clock's two readings.
static void finish_sample(struct team_sample *out, struct team *team, double seconds,
                          uint64_t switches, double on_cpu, const struct interference_mark *before)
{
    struct interference_mark after;
    interference_mark(&after, team->meter);
    interference_between(&out->signs, team->meter, before, &after);
    out->signs.involuntary_switches = (double)switches;
    out->signs.on_cpu_fraction = on_cpu;
    out->seconds = seconds;
    double cpu_seconds = out->signs.elapsed_seconds * team->threads;
    out->steal_fraction = isnan(out->signs.steal_seconds)
                              ? (double)NAN
                              : fmin(out->signs.steal_seconds / cpu_seconds, 1);
    out->disturbed = interference_disturbed(&out->signs);
    interference_add(&team->signs, &out->signs);
}

static void time_region(struct team_sample *out, struct team *team, struct team_body body,
                        const struct team_probe *probe, unsigned long repeats)
{
    double begin = 0;
    double end = 0;
    uint64_t switches = 0;
    double on_cpu = 1;
    struct interference_mark before;
    interference_mark(&before, team->meter);
#pragma omp parallel num_threads((int)team->threads) reduction(+ : switches) reduction(min : on_cpu)
    {
        unsigned thread = (unsigned)omp_get_thread_num();
        (void)bind_to(team, team->cpus[thread]);
        uint64_t switches_before = interference_thread_switches();
        double cpu_before = interference_thread_cpu_seconds();
        double wall_before = clock_seconds();
#pragma omp barrier
        if (thread == 0) {
            begin = clock_seconds();
        }
#pragma omp barrier
        if (probe != NULL) {
            probe->start(probe->context, thread);
        }
        for (unsigned long i = 0; i < repeats; i++) {
            body.run(body.context, thread, team->threads);
        }
        if (probe != NULL) {
            probe->stop(probe->context, thread);
        }
#pragma omp barrier
        if (thread == 0) {
            end = clock_seconds();
        }
        on_cpu = (interference_thread_cpu_seconds() - cpu_before) / (clock_seconds() - wall_before);
        switches += interference_thread_switches() - switches_before;
    }
    finish_sample(out, team, (end - begin) / (double)repeats, switches, on_cpu, &before);
}

void team_time(struct team_sample *out, struct team *team, struct team_body body)
{
    time_region(out, team, body, NULL, 1);
}

void team_time_probed(struct team_sample *out, struct team *team, struct team_body body,
                      struct team_probe probe)
{
    time_region(out, team, body, &probe, 1);
}

void team_time_call(struct team_sample *out, struct team *team, void (*call)(void *context),
                    void *context)
{
    struct interference_mark before;
    (void)bind_all(team);
    interference_mark(&before, team->meter);
    uint64_t switches = interference_process_switches();
    double cpu = interference_process_cpu_seconds();
    double begin = clock_seconds();
    call(context);
    double end = clock_seconds();
    cpu = interference_process_cpu_seconds() - cpu;
    switches = interference_process_switches() - switches;
    finish_sample(out, team, end - begin, switches, cpu / (end - begin) / team->threads, &before);
}

void team_time_repeated(struct team_sample *out, unsigned long *repeats, struct team *team,
                        struct team_body body, double seconds)
{
    if (*repeats == 0) {
        *repeats = 1;
        for (;;) {
            time_region(out, team, body, NULL, *repeats);
            double total = out->seconds * (double)*repeats;
            if (total >= seconds || *repeats > (1UL << 40)) {
                return;
            }
            double growth = total > 0 ? 1.2 * seconds / total : 10;
            *repeats = (unsigned long)ceil((double)*repeats * fmin(fmax(growth, 1.5), 10));
        }
    }
    time_region(out, team, body, NULL, *repeats);
}
