#ifndef PROFILER_CLOCK_H
#define PROFILER_CLOCK_H

/** The one clock: CLOCK_MONOTONIC in seconds. */

double clock_seconds(void);

/** Resolution in seconds, as the kernel tells it. */
double clock_resolution_seconds(void);

#endif
