// Intel Ice Lake-SP.
#include "profiler/events/rows.h"

static const struct event_row rows[] = {
    INTEL_CLOCK_ROWS,
    INTEL_F64_ROWS_TO_256,
    INTEL_F32_ROWS_TO_256,
    INTEL_512_ROWS,
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "L1D:REPLACEMENT", 0x151, LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_LINES_IN:ALL", 0x1ff1, LINE), .note = LINES_IN_NOTE,
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_LINES_OUT:NON_SILENT", 0x2f2, LINE)},
    {BOX_ROW(METRIC_DRAM_READ_BYTES, 0, "uncore_imc_*", 0xf04, LINE), .event = "UNC_M_CAS_COUNT:RD",
     .papi_pmu = "icx_unc_imc*", .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "OCR:READS_TO_CORE_DRAM", 0x1b7, LINE),
     .config1 = 0x73c000477, .note = FILLS_NOTE, .work = KNOWN_BIT(KNOWN_READ)},
    {BOX_ROW(METRIC_DRAM_WRITE_BYTES, 0, "uncore_imc_*", 0x3004, LINE),
     .event = "UNC_M_CAS_COUNT:WR", .papi_pmu = "icx_unc_imc*", .work = KNOWN_BIT(KNOWN_WRITE)},
    {CORE_ROW(METRIC_DRAM_WRITE_BYTES, 1, "OCR:WRITE_ESTIMATE_MEMORY", 0x1b7, LINE),
     .config1 = 0xfbff80822, .note = "an estimate by Intel's own word"},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "CYCLE_ACTIVITY:STALLS_MEM_ANY", 0x140014a3, 1),
     .note = "stalls with a load outstanding"},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_LOAD_MISSES:WALK_COMPLETED", 0xe08, 1)},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_STORE_MISSES:WALK_COMPLETED", 0xe49, 1)},
    {CORE_ROW(METRIC_PAGE_WALK_CYCLES, 0, "DTLB_LOAD_MISSES:WALK_ACTIVE", 0x1001008, 1)},
    {PACKAGE_ENERGY_ROW("rapl")},
    {DRAM_ENERGY_ROW("rapl")},
};

// 108 (Ice Lake-D) has the same core events; libpfm4 calls it icl.
static const struct event_match matches[] = {
    {"GenuineIntel", 6, 106, 106, 0, 15}, {"GenuineIntel", 6, 108, 108, 0, 15}, {.vendor = NULL}};

const struct event_table event_table_ice_lake_sp = {
    .name = "ice_lake_sp",
    .family = "Intel Ice Lake-SP",
    .matches = matches,
    .pmus = "icx icl",
    .counters = 8,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent =
        {[METRIC_FLOP_F16] =
             "this core computes halves in single precision (the f16 ceiling too): see flop_f32",
         [METRIC_FLOP_BF16] = "this core has no bfloat16 arithmetic"},
    .source = INTEL_SOURCE,
};
