#ifndef PROFILER_PMU_SYSFS_H
#define PROFILER_PMU_SYSFS_H

/** The kernel's own description of its PMUs below /sys/bus/event_source/devices: numbers, places
 *  and spellings. root is "" or the directory of a saved system. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PMU_BOXES_MAX = 128, PMU_CPUS_MAX = 64, PMU_NAME = 64 };

/** One PMU of the kernel. */
struct pmu_box {
    char name[PMU_NAME];
    unsigned number;        /**< the digits at its end; 0 without */
    uint32_t type;          /**< for perf_event_open(2) */
    int cpus[PMU_CPUS_MAX]; /**< one for each socket or die: where its events are opened */
    size_t cpu_count;
};

/** The PMUs whose name is pattern, or begins with it up to a trailing '*' and goes on with digits
 *  alone, by number. Returns how many were written, at most max. A PMU without a cpumask file
 *  gets no cpus. */
size_t pmu_boxes(struct pmu_box *out, size_t max, const char *root, const char *pattern);

/** The code of terms ("event=0x04,umask=0x03", or an alias that the PMU publishes) by the PMU's
 *  format files. *scale becomes the alias's own scale in bytes or joules, NaN if it has none.
 *  False if a term or alias is not there. */
bool pmu_terms(uint64_t *config, uint64_t *config1, double *scale, const char *root,
               const char *pmu, const char *terms);

/** True if any PMU of a core exists (cpu, cpu_core, armv8_*). */
bool pmu_core_exists(const char *root);

#endif
