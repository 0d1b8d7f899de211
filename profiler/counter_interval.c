#include "profiler/counter_interval.h"

#include <math.h>

// Running over enabled time; NaN where the source tells no times, or where an event counted within
// one tick of the kernel's clock (a virtual machine's may be its timer).
static double running_fraction(const struct counter_values *before,
                               const struct counter_values *after, size_t i)
{
    if (after->enabled_ns[i] == 0 && after->running_ns[i] == 0) {
        return (double)NAN;
    }
    uint64_t enabled = after->enabled_ns[i] - before->enabled_ns[i];
    uint64_t running = after->running_ns[i] - before->running_ns[i];
    if (enabled == 0) {
        return after->value[i] != before->value[i] ? (double)NAN : 0;
    }
    return (double)running / (double)enabled;
}

void counter_interval_of(struct counter_interval *out, const struct counter_event *events,
                         size_t count, const struct counter_values *before,
                         const struct counter_values *after)
{
    static const struct counter_values zero;
    if (before == NULL) {
        before = &zero;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t delta = 0;
        out->fault[i] =
            counter_delta(&delta, before->value[i], after->value[i], events[i].width_bits);
        double fraction = running_fraction(before, after, i);
        out->running_fraction[i] = fraction;
        if (out->fault[i] == FAULT_NONE && !isnan(fraction)) {
            out->fault[i] = counter_fault_of_running(fraction);
        }
        out->count[i] = (double)delta;
        if (fraction > 0 && fraction < 1) {
            out->count[i] = nearbyint((double)delta / fraction);
        }
    }
}
