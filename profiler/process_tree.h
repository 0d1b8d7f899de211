#ifndef PROFILER_PROCESS_TREE_H
#define PROFILER_PROCESS_TREE_H

/** A process and everything that descends from it, watched from outside: who belongs to it is
 *  found out anew at every sample, by the parents that /proc names. What a process had used when
 *  it was last seen stays in the sums after it has ended. */

#include "profiler/process_facts.h"
#include "roofline/status.h"

#include <stddef.h>

struct process_tree;

/** Sums over the tree. Times and counts grow; processes, threads and rss_bytes are of now. */
struct tree_totals {
    unsigned processes; /**< that run or sleep: those that have ended are not among them */
    unsigned threads;
    uint64_t rss_bytes; /**< summed: a page that several processes share counts in each */
    double user_seconds;
    double system_seconds;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches; /**< of threads while they live */
    uint64_t involuntary_switches;
    uint64_t read_bytes; /**< storage; meaningless unless io is known */
    uint64_t write_bytes;
    enum process_io io; /**< the worst of the processes */
};

/** Watches pid and its descendants. guardian is the process that adopts its orphans
 *  (PR_SET_CHILD_SUBREAPER) and whose every child belongs to the tree; 0: nobody, and an orphan
 *  whose parent ended before it was first seen is not found. root as in rootfs.h. Errors:
 *  INVALID if pid is not there; SYSTEM without memory. The caller destroys it. */
CHECKED struct status process_tree_create(struct process_tree **out, const char *root, int pid,
                                          int guardian);

/** NULL is accepted. */
void process_tree_destroy(struct process_tree *tree);

/** Looks at the tree now. Errors: SYSTEM without memory. */
CHECKED struct status process_tree_sample(struct tree_totals *out, struct process_tree *tree);

/** True if the first process has not ended: at the last sample. */
bool process_tree_alive(const struct process_tree *tree);

/** Processes of the last sample, the first one included unless it has ended; borrowed. */
const struct process_facts *process_tree_members(size_t *count, const struct process_tree *tree);

/** Distinct processes seen so far. */
size_t process_tree_seen(const struct process_tree *tree);

#endif
