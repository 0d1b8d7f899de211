// Arm Neoverse N1 (Graviton2, Ampere Altra).
#include "profiler/events/rows.h"

#define N1_FLOP_ABSENT \
    "this core counts instructions, not operations: the model's operations stand in"

static const struct event_row rows[] = {
    {CORE_ROW(METRIC_CYCLES, 0, "CPU_CYCLES", 0x11, 1)},
    {CORE_ROW(METRIC_INSTRUCTIONS, 0, "INST_RETIRED", 0x8, 1)},
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "L1D_CACHE_REFILL", 0x3, LINE), .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2D_CACHE_REFILL", 0x17, LINE),
     .note = "lines into L2, and dirty lines out of it", .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2D_CACHE_WB", 0x18, LINE)},
    // Requests of the mesh to its memory controllers, retries taken off; bare metal only on AWS.
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "arm_cmn_*", "hnf_mc_reqs", LINE),
     .note = "reads and writes together", .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "arm_cmn_*", "hnf_mc_retries", -LINE)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "LL_CACHE_MISS_RD", 0x37, LINE),
     .note = "reads served from beyond the last level that the core sees; no write-backs",
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_WALK", 0x34, 1)},
};

static const struct event_match matches[] = {{"0x41", 0, 0xd0c, 0xd0c, 0, 255}, {.vendor = NULL}};

const struct event_table event_table_neoverse_n1 = {
    .name = "neoverse_n1",
    .family = "Arm Neoverse N1 (Graviton2, Ampere Altra)",
    .matches = matches,
    .pmus = "arm_n1",
    .counters = 6,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent = {[METRIC_REF_CYCLES] = "this core has no such event",
               [METRIC_FLOP_F64] = N1_FLOP_ABSENT,
               [METRIC_FLOP_F32] = N1_FLOP_ABSENT,
               [METRIC_FLOP_F16] = N1_FLOP_ABSENT,
               [METRIC_FLOP_BF16] = "this core has no bfloat16 arithmetic",
               [METRIC_MEMORY_STALL_CYCLES] = "this core does not tell memory stalls apart",
               [METRIC_DRAM_WRITE_BYTES] = "writes are not counted apart",
               [METRIC_PAGE_WALK_CYCLES] = "this core has no such event",
               [METRIC_PACKAGE_JOULES] = "this part exposes no energy counter to perf",
               [METRIC_DRAM_JOULES] = "this part exposes no energy counter to perf"},
    .source = ARM_SOURCE,
};
