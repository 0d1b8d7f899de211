#ifndef PROFILER_EVENTS_ROWS_H
#define PROFILER_EVENTS_ROWS_H

/** Shorthand for the rows of event tables; see event_table.h for the fields. Only for events/. */

#include "profiler/event_table.h"

/** Elements of a const array. */
#define ROW_COUNT(rows) (sizeof(rows) / sizeof *(rows))

/** A core event of a thread, counted by code CODE under the libpfm4 name EVENT. */
#define CORE_ROW(METRIC, RANK, EVENT, CODE, WEIGHT)                               \
    .metric = (METRIC), .rank = (RANK), .event = (EVENT), .type = EVENT_TYPE_RAW, \
    .config = (CODE), .weight = (WEIGHT)

/** A floating-point event that counts the known-work kernels in WORK. */
#define FLOP_ROW(METRIC, EVENT, CODE, WEIGHT, WORK) \
    CORE_ROW(METRIC, 0, EVENT, CODE, WEIGHT), .work = (WORK)

/** An event of a sysfs PMU that counts for the whole machine, by code. */
#define BOX_ROW(METRIC, RANK, PMU, CODE, WEIGHT)                                                  \
    .metric = (METRIC), .rank = (RANK), .type = EVENT_TYPE_SYSFS, .pmu = (PMU), .config = (CODE), \
    .weight = (WEIGHT)

/** The same, in the spelling of the PMU's own sysfs folder. */
#define SYSFS_ROW(METRIC, RANK, PMU, TERMS, WEIGHT)                                               \
    .metric = (METRIC), .rank = (RANK), .type = EVENT_TYPE_SYSFS, .pmu = (PMU), .terms = (TERMS), \
    .weight = (WEIGHT)

/** Bytes of a cache line, and of a memory controller's column access. */
#define LINE 64.0

/** Joules of one count of the kernel's RAPL events: 2^-32 (Linux, arch/x86/events/rapl.c; the
 *  same number is in the events' sysfs .scale files). */
#define RAPL_JOULES 0x1p-32

/** Package energy as the kernel's "power" PMU counts it, LIBPFM its libpfm4 PMU or NULL. */
#define PACKAGE_ENERGY_ROW(LIBPFM)                                                            \
    BOX_ROW(METRIC_PACKAGE_JOULES, 0, "power", 0x2, RAPL_JOULES), .event = "RAPL_ENERGY_PKG", \
                                                                  .papi_pmu = (LIBPFM)
#define DRAM_ENERGY_ROW(LIBPFM)                                                             \
    BOX_ROW(METRIC_DRAM_JOULES, 0, "power", 0x3, RAPL_JOULES), .event = "RAPL_ENERGY_DRAM", \
                                                               .papi_pmu = (LIBPFM)

/** Intel's FP_ARITH_INST_RETIRED counts a fused multiply-add twice: the weight is the number of
 *  elements. */
#define INTEL_FP_NOTE                                                                           \
    "without integer dot products, conversions, VDPBF16PS, AMX and x87; masked AVX-512 counts " \
    "full width"
#define INTEL_F64_ROWS_TO_256                                                            \
    {FLOP_ROW(METRIC_FLOP_F64, "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", 0x1c7, 1,          \
              KNOWN_BIT(KNOWN_F64_SCALAR)),                                              \
     .note = INTEL_FP_NOTE},                                                             \
        {FLOP_ROW(METRIC_FLOP_F64, "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 0x4c7, 2, \
                  KNOWN_BIT(KNOWN_F64_128))},                                            \
    {                                                                                    \
        FLOP_ROW(METRIC_FLOP_F64, "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", 0x10c7, 4, \
                 KNOWN_BIT(KNOWN_F64_256))                                               \
    }
#define INTEL_F32_ROWS_TO_256                                                            \
    {FLOP_ROW(METRIC_FLOP_F32, "FP_ARITH_INST_RETIRED:SCALAR_SINGLE", 0x2c7, 1,          \
              KNOWN_BIT(KNOWN_F32_SCALAR)),                                              \
     .note = INTEL_FP_NOTE},                                                             \
        {FLOP_ROW(METRIC_FLOP_F32, "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", 0x8c7, 4, \
                  KNOWN_BIT(KNOWN_F32_128))},                                            \
    {                                                                                    \
        FLOP_ROW(METRIC_FLOP_F32, "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", 0x20c7, 8, \
                 KNOWN_BIT(KNOWN_F32_256))                                               \
    }
#define INTEL_512_ROWS                                                                    \
    {FLOP_ROW(METRIC_FLOP_F64, "FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", 0x40c7, 8,     \
              KNOWN_BIT(KNOWN_F64_512))},                                                 \
    {                                                                                     \
        FLOP_ROW(METRIC_FLOP_F32, "FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 0x80c7, 16, \
                 KNOWN_BIT(KNOWN_F32_512))                                                \
    }
#define INTEL_F16_ROWS                                                                   \
    {FLOP_ROW(METRIC_FLOP_F16, "FP_ARITH_INST_RETIRED2:SCALAR_HALF", 0x1cf, 1,           \
              KNOWN_BIT(KNOWN_F16_SCALAR)),                                              \
     .note = "without complex half precision"},                                          \
        {FLOP_ROW(METRIC_FLOP_F16, "FP_ARITH_INST_RETIRED2:128B_PACKED_HALF", 0x4cf, 8,  \
                  KNOWN_BIT(KNOWN_F16_128))},                                            \
        {FLOP_ROW(METRIC_FLOP_F16, "FP_ARITH_INST_RETIRED2:256B_PACKED_HALF", 0x8cf, 16, \
                  KNOWN_BIT(KNOWN_F16_256))},                                            \
    {                                                                                    \
        FLOP_ROW(METRIC_FLOP_F16, "FP_ARITH_INST_RETIRED2:512B_PACKED_HALF", 0x10cf, 32, \
                 KNOWN_BIT(KNOWN_F16_512))                                               \
    }
#define INTEL_CLOCK_ROWS                                                        \
    {CORE_ROW(METRIC_CYCLES, 0, "UNHALTED_CORE_CYCLES", 0x3c, 1)},              \
        {CORE_ROW(METRIC_REF_CYCLES, 0, "UNHALTED_REFERENCE_CYCLES", 0x300, 1), \
         .note = "at the rate of the time-stamp counter"},                      \
    {                                                                           \
        CORE_ROW(METRIC_INSTRUCTIONS, 0, "INST_RETIRED:ANY_P", 0xc0, 1)         \
    }
#define INTEL_NO_BF16 "no Intel event counts VDPBF16PS or AMX: the model's operations stand in"

#define LINES_IN_NOTE "lines into L2 from L3 or memory, and dirty or kept lines out of it"
#define FILLS_NOTE "fills of cores, prefetch included; write-backs are not in it"
#define AMD_FLOP_NOTE \
    "all precisions together: this core does not tell them apart; without integer dot products"
#define AMD_F64_ABSENT "this core counts double with single precision: see flop_f32"
#define ARM_FLOP_NOTE \
    "all precisions together, wrong-path work included; without integer dot products"
#define ARM_F64_ABSENT "this core's operation counts mix the precisions: see flop_f32"
#define INTEL_SOURCE                                                                        \
    "libpfm4 4.13.0 event tables (Debian 12); Linux tools/perf/pmu-events/arch/x86; codes " \
    "checked against libpfm4 by tests/unit/test_event_table.c"
#define AMD_SOURCE                                                          \
    "libpfm4 4.13.0 event tables (Debian 12), AMD PPR wording as in Linux " \
    "tools/perf/pmu-events/arch/x86/amdzen*; merge pair: Linux arch/x86/events/amd/core.c"
#define ARM_SOURCE                                                                              \
    "libpfm4 4.13.0 event tables (Debian 12); Linux tools/perf/pmu-events/arch/arm64/arm; Arm " \
    "ARM DDI 0487 D14 (event 0x80C0)"

#endif
