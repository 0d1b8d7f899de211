// Any CPU that no other table is for: PAPI's presets, the kernel's generic events, and the aliases
// that memory controllers publish in sysfs.
#include "profiler/events/rows.h"

#define HARDWARE_ROW(METRIC, RANK, EVENT, CODE, WEIGHT)                                \
    .metric = (METRIC), .rank = (RANK), .event = (EVENT), .type = EVENT_TYPE_HARDWARE, \
    .config = (CODE), .weight = (WEIGHT)
#define PRESET_ROW(METRIC, RANK, EVENT, WEIGHT)                                    \
    .metric = (METRIC), .rank = (RANK), .event = (EVENT), .type = EVENT_TYPE_NONE, \
    .weight = (WEIGHT)
#define PRESET_NOTE "as PAPI defines it for this CPU"

static const struct event_row rows[] = {
    // Codes: PERF_COUNT_HW_*, perf_event_open(2).
    {HARDWARE_ROW(METRIC_CYCLES, 0, "PAPI_TOT_CYC", 0, 1)},
    {HARDWARE_ROW(METRIC_INSTRUCTIONS, 0, "PAPI_TOT_INS", 1, 1)},
    {HARDWARE_ROW(METRIC_REF_CYCLES, 0, "PAPI_REF_CYC", 9, 1)},
    {PRESET_ROW(METRIC_FLOP_F64, 0, "PAPI_DP_OPS", 1), .work = WORK_F64, .note = PRESET_NOTE},
    {PRESET_ROW(METRIC_FLOP_F32, 0, "PAPI_SP_OPS", 1), .work = WORK_F32, .note = PRESET_NOTE},
    {PRESET_ROW(METRIC_L2_L3_BYTES, 0, "PAPI_L2_TCM", LINE), .note = PRESET_NOTE},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "uncore_imc_*", "cas_count_read", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 1, "uncore_imc_free_running_*", "data_read", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 2, "amd_umc_*", "event=0x0a,rdwrmask=1", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 3, "nvidia_scf_pmu_*", "event=0x1a5", 32),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 4, "arm_cmn_*", "hnf_mc_reqs", LINE),
     .note = "reads and writes together", .work = KNOWN_BIT(KNOWN_READ)},
    {HARDWARE_ROW(METRIC_DRAM_READ_BYTES, 5, "PAPI_L3_TCM", 3, LINE),
     .note = "last-level misses as the kernel maps them: prefetches may be missing"},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 0, "uncore_imc_*", "cas_count_write", LINE),
     .work = KNOWN_BIT(KNOWN_WRITE)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 1, "uncore_imc_free_running_*", "data_write", LINE)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 2, "amd_umc_*", "event=0x0a,rdwrmask=2", LINE)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 3, "nvidia_scf_pmu_*", "event=0x1db", 1)},
    {PRESET_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "PAPI_MEM_WCY", 1), .note = PRESET_NOTE},
    {PRESET_ROW(METRIC_TLB_MISS, 0, "PAPI_TLB_DM", 1), .note = PRESET_NOTE},
    {SYSFS_ROW(METRIC_PACKAGE_JOULES, 0, "power", "energy-pkg", RAPL_JOULES)},
    {SYSFS_ROW(METRIC_DRAM_JOULES, 0, "power", "energy-ram", RAPL_JOULES)},
};

static const struct event_match matches[] = {{.vendor = NULL}};

const struct event_table event_table_generic = {
    .name = "generic",
    .family = "unknown to this build",
    .matches = matches,
    .pmus = "",
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent = {[METRIC_FLOP_F16] = "no generic event counts it",
               [METRIC_FLOP_BF16] = "no generic event counts it",
               [METRIC_L1_L2_BYTES] = "no generic event counts it",
               [METRIC_PAGE_WALK_CYCLES] = "no generic event counts it"},
    .source = "PAPI 7.0 presets; Linux include/uapi/linux/perf_event.h; sysfs "
              "/sys/bus/event_source/devices",
};
