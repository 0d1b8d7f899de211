#include "profiler/plot.h"

#include "roofline/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_tick(struct plot_axis *axis, double value, bool named)
{
    if (axis->tick_count == PLOT_TICKS_MAX || value < axis->low / 1.0001 ||
        value > axis->high * 1.0001) {
        return;
    }
    struct plot_tick *tick = &axis->ticks[axis->tick_count++];
    char text[UNITS_TEXT] = "";
    tick->value = value;
    if (named) {
        units_format_short(text, value, "");
    }
    (void)snprintf(tick->text, sizeof tick->text, "%s", text);
}

void plot_axis_ticks(struct plot_axis *axis)
{
    const double steps[] = {1, 2, 5};
    double decades = log10(axis->high / axis->low);
    int first = (int)floor(log10(axis->low));
    int last = (int)ceil(log10(axis->high));
    axis->tick_count = 0;
    for (int exponent = first; exponent <= last; exponent++) {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            add_tick(axis, steps[i] * pow(10, exponent), i == 0 || decades < 4.6);
        }
    }
}

// Least squares under the order: isotonic regression by pooling neighbours that violate it
// (Barlow, Bartholomew, Bremner, Brunk, Statistical Inference under Order Restrictions, 1.2) on
// z[i] = log y[i] + i log gap, which must not increase.
void plot_spread(double *ys, size_t n, double gap)
{
    double mean[PLOT_KEYS_MAX];
    size_t size[PLOT_KEYS_MAX];
    size_t blocks = 0;
    assert(n <= PLOT_KEYS_MAX && gap > 1);
    for (size_t i = 0; i < n; i++) {
        mean[blocks] = log(ys[i]) + (double)i * log(gap);
        size[blocks++] = 1;
        while (blocks > 1 && mean[blocks - 1] > mean[blocks - 2]) {
            size_t both = size[blocks - 2] + size[blocks - 1];
            mean[blocks - 2] = (mean[blocks - 2] * (double)size[blocks - 2] +
                                mean[blocks - 1] * (double)size[blocks - 1]) /
                               (double)both;
            size[blocks - 2] = both;
            blocks--;
        }
    }
    size_t i = 0;
    for (size_t block = 0; block < blocks; block++) {
        for (size_t k = 0; k < size[block]; k++, i++) {
            ys[i] = exp(mean[block] - (double)i * log(gap));
        }
    }
}

void plot_free(struct plot *plot)
{
    free(plot->roofs);
    free(plot->points);
    free(plot->notes);
    memset(plot, 0, sizeof *plot);
}
