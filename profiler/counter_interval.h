#ifndef PROFILER_COUNTER_INTERVAL_H
#define PROFILER_COUNTER_INTERVAL_H

/** What a set counted between two readings: differences, scaled by the time that the counters
 *  really ran, each with its own fault. Pure. */

#include "profiler/counter_source.h"

struct counter_interval {
    double count[COUNTER_EVENTS_MAX]; /**< events, scaled to the whole interval; whole numbers */
    double running_fraction[COUNTER_EVENTS_MAX]; /**< NaN: the source cannot tell */
    enum counter_fault fault[COUNTER_EVENTS_MAX];
};

/** The interval of count events from before (NULL: from zero) to after. */
void counter_interval_of(struct counter_interval *out, const struct counter_event *events,
                         size_t count, const struct counter_values *before,
                         const struct counter_values *after);

#endif
