#ifndef PROFILER_COUNTER_ADVICE_H
#define PROFILER_COUNTER_ADVICE_H

/** The one line that would unlock a counter here. */

#include "machines/machine.h"
#include "profiler/counter_fault.h"
#include "profiler/metric.h"

#include <stdbool.h>

enum { COUNTER_ADVICE = 160 };

/** What decides whether this process may count; see counter_surroundings_read(). */
struct counter_surroundings {
    int paranoid;   /**< /proc/sys/kernel/perf_event_paranoid; COUNTER_NO_FILE if it is missing */
    bool capable;   /**< effective CAP_PERFMON or CAP_SYS_ADMIN */
    bool sandboxed; /**< a seccomp filter is on */
    bool watchdog;  /**< the NMI watchdog holds a counter */
    bool sysfs;     /**< /sys/bus/event_source exists */
    bool core_pmu;  /**< the kernel has a PMU of the core */
    bool virtual;   /**< in a virtual machine */
    bool table_is_for_part; /**< an event table other than the generic one is in use */
};

enum { COUNTER_NO_FILE = -100 };

/** Reads the surroundings from the files of root ("" = here). table_is_for_part is copied. */
void counter_surroundings_read(struct counter_surroundings *out, const struct machine *machine,
                               const char *root, bool table_is_for_part);

/** Writes the advice for a fault of a metric of that scope into out (COUNTER_ADVICE bytes); ""
 *  if nothing would help. Returns out. */
char *counter_advice(char *out, enum counter_fault fault, enum metric_scope scope,
                     const struct counter_surroundings *surroundings);

#endif
