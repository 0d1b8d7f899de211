// Gives one figure of one ceiling per line of stdin, so that a script can take turns with a peer.
//   ceiling_sampler THREADS stream LEVEL KERNEL BYTES   (bytes in total, as the peer walks)
//   ceiling_sampler THREADS compute DTYPE
//   ceiling_sampler ratio                               (lines "a b": median and interval of a/b)
#include "machines/detect.h"
#include "profiler/ceiling.h"
#include "profiler/clock.h"
#include "profiler/placement.h"
#include "roofline/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct status status)
{
    (void)fprintf(stderr, "ceiling_sampler: %s\n", status.detail);
    return 1;
}

static int print_ratio(void)
{
    double a[STATS_MAX];
    double b[STATS_MAX];
    size_t count = 0;
    while (count < STATS_MAX && scanf("%lf %lf", &a[count], &b[count]) == 2) {
        count++;
    }
    if (count == 0) {
        return 1;
    }
    double median = 0;
    double low = 0;
    double high = 0;
    stats_paired_ratio(&median, &low, &high, a, b, count);
    (void)printf("%.4f %.4f %.4f\n", median, low, high);
    return 0;
}

// Median rate of half a second, or the best as STREAM reports it.
static double figure(struct ceilings *session, struct ceiling *ceiling, bool best)
{
    double most = 0;
    double rates[STATS_MAX];
    size_t count = 0;
    double end = clock_seconds() + 0.5;
    while (count < 3 || (clock_seconds() < end && count < STATS_MAX)) {
        struct ceiling_sample sample;
        ceiling_sample(&sample, session, ceiling);
        rates[count++] = sample.per_s;
        most = sample.per_s > most ? sample.per_s : most;
    }
    return best ? most : stats_median(rates, count);
}

static struct status choose(struct ceiling *out, struct ceilings *session, char **argv,
                            uint64_t bytes)
{
    enum memory_level level = LEVEL_DRAM;
    if (strcmp(argv[2], "compute") == 0) {
        return ceiling_choose_compute(out, session, argv[3], NULL);
    }
    if (!memory_level_of_name(&level, argv[3])) {
        return status_error(STATUS_INVALID, "no level '%s'", argv[3]);
    }
    return ceiling_choose_stream_in(out, session, level, argv[4], bytes);
}

static struct status serve(struct ceilings *session, char **argv, uint64_t bytes)
{
    static struct ceiling chosen;
    char line[64];
    TRY(choose(&chosen, session, argv, bytes));
    if (chosen.kind == CEILING_STREAM) {
        (void)fprintf(stderr, "lmroof: %s %s, %s\n", argv[3], argv[4], chosen.stream->variant);
    } else {
        (void)fprintf(stderr, "lmroof: %s, %u chains\n", chosen.chain->class_,
                      chosen.chain->chains);
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        (void)printf("%.6g\n", figure(session, &chosen, strcmp(argv[2], "best") == 0));
        (void)fflush(stdout);
    }
    return status_ok();
}

static struct status run(unsigned threads, char **argv, uint64_t bytes)
{
    struct machine machine;
    static struct ceiling_kernels kernels;
    struct team *team = NULL;
    struct arena arena;
    struct ceilings *session = NULL;
    unsigned cpus[MACHINE_CPUS_MAX];
    TRY(machine_detect(&machine));
    TRY(placement_cpus(cpus, &machine, threads));
    TRY(ceiling_kernels_load(&kernels, isa_detect()));
    TRY(team_create(&team, cpus, threads));
    TRY(arena_map(&arena, bytes + 64 * STREAM_BLOCK * (uint64_t)threads, true));
    TRY(ceilings_create(&session, &machine, team, &arena, &kernels));
    struct status status = ceilings_fill(session);
    if (status.code == STATUS_OK) {
        status = serve(session, argv, bytes);
    }
    ceilings_destroy(session);
    arena_unmap(&arena);
    team_destroy(team);
    machine_free(&machine);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "ratio") == 0) {
        return print_ratio();
    }
    bool stream = argc == 6 && (strcmp(argv[2], "stream") == 0 || strcmp(argv[2], "best") == 0);
    if (!stream && !(argc == 4 && strcmp(argv[2], "compute") == 0)) {
        (void)fprintf(stderr, "usage: see the head of ceiling_sampler.c\n");
        return 2;
    }
    uint64_t bytes = stream ? strtoull(argv[5], NULL, 10) : (uint64_t)1 << 20;
    struct status status = run((unsigned)strtoul(argv[1], NULL, 10), argv, bytes);
    return status.code == STATUS_OK ? 0 : fail(status);
}
