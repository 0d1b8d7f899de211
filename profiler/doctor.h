#ifndef PROFILER_DOCTOR_H
#define PROFILER_DOCTOR_H

/** What costs this user bandwidth or FLOPs: each finding is one warning with what was seen, why it
 *  matters and what to try. Rules over facts; reads nothing itself. */

#include "machines/machine.h"
#include "machines/memory_modules.h"
#include "profiler/results.h"
#include "workloads/blas.h"

enum { DOCTOR_TEXT = 64 };

/** Frequency scaling of the first usable cpu (Linux admin-guide/pm/cpufreq.rst). */
struct doctor_clock {
    char driver[DOCTOR_TEXT];     /**< acpi-cpufreq, intel_pstate, ...; "" none */
    char preference[DOCTOR_TEXT]; /**< energy_performance_preference; "" none */
    double limit_hz;              /**< scaling_max_freq; 0 unknown */
    double max_hz;                /**< cpuinfo_max_freq; 0 unknown */
    bool turbo_off;               /**< told to be off */
};

/** Facts that no other struct has. Files are below the root that was read. */
struct doctor_facts {
    const struct machine *machine;
    const struct blas_facts *blas; /**< NULL: no library, or none was looked for */
    const char *blas_absent;       /**< why there is none; NULL: none was looked for */
    unsigned threads;              /**< that measure; 0: nothing is measured */
    int perf_event_paranoid;       /**< /proc/sys/kernel; INT_MIN: unknown */
    bool may_count;                /**< CAP_PERFMON or CAP_SYS_ADMIN: the level is not asked */
    bool has_filter;               /**< system calls go through a seccomp filter */
    struct doctor_clock clock;
    struct memory_layout memory;  /**< modules; all 0: not readable, or a hypervisor's invention */
    unsigned cpus_isolated;       /**< from the scheduler: isolcpus= */
    unsigned cpus_offline;        /**< present but switched off, not as siblings */
    char nodes_bare[DOCTOR_TEXT]; /**< with cpus and without memory; "" none */
    char nodes_allowed[DOCTOR_TEXT]; /**< memory nodes of this process; "" unknown or all */
    char nodes_present[DOCTOR_TEXT]; /**< with memory; "" unknown */
    bool zone_reclaim;               /**< vm.zone_reclaim_mode is not 0 */
    bool thp_denied;                 /**< by prctl, for this process alone */
    uint64_t memory_total_bytes;     /**< MemTotal; 0 unknown */
    uint64_t swap_used_bytes;        /**< 0 none or unknown */
    double memory_stall_fraction;    /**< of the last minute (PSI, "some"); NaN unknown */
    char instance[DOCTOR_TEXT];      /**< EC2's instance type; "" elsewhere */
};

/** Adds the findings to run->warnings. Pure. */
void doctor_examine(struct result_run *run, const struct doctor_facts *facts);

#endif
