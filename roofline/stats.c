#include "roofline/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_copy(double *out, const double *values, size_t n)
{
    assert(n >= 1 && n <= STATS_MAX);
    memcpy(out, values, n * sizeof *out);
    qsort(out, n, sizeof *out, compare_doubles);
}

double stats_quantile(const double *values, size_t n, double p)
{
    double sorted[STATS_MAX];
    sort_copy(sorted, values, n);
    double position = p * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n) {
        return sorted[n - 1];
    }
    double part = position - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double stats_median(const double *values, size_t n)
{
    return stats_quantile(values, n, 0.5);
}

// Largest rank r (0-based) with P(Binomial(n, 1/2) <= r) <= 0.025, so that the order statistics
// r and n-1-r enclose the median with at least 95 %; 0 where there is none.
static size_t ci95_rank(size_t n)
{
    double log_term = -(double)n * log(2.0); // log of C(n,0) / 2^n
    double cumulative = 0;
    for (size_t k = 0; k < n / 2; k++) {
        cumulative += exp(log_term);
        if (cumulative > 0.025) {
            return k == 0 ? 0 : k - 1;
        }
        log_term += log((double)(n - k)) - log((double)(k + 1));
    }
    return 0;
}

void stats_median_ci95(double *low, double *high, const double *values, size_t n)
{
    double sorted[STATS_MAX];
    sort_copy(sorted, values, n);
    size_t rank = ci95_rank(n);
    *low = sorted[rank];
    *high = sorted[n - 1 - rank];
}

void stats_paired_ratio(double *median, double *low, double *high, const double *a, const double *b,
                        size_t n)
{
    double ratios[STATS_MAX];
    assert(n >= 1 && n <= STATS_MAX);
    for (size_t i = 0; i < n; i++) {
        ratios[i] = a[i] / b[i];
    }
    *median = stats_median(ratios, n);
    stats_median_ci95(low, high, ratios, n);
}
