// Intel Alder Lake, Raptor Lake: the P cores. libpfm4 4.13 knows neither kind of core, and PAPI
// before 7.2 cannot count on two, so these codes go to the kernel directly. E cores have no event
// for floating point; a team that runs on them counts nothing here and says so.
#include "profiler/events/rows.h"

static const struct event_row rows[] = {
    INTEL_CLOCK_ROWS,
    INTEL_F64_ROWS_TO_256,
    INTEL_F32_ROWS_TO_256,
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "L1D:REPLACEMENT", 0x151, LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_LINES_IN:ALL", 0x1f25, LINE),
     .note = "lines into L2; lines out of it are not in it", .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "uncore_imc_free_running_*", "data_read", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "LONGEST_LAT_CACHE:MISS", 0x412e, LINE),
     .note = "without the L3 prefetcher: too low for streams", .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 0, "uncore_imc_free_running_*", "data_write", LINE),
     .work = KNOWN_BIT(KNOWN_WRITE)},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "EXE_ACTIVITY:BOUND_ON_LOADS", 0x50021a6, 1),
     .note = "stalls with a load outstanding"},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_LOAD_MISSES:WALK_COMPLETED", 0xe12, 1)},
    {CORE_ROW(METRIC_TLB_MISS, 0, "DTLB_STORE_MISSES:WALK_COMPLETED", 0xe13, 1)},
    {CORE_ROW(METRIC_PAGE_WALK_CYCLES, 0, "DTLB_LOAD_MISSES:WALK_ACTIVE", 0x1001012, 1)},
    {PACKAGE_ENERGY_ROW(NULL)},
};

static const struct event_match matches[] = {
    {"GenuineIntel", 6, 151, 151, 0, 15}, {"GenuineIntel", 6, 154, 154, 0, 15},
    {"GenuineIntel", 6, 183, 183, 0, 15}, {"GenuineIntel", 6, 186, 186, 0, 15},
    {"GenuineIntel", 6, 191, 191, 0, 15}, {.vendor = NULL}};

const struct event_table event_table_alder_lake = {
    .name = "alder_lake",
    .family = "Intel Alder Lake / Raptor Lake (P cores)",
    .matches = matches,
    .pmus = "adl_glc",
    .core_pmu = "cpu_core",
    .counters = 8,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent =
        {[METRIC_FLOP_F16] =
             "this core computes halves in single precision (the f16 ceiling too): see flop_f32",
         [METRIC_FLOP_BF16] = "this core has no bfloat16 arithmetic",
         [METRIC_DRAM_JOULES] = "this part has no memory energy domain"},
    .source = INTEL_SOURCE,
};
