// Arm Neoverse N2 (Yitian 710, Cobalt 100).
#include "profiler/events/rows.h"

static const struct event_row rows[] = {
    {CORE_ROW(METRIC_CYCLES, 0, "CPU_CYCLES", 0x11, 1)},
    {CORE_ROW(METRIC_REF_CYCLES, 0, "CNT_CYCLES", 0x4004, 1), .note = "ticks of the generic timer"},
    {FLOP_ROW(METRIC_FLOP_F32, "FP_FIXED_OPS_SPEC", 0x80c1, 1, WORK_F32 | WORK_F64 | WORK_F16),
     .note = ARM_FLOP_NOTE},
    {FLOP_ROW(METRIC_FLOP_F32, "FP_SCALE_OPS_SPEC", 0x80c0, 1, WORK_SVE), .per_vector = true},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "STALL_BACKEND_MEM", 0x4005, 1)},
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

static const struct event_match matches[] = {
    {"0x41", 0, 0xd49, 0xd49, 0, 255}, {"0x6d", 0, 0xd49, 0xd49, 0, 255}, {.vendor = NULL}};

const struct event_table event_table_neoverse_n2 = {
    .name = "neoverse_n2",
    .family = "Arm Neoverse N2 (Yitian 710, Cobalt 100)",
    .matches = matches,
    .pmus = "arm_n2",
    .counters = 6,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent = {[METRIC_FLOP_F64] = ARM_F64_ABSENT,
               [METRIC_FLOP_F16] = ARM_F64_ABSENT,
               [METRIC_FLOP_BF16] = "whether BFDOT and BFMMLA are counted is not documented",
               [METRIC_DRAM_WRITE_BYTES] = "writes are not counted apart",
               [METRIC_PAGE_WALK_CYCLES] = "this core has no such event",
               [METRIC_PACKAGE_JOULES] = "this part exposes no energy counter to perf",
               [METRIC_DRAM_JOULES] = "this part exposes no energy counter to perf"},
    .source = ARM_SOURCE,
};
