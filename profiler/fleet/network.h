#ifndef FLEET_NETWORK_H
#define FLEET_NETWORK_H

/** Interconnect roofs: how long messages between two ranks and all-reduces of all take, by size.
 *  All functions are called by all ranks. */

#include "profiler/fleet/watchdog.h"
#include "profiler/fleet/world.h"
#include "roofline/reading.h"

enum { NETWORK_SIZES_MAX = 32, NETWORK_BYTES_MAX = 1 << 28 };

struct network_options {
    struct world *world;
    struct watchdog *watchdog;
    unsigned repeats;      /**< samples of each size, at most READING_SAMPLES_MAX */
    double sample_seconds; /**< a sample repeats its message until it lasts so long */
    void *buffer;          /**< of the largest size, aligned for float, touched */
};

/** Seconds of one message from one rank to another: half of its way there and back. */
void network_ping(struct reading *out, const struct network_options *options, unsigned from,
                  unsigned to, size_t bytes);

/** Seconds of one all-reduce of bytes (a multiple of 4) in floats, of the slowest rank. */
void network_all_reduce(struct reading *out, const struct network_options *options, size_t bytes);

#endif
