#ifndef FLEET_KEEPER_H
#define FLEET_KEEPER_H

/** What a rank does while its worker measures: watches the worker, tells the others through notes,
 *  waits for its turn, and, in the lowest rank that lives, keeps the index. MPI is not used: the
 *  world is closed by now, so that nobody hangs on a rank that died. */

#include "profiler/fleet/index_json.h"
#include "profiler/fleet/worker.h"

struct keeper {
    const struct command_context *context;
    struct fleet_index *index; /**< all rows; those of others follow their notes */
    struct worker worker;      /**< started by a rank that measures; none: its pid is 0 */
    unsigned rank;
    double timeout_seconds; /**< for each repeat */
};

/** Starts the worker with task when it is this rank's turn, and returns when this rank's part is
 *  done and, in the rank that keeps the index, everyone's. What became of this rank is in its row.
 *  Errors: INTERRUPTED by a signal; those of writing the index. */
CHECKED struct status keeper_run(struct keeper *keeper, const struct worker_task *task);

#endif
