#ifndef PROFILER_EXEC_REGIONS_H
#define PROFILER_EXEC_REGIONS_H

/** Regions that a program marked with lmroof.h: what it is told before it starts, and the file
 *  that it leaves. */

#include "profiler/process_counters.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXEC_REGIONS_MAX = 64, EXEC_REGION_NAME = 48 };

struct exec_region {
    char name[EXEC_REGION_NAME];
    uint64_t calls;
    unsigned threads; /**< most at once */
    double seconds;   /**< with at least one thread inside */
    double flop;      /**< as the program told; 0: nothing */
    double bytes;
    bool counted;                /**< every thread could count */
    double running_fraction;     /**< NaN: nothing was counted */
    double counts[METRIC_COUNT]; /**< NaN: not counted */
};

/** A place for the program's answer. */
struct exec_markers {
    char path[256]; /**< "" none */
};

/** Sets what programs started from now on find in their environment. Errors: SYSTEM if no file can
 *  be made. */
CHECKED struct status exec_markers_offer(struct exec_markers *out,
                                         const struct process_counters *counters);

/** Reads the regions of all processes, those of one name added up; returns how many. Lines that are
 *  not whole are left out. */
size_t exec_markers_collect(struct exec_region out[EXEC_REGIONS_MAX],
                            const struct exec_markers *markers,
                            const struct process_counters *counters);

/** Takes the offer and the file back. */
void exec_markers_end(struct exec_markers *markers);

#endif
