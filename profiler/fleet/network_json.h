#ifndef FLEET_NETWORK_JSON_H
#define FLEET_NETWORK_JSON_H

/** The document of `lmroof-fleet net`: lmroof.network/1. */

#include "profiler/command.h"
#include "profiler/fleet/network.h"
#include "profiler/fleet/units.h"

struct network_point {
    size_t bytes;
    struct reading seconds;
};

struct network_link {
    unsigned from;
    unsigned to;
    size_t count;
    struct network_point points[NETWORK_SIZES_MAX];
};

struct network_report {
    bool complete;
    char library[96];
    unsigned ranks;
    char (*hosts)[FLEET_HOST];  /**< by rank; owned */
    struct network_link *links; /**< owned */
    size_t link_count;
    struct network_point all_reduce[NETWORK_SIZES_MAX];
    size_t all_reduce_count;
};

CHECKED struct status network_write(const struct network_report *report,
                                    const struct command_context *context, const char *path,
                                    bool to_stdout);

#endif
