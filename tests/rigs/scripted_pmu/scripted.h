// SPDX-License-Identifier: GPL-2.0-only
#ifndef SCRIPTED_H
#define SCRIPTED_H

/* What the files of this module share: counts of events (counts.c), the PMUs that show them to perf
 * (pmu.c), what the threads of rules do (work.c), and the device that is written to (module.c). */

#include <linux/perf_event.h>
#include <linux/types.h>

enum { BOXES_MAX = 16, GENERAL = 4, FIXED = 3, CPUS_MAX = 64 };

struct counter; /* what one event of one PMU has counted, by processor */

struct scripted {
	struct pmu pmu;
	unsigned int index; /* 0: the core, then the boxes of a node */
	struct perf_event *slots[CPUS_MAX][GENERAL + FIXED];
};

/* The counter of an event, or NULL: no script has named it. */
struct counter *counter_find(unsigned int pmu, u64 config);

/* As counter_find(), made where it is not there: callers take turns. NULL without memory or room.
 */
struct counter *counter_find_or_make(unsigned int pmu, u64 config);

/* What an event has counted as seen by a processor: the core its own, a box its node's. */
u64 counter_now(unsigned int pmu, u64 config, int cpu);

/* The running processor has counted n. */
void counter_add(struct counter *counter, u64 n);

/* n a second from now on, whatever runs. */
void counter_set_rate(struct counter *counter, u64 n);

/* A thread of that name counts `step` for its work; '*' any other. 0 or -ENOMEM. */
int counter_add_rule(struct counter *counter, const char *name, u64 step);

/* Adds the step of the running thread's rule; by_name: '*' does not hold. */
void counter_feed(struct counter *counter, bool by_name);

/* Every counter of the core and the boxes is fed. */
void counters_feed(void);

/* Rules and rates are forgotten; with counters_free() the counts too, once nothing can count. */
void counters_forget(void);
void counters_free(void);

/* Registers PMU `index` with perf. 0 or perf's error. */
int pmu_make(unsigned int index, const char *name);
void pmu_unmake_all(void);
unsigned int pmu_count(void);

/* The PMU of an event if it is one of this module's, else NULL. */
struct scripted *pmu_of(const struct perf_event *event);

/* Watches events being enabled, disabled and read. 0 or the error of kprobes. */
int work_watch(void);
void work_unwatch(void);

#endif
