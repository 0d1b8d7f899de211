// Intel Granite Rapids.
#include "profiler/events/rows.h"

static const struct event_row rows[] = {
    INTEL_CLOCK_ROWS,
    INTEL_F64_ROWS_TO_256,
    INTEL_F32_ROWS_TO_256,
    INTEL_512_ROWS,
    INTEL_F16_ROWS,
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "L1D:REPLACEMENT", 0x151, LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_LINES_IN:ALL", 0x1f25, LINE), .note = LINES_IN_NOTE,
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_LINES_OUT:NON_SILENT", 0x226, LINE)},
    // Two sub-channels in a channel: both schedulers are summed.
    {BOX_ROW(METRIC_DRAM_READ_BYTES, 0, "uncore_imc_*", 0xcf05, LINE),
     .event = "UNC_M_CAS_COUNT_SCH0:RD", .papi_pmu = "gnr_unc_imc*", .work = KNOWN_BIT(KNOWN_READ)},
    {BOX_ROW(METRIC_DRAM_READ_BYTES, 0, "uncore_imc_*", 0xcf06, LINE),
     .event = "UNC_M_CAS_COUNT_SCH1:RD", .papi_pmu = "gnr_unc_imc*", .work = KNOWN_BIT(KNOWN_READ)},
    {BOX_ROW(METRIC_DRAM_WRITE_BYTES, 0, "uncore_imc_*", 0xf005, LINE),
     .event = "UNC_M_CAS_COUNT_SCH0:WR", .papi_pmu = "gnr_unc_imc*",
     .work = KNOWN_BIT(KNOWN_WRITE)},
    {BOX_ROW(METRIC_DRAM_WRITE_BYTES, 0, "uncore_imc_*", 0xf006, LINE),
     .event = "UNC_M_CAS_COUNT_SCH1:WR", .papi_pmu = "gnr_unc_imc*",
     .work = KNOWN_BIT(KNOWN_WRITE)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "OCR:READS_TO_CORE_DRAM", 0x12a, LINE),
     .config1 = 0x73c004477, .note = FILLS_NOTE, .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_WRITE_BYTES, 1, "OCR:WRITE_ESTIMATE_MEMORY", 0x12a, LINE),
     .config1 = 0xfbff80822, .note = "an estimate by Intel's own word"},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "EXE_ACTIVITY:BOUND_ON_LOADS", 0x50021a6, 1),
     .note = "stalls with a load outstanding"},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_LOAD_MISSES:WALK_COMPLETED", 0xe12, 1)},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_STORE_MISSES:WALK_COMPLETED", 0xe13, 1)},
    {CORE_ROW(METRIC_PAGE_WALK_CYCLES, 0, "DTLB_LOAD_MISSES:WALK_ACTIVE", 0x1001012, 1)},
    {PACKAGE_ENERGY_ROW("rapl")},
    {DRAM_ENERGY_ROW("rapl")},
};

// 173 Granite Rapids, 174 Granite Rapids-D. libpfm4 4.13 knows neither.
static const struct event_match matches[] = {{"GenuineIntel", 6, 173, 174, 0, 15},
                                             {.vendor = NULL}};

const struct event_table event_table_granite_rapids = {
    .name = "granite_rapids",
    .family = "Intel Granite Rapids",
    .matches = matches,
    .pmus = "gnr",
    .counters = 8,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent = {[METRIC_FLOP_BF16] = INTEL_NO_BF16},
    .source = INTEL_SOURCE,
};
