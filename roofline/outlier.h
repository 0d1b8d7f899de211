#ifndef ROOFLINE_OUTLIER_H
#define ROOFLINE_OUTLIER_H

/** Which of many like machines differ from the rest, judged by themselves: no threshold in percent
 *  fits both a quiet fleet and a noisy one. Pure arithmetic. */

#include <stddef.h>

/** The middle of a machine's repeats, n in 1..64: the median of the means of all pairs, each value
 *  with itself too (Hodges & Lehmann, Ann. Math. Stat. 34(2), 1963). One wild repeat of five does
 *  not move it far, and on Gaussian noise it is nearly as steady as the mean (the median needs
 *  half as many repeats more). */
double outlier_middle(const double *values, size_t n);

/** Center and spread of like machines. */
struct outlier_spread {
    double center;
    double scale; /**< 1.4826 x median absolute deviation: sigma of Gaussian values; at least
                       OUTLIER_SCALE_MIN. NaN for fewer than OUTLIER_LIKE_MIN values */
};

enum { OUTLIER_LIKE_MIN = 5 };

/** Values are logarithms of rates, so scales are relative: a tenth of a percent is less than any
 *  machine repeats to. */
#define OUTLIER_SCALE_MIN 0.001

/** A thousandth of all rankings may name a healthy machine. */
#define OUTLIER_ALPHA 0.001

/** Of n >= 1 logarithms; values are reordered, scratch has room for n. */
void outlier_spread(struct outlier_spread *out, double *values, double *scratch, size_t n);

/** Robust z above which a machine is an outlier, when `tests` values of groups of `like` machines
 *  are judged at once: the two-sided quantile of Student's t at OUTLIER_ALPHA / tests. Its degrees
 *  of freedom are what the spread's estimate is worth: 0.367 (like - 1), the efficiency of the
 *  median absolute deviation (Rousseeuw & Croux, J. Am. Stat. Assoc. 88(424), 1993). like is at
 *  least OUTLIER_LIKE_MIN. */
double outlier_limit(size_t like, size_t tests);

#endif
