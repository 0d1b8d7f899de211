#ifndef PROFILER_PROBE_PLAN_H
#define PROFILER_PROBE_PLAN_H

/** Which cpus measure what: the whole of a probe's placement, from the machine's description and
 *  the options alone, so that it can be asserted on machines that are not here. Pure. */

#include "machines/machine.h"
#include "profiler/probe.h"

enum probe_task_kind {
    PROBE_TEAM,       /**< all roofs of these cpus */
    PROBE_TEAM_BRIEF, /**< load from memory and one type's arithmetic: siblings, a kind of cores */
    PROBE_SCALING,    /**< a point of the curve over threads */
    PROBE_PAIR        /**< these cpus, all of node `from`, read the memory of node `to` */
};

struct probe_task {
    enum probe_task_kind kind;
    size_t first_cpu; /**< into the plan's cpus */
    unsigned threads;
    unsigned from; /**< of a pair: OS indices of nodes */
    unsigned to;
};

struct probe_plan {
    struct probe_task *tasks; /**< owned, in the order of measurement */
    size_t task_count;
    unsigned *cpus; /**< owned: OS indices, thread by thread */
    size_t cpu_count;
};

/** Makes the plan: one thread per usable core within the quota, then one alone; unless quick also
 *  all hardware threads, each kind of core by itself, the curve over threads (every count up to 16,
 *  then in steps of an eighth) and, on several nodes, each node with cpus against each with memory,
 *  those without cpus (HBM, CXL) included. dram false: no curve and no pairs. Errors: INVALID for a
 *  thread count above the usable cpus; SYSTEM. The caller frees it. */
CHECKED struct status probe_plan_make(struct probe_plan *out, const struct machine *machine,
                                      const struct probe_options *options, bool dram);

/** The cpus of a task, task->threads of them. */
const unsigned *probe_plan_cpus(const struct probe_plan *plan, const struct probe_task *task);

/** Releases and zeroes. */
void probe_plan_free(struct probe_plan *plan);

#endif
