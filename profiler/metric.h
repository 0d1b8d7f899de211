#ifndef PROFILER_METRIC_H
#define PROFILER_METRIC_H

/** What can be counted: the metrics of the contract, as one constant table. A metric is a
 *  quantity in its own unit; how a CPU family counts it is in events/. */

#include "roofline/reading.h"

#include <stdbool.h>
#include <stdint.h>

enum metric {
    METRIC_CYCLES,
    METRIC_REF_CYCLES,
    METRIC_INSTRUCTIONS,
    METRIC_FLOP_F64,
    METRIC_FLOP_F32,
    METRIC_FLOP_F16,
    METRIC_FLOP_BF16,
    METRIC_L1_L2_BYTES,
    METRIC_L2_L3_BYTES,
    METRIC_DRAM_READ_BYTES,
    METRIC_DRAM_WRITE_BYTES,
    METRIC_MEMORY_STALL_CYCLES,
    METRIC_TLB_MISS,
    METRIC_PAGE_WALK_CYCLES,
    METRIC_PACKAGE_JOULES,
    METRIC_DRAM_JOULES,
    METRIC_COUNT
};

/** Where a count comes from: the threads of the program, or everything that uses a part of the
 *  machine (a memory channel, a package), other processes included. */
enum metric_scope { SCOPE_THREAD, SCOPE_SYSTEM };

/** One row of the table. All text is static. */
struct metric_row {
    const char *name; /**< as in the contract, for example "dram_read_bytes" */
    const char *unit; /**< cycles, instructions, flop, bytes, walks, joules */
    enum better better;
    enum metric_scope scope; /**< usual one; each count names its own */
    const char *meaning;     /**< one line */
};

const struct metric_row *metric_row(enum metric metric);

/** The metric of a name, or false if there is none. */
bool metric_of_name(enum metric *out, const char *name);

/** "thread" or "system". */
const char *metric_scope_name(enum metric_scope scope);

/** Set of all metrics: bit i is enum metric i. */
#define METRICS_ALL ((uint32_t)((UINT32_C(1) << METRIC_COUNT) - 1))

#endif
