#ifndef PROFILER_DOCTOR_H
#define PROFILER_DOCTOR_H

/** What costs this user bandwidth or FLOPs: each finding is one warning with what was seen, why it
 *  matters and what to try. Rules over facts; reads nothing itself. */

#include "machines/machine.h"
#include "profiler/results.h"
#include "workloads/blas.h"

/** Facts that no other struct has. */
struct doctor_facts {
    const struct machine *machine;
    const struct blas_facts *blas; /**< NULL: no library */
    const char *blas_absent;       /**< why there is none; used if blas is NULL */
    unsigned threads;              /**< that measure */
    int perf_event_paranoid;       /**< /proc/sys/kernel; INT_MIN: unknown */
    unsigned memory_slots;         /**< of the firmware's table; 0: not readable */
    unsigned memory_slots_used;
    double memory_mt_per_s;       /**< configured speed of the slowest module; 0 unknown */
    double memory_mt_per_s_rated; /**< its rated speed; 0 unknown */
};

/** Adds the findings to run->warnings. Pure. */
void doctor_examine(struct result_run *run, const struct doctor_facts *facts);

#endif
