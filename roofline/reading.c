#include "roofline/reading.h"

#include "roofline/stats.h"

#include <math.h>
#include <stdio.h>

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {
        [ORIGIN_ABSENT] = "absent",       [ORIGIN_COUNTED] = "counted",
        [ORIGIN_TIMED] = "timed",         [ORIGIN_MODELLED] = "modelled",
        [ORIGIN_SIMULATED] = "simulated", [ORIGIN_DATASHEET] = "datasheet",
        [ORIGIN_IMPORTED] = "imported"};
    return names[origin];
}

const char *absent_state_name(enum absent_state state)
{
    static const char *const names[] = {[ABSENT_NOT_ASKED] = "not_asked",
                                        [ABSENT_UNSUPPORTED] = "unsupported",
                                        [ABSENT_NOT_PERMITTED] = "not_permitted",
                                        [ABSENT_NOT_SCHEDULED] = "not_scheduled",
                                        [ABSENT_FAILED_CERTIFICATE] = "failed_certificate",
                                        [ABSENT_FAILED] = "failed"};
    return names[state];
}

struct reading reading_absent(enum absent_state state, const char *text, const char *try_)
{
    struct reading out = {.origin = ORIGIN_ABSENT,
                          .value = (double)NAN,
                          .ci95_low = (double)NAN,
                          .ci95_high = (double)NAN,
                          .best = (double)NAN,
                          .absence = {.state = state}};
    (void)snprintf(out.absence.text, sizeof out.absence.text, "%s", text);
    (void)snprintf(out.absence.try_, sizeof out.absence.try_, "%s", try_ == NULL ? "" : try_);
    return out;
}

struct reading reading_plain(double value, enum origin origin)
{
    struct reading out = {.origin = origin,
                          .value = value,
                          .ci95_low = (double)NAN,
                          .ci95_high = (double)NAN,
                          .best = value};
    return out;
}

struct reading reading_of_samples(const double *samples, size_t n, enum better better,
                                  enum origin origin)
{
    if (n == 0) {
        return reading_absent(ABSENT_FAILED, "no undisturbed sample", NULL);
    }
    struct reading out = {.origin = origin};
    out.n = n < READING_SAMPLES_MAX ? n : READING_SAMPLES_MAX;
    out.best = samples[0];
    for (size_t i = 0; i < out.n; i++) {
        out.samples[i] = samples[i];
        out.best =
            better == BETTER_HIGHER ? fmax(out.best, samples[i]) : fmin(out.best, samples[i]);
    }
    out.value = stats_median(out.samples, out.n);
    stats_median_ci95(&out.ci95_low, &out.ci95_high, out.samples, out.n);
    return out;
}

bool reading_is_present(const struct reading *reading)
{
    return reading->origin != ORIGIN_ABSENT;
}

struct reading reading_rate(double numerator, const struct reading *seconds)
{
    struct reading out = *seconds;
    if (!reading_is_present(seconds)) {
        return out;
    }
    for (size_t i = 0; i < seconds->n; i++) {
        out.samples[i] = numerator / seconds->samples[i];
    }
    out.value = numerator / seconds->value;
    out.ci95_low = numerator / seconds->ci95_high;
    out.ci95_high = numerator / seconds->ci95_low;
    out.best = numerator / seconds->best;
    return out;
}
