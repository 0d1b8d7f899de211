#ifndef ROOFLINE_STATS_H
#define ROOFLINE_STATS_H

/** Order statistics of small samples. Nothing here assumes a distribution. */

#include <stddef.h>

/** Median of n >= 1 values; the mean of the middle two for even n. values is not changed;
 *  n is at most STATS_MAX. */
double stats_median(const double *values, size_t n);

/** The p-quantile (0..1) of n >= 1 values, linear between order statistics (Hyndman & Fan 1996,
 *  type 7). */
double stats_quantile(const double *values, size_t n, double p);

/** 95 % confidence interval of the median from order statistics: the narrowest symmetric pair of
 *  ranks whose binomial coverage is at least 0.95; the extremes where no pair reaches it (n < 6).
 */
void stats_median_ci95(double *low, double *high, const double *values, size_t n);

/** Median and 95 % interval of the paired ratio a[i] / b[i], i < n. */
void stats_paired_ratio(double *median, double *low, double *high, const double *a, const double *b,
                        size_t n);

enum { STATS_MAX = 4096 };

#endif
