#ifndef FLEET_JOIN_H
#define FLEET_JOIN_H

/** How ranks find out who is where and share the units of their hosts. */

#include "machines/machine.h"
#include "profiler/fleet/index_json.h"
#include "profiler/fleet/world.h"

/** Where this rank is. */
struct fleet_place {
    char host[FLEET_HOST];
    struct machine machine; /**< as its launcher lets it use it; owned */
    unsigned *cpus;         /**< of its unit, ascending; owned */
    size_t cpu_count;
};

/** Detects host and machine; call before the world is opened (it changes environment variables for
 *  a moment). Errors: those of machine_detect(). To be released in either case. */
CHECKED struct status fleet_place_detect(struct fleet_place *out);
void fleet_place_free(struct fleet_place *place);

/** Takes this rank's unit (index->unit) and fills index->rows and library, alike in all ranks.
 *  detected is what fleet_place_detect() said. Called by all ranks; fails in all or in none.
 *  Errors: INVALID if a host has fewer units than ranks. */
CHECKED struct status fleet_join(struct fleet_index *index, struct fleet_place *place,
                                 struct world *world, struct status detected);

#endif
