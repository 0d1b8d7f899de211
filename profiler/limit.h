#ifndef PROFILER_LIMIT_H
#define PROFILER_LIMIT_H

/** When measuring is to stop: for a signal, or at an instant. Whatever repeats itself asks between
 *  two samples, so that a machine that gives us little time costs one sample more, not hundreds. */

#include "roofline/status.h"

#include <signal.h>
#include <stdbool.h>

/** Zeroed: never. */
struct limit {
    const volatile sig_atomic_t *signal; /**< number of a signal to stop for, or 0; NULL: none */
    double until_seconds;                /**< of clock_seconds(); 0: no such instant */
};

/** True once the signal came or the instant is past. */
bool limit_reached(const struct limit *limit);

/** The same as a status: INTERRUPTED, or UNAVAILABLE "the time is up". */
CHECKED struct status limit_heed(const struct limit *limit);

/** True if status is of an instant that is past, not of a thing that cannot be had. */
bool limit_is_why(const struct limit *limit, struct status status);

#endif
