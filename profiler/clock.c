#include "profiler/clock.h"

#include <time.h>

static double seconds_of(struct timespec t)
{
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return seconds_of(now);
}

double clock_resolution_seconds(void)
{
    struct timespec resolution;
    (void)clock_getres(CLOCK_MONOTONIC, &resolution);
    return seconds_of(resolution);
}
