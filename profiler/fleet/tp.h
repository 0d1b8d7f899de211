#ifndef FLEET_TP_H
#define FLEET_TP_H

/** Measures and predicts tensor-parallel decode: `lmroof-fleet tp` less its command line. */

#include "profiler/fleet/join.h"
#include "profiler/fleet/parallel_report.h"
#include "profiler/fleet/watchdog.h"
#include "profiler/run_request.h"

struct tp_options {
    const struct run_request *request; /**< one batch, one context, one dtype */
    const struct model *model;
    const struct model *shard; /**< of parallel_shard() */
    struct world *world;
    struct watchdog *watchdog;
    const volatile sig_atomic_t *signal;
};

/** Fills a report whose index is set, alike in all ranks. Called by all ranks, bound to their cpus;
 *  fails in all or in none. The caller releases with tp_free(). */
CHECKED struct status tp_measure(struct parallel_report *out, const struct tp_options *options);

void tp_free(struct parallel_report *report);

#endif
