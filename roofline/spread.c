#include "roofline/spread.h"

static void thin_out(struct spread *spread)
{
    spread->n /= 2;
    spread->stride *= 2;
    for (size_t i = 0; i < spread->n; i++) {
        spread->values[i] = spread->values[2 * i];
    }
}

void spread_add(struct spread *spread, double value)
{
    if (spread->stride == 0) {
        spread->stride = 1;
    }
    if (spread->n == READING_SAMPLES_MAX) {
        thin_out(spread);
    }
    if (spread->seen % spread->stride == 0) {
        spread->values[spread->n++] = value;
    }
    spread->seen++;
}
