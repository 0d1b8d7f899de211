#include "roofline/outlier.h"

#include "roofline/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { REPEATS_MAX = 64 };

double outlier_middle(const double *values, size_t n)
{
    double means[REPEATS_MAX * (REPEATS_MAX + 1) / 2];
    size_t count = 0;
    assert(n >= 1 && n <= REPEATS_MAX);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            means[count++] = (values[i] + values[j]) / 2;
        }
    }
    return stats_median(means, count);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// stats_median() copies onto the stack, which fleets are too large for.
static double median_in_place(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void outlier_spread(struct outlier_spread *out, double *values, double *scratch, size_t n)
{
    out->center = median_in_place(values, n);
    out->scale = (double)NAN;
    if (n >= OUTLIER_LIKE_MIN) {
        for (size_t i = 0; i < n; i++) {
            scratch[i] = fabs(values[i] - out->center);
        }
        out->scale = fmax(1.4826 * median_in_place(scratch, n), OUTLIER_SCALE_MIN);
    }
}

// Integral of cos^power from low to pi/2 by Simpson's rule. With t = sqrt(v) tan x, Student's
// density of v degrees of freedom is proportional to cos^(v - 1) x.
static double integral(double low, double power)
{
    enum { PARTS = 2000 };
    double width = (acos(-1) / 2 - low) / PARTS;
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        double weight = i == 0 || i == PARTS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * pow(fmax(cos(low + i * width), 0), power);
    }
    return sum * width / 3;
}

double outlier_limit(size_t like, size_t tests)
{
    assert(like >= OUTLIER_LIKE_MIN && tests >= 1);
    // Beyond, Student's is the normal distribution but for the third decimal, and the integral's
    // peak would be narrower than its parts.
    const double normal = 1e4;
    double freedom = fmin(0.367 * (double)(like - 1), normal);
    double tail = OUTLIER_ALPHA / (double)tests; // both sides
    double half = integral(0, freedom - 1);
    double low = 0;
    double high = acos(-1) / 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (integral(middle, freedom - 1) / half > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sqrt(freedom) * tan(low);
}
