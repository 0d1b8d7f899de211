// What counting costs: an empty work in all threads without counters, with the null source (the
// session's own cost), and with the kernel's counters. Medians; run it on a quiet machine.
#include "machines/detect.h"
#include "profiler/counters.h"
#include "roofline/stats.h"

#include <stdio.h>

enum { SAMPLES = 301 };

static void nothing(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)thread;
    (void)threads;
}

struct timed {
    struct team *team;
    size_t n;
    double seconds[SAMPLES];
};

static double run(void *context, struct team_probe probe)
{
    struct timed *timed = context;
    struct team_sample sample;
    team_time_probed(&sample, timed->team, (struct team_body){nothing, NULL}, probe);
    if (timed->n < SAMPLES) {
        timed->seconds[timed->n++] = sample.seconds;
    }
    return 1;
}

static struct status with(enum counter_policy policy, const char *name,
                          const struct machine *machine, struct team *team)
{
    struct counter_session *session = NULL;
    struct timed timed = {.team = team};
    TRY(counter_session_open(&session, machine, team, &(struct counter_options){.policy = policy}));
    while (counter_session_counts(session) && timed.n < SAMPLES) {
        counter_session_measure(session, &(struct counter_work){.run = run, .context = &timed});
    }
    if (timed.n > 0) {
        printf("%-20s %.3g us, %zu sets\n", name, 1e6 * stats_median(timed.seconds, timed.n),
               counter_session_passes(session));
    } else {
        printf("%-20s nothing to count here\n", name);
    }
    counter_session_close(session);
    return status_ok();
}

static struct status measure(const struct machine *machine, struct team *team)
{
    double seconds[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        struct team_sample sample;
        team_time(&sample, team, (struct team_body){nothing, NULL});
        seconds[i] = sample.seconds;
    }
    printf("%-20s %.3g us\n", "without counters", 1e6 * stats_median(seconds, SAMPLES));
    TRY(with(COUNTERS_NULL, "null source", machine, team));
    TRY(with(COUNTERS_PERF, "perf", machine, team));
    return with(COUNTERS_PAPI, "papi", machine, team);
}

int main(void)
{
    struct machine machine;
    struct team *team = NULL;
    unsigned cpus[MACHINE_CPUS_MAX];
    struct status status = machine_detect(&machine);
    if (status_is_ok(status)) {
        for (size_t i = 0; i < machine.usable_count && i < MACHINE_CPUS_MAX; i++) {
            cpus[i] = machine.usable[i].os_index;
        }
        status = team_create(&team, cpus, machine_default_threads(&machine, false));
    }
    if (status_is_ok(status)) {
        status = measure(&machine, team);
    }
    if (!status_is_ok(status)) {
        (void)fprintf(stderr, "counting_cost: %s\n", status.detail);
    }
    team_destroy(team);
    machine_free(&machine);
    return status_is_ok(status) ? 0 : 1;
}
