#ifndef ROOFLINE_READING_H
#define ROOFLINE_READING_H

/** A number that knows where it came from and how sure it is, or why it is not there.
 *  Absent is never 0: the value of an absent reading is NaN and it is written as null. */

#include <stdbool.h>
#include <stddef.h>

enum origin {
    ORIGIN_ABSENT,
    ORIGIN_COUNTED,   /**< read from a hardware counter */
    ORIGIN_TIMED,     /**< measured with a clock */
    ORIGIN_MODELLED,  /**< computed by the analytic model */
    ORIGIN_SIMULATED, /**< from an emulator or cache simulator */
    ORIGIN_DATASHEET, /**< published by the maker */
    ORIGIN_IMPORTED   /**< read from another tool's output */
};

/** Why a reading is absent (contract: why_absent.state). */
enum absent_state {
    ABSENT_NOT_ASKED,
    ABSENT_UNSUPPORTED,
    ABSENT_NOT_PERMITTED,
    ABSENT_NOT_SCHEDULED,
    ABSENT_FAILED_CERTIFICATE,
    ABSENT_FAILED
};

struct absence {
    enum absent_state state;
    char text[160]; /**< what was seen */
    char try_[160]; /**< what would change it; "" if nothing */
};

enum { READING_SAMPLES_MAX = 64 };

/** A measured quantity, in the unit that the field holding it names. value is the median of
 *  samples, ci95_low..ci95_high its 95 % interval, best the favourable extreme. With n = 0 the
 *  reading is a single derived or modelled number and ci95 may be NaN. */
struct reading {
    enum origin origin;
    double value;
    double ci95_low;
    double ci95_high;
    double best;
    size_t n;
    double samples[READING_SAMPLES_MAX]; /**< in the order of measurement; n of them */
    struct absence absence;              /**< meaningful if origin is ORIGIN_ABSENT */
};

/** Direction in which a quantity is good: chooses reading.best. */
enum better { BETTER_HIGHER, BETTER_LOWER };

/** "counted", "timed", ... as in the contract; "absent" for ORIGIN_ABSENT. Static text. */
const char *origin_name(enum origin origin);

/** An interval wider than this share of its value is called unsteady. */
#define READING_WIDE_FRACTION 0.2

/** "not_asked", "unsupported", ... as in the contract. Static text. */
const char *absent_state_name(enum absent_state state);

/** An absent reading; text and try_ (may be NULL) are copied, cut to their fields. */
struct reading reading_absent(enum absent_state state, const char *text, const char *try_);

/** A reading of one number without samples, for example a modelled value. */
struct reading reading_plain(double value, enum origin origin);

/** The reading of n samples (1..READING_SAMPLES_MAX; more are cut to the first ones): median,
 *  95 % interval of the median by order statistics (Conover, Practical Nonparametric
 *  Statistics, 3.2; the extremes where n < 6), best by direction. n = 0 gives an absent one. */
struct reading reading_of_samples(const double *samples, size_t n, enum better better,
                                  enum origin origin);

/** True unless origin is ORIGIN_ABSENT. */
bool reading_is_present(const struct reading *reading);

/** quotient[i] = numerator / samples[i]: a rate from the seconds of the same repeats. The
 *  origin is kept; absent stays absent. */
struct reading reading_rate(double numerator, const struct reading *seconds);

#endif
