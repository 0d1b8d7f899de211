#ifndef ROOFLINE_SPREAD_H
#define ROOFLINE_SPREAD_H

/** A bounded sample of a long series, spread evenly over it: what a roof measured beside every
 *  point of a run looked like during the whole run, not at its end. */

#include "roofline/reading.h"

#include <stddef.h>
#include <stdint.h>

/** Zeroed is empty. */
struct spread {
    uint64_t seen;                      /**< values offered */
    uint64_t stride;                    /**< one in this many is kept; 0: none seen yet */
    size_t n;                           /**< kept, at most READING_SAMPLES_MAX */
    double values[READING_SAMPLES_MAX]; /**< in the order of the series */
};

/** Offers the next value. When all places are taken every other one is freed and half as many
 *  values are kept from then on, so at least READING_SAMPLES_MAX / 2 stay. */
void spread_add(struct spread *spread, double value);

#endif
