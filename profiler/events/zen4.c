// AMD Zen 4 (Genoa, Bergamo, Siena, Raphael). One event counts the operations of single and double
// precision; bfloat16 dot products can be told apart.
#include "profiler/events/rows.h"

#define STATION_WORK(METRIC) \
    KNOWN_BIT((METRIC) == METRIC_DRAM_READ_BYTES ? KNOWN_READ : KNOWN_WRITE)
#define STATION_ROW(METRIC, CODE, UMASK)                                     \
    {                                                                        \
        SYSFS_ROW(METRIC, 1, "amd_df", "event=" CODE ",umask=" UMASK, LINE), \
            .work = STATION_WORK(METRIC)                                     \
    }
// The twelve coherent stations of a socket's memory channels.
#define STATION_ROWS(METRIC, UMASK)                                               \
    STATION_ROW(METRIC, "0x1f", UMASK), STATION_ROW(METRIC, "0x5f", UMASK),       \
        STATION_ROW(METRIC, "0x9f", UMASK), STATION_ROW(METRIC, "0xdf", UMASK),   \
        STATION_ROW(METRIC, "0x11f", UMASK), STATION_ROW(METRIC, "0x15f", UMASK), \
        STATION_ROW(METRIC, "0x19f", UMASK), STATION_ROW(METRIC, "0x1df", UMASK), \
        STATION_ROW(METRIC, "0x21f", UMASK), STATION_ROW(METRIC, "0x25f", UMASK), \
        STATION_ROW(METRIC, "0x29f", UMASK), STATION_ROW(METRIC, "0x2df", UMASK)

static const struct event_row rows[] = {
    {CORE_ROW(METRIC_CYCLES, 0, "CYCLES_NOT_IN_HALT", 0x76, 1)},
    {CORE_ROW(METRIC_REF_CYCLES, 0, "P0_FREQ_CYCLES_NOT_IN_HALT", 0x100000120, 1),
     .note = "at the rate of the P0 state"},
    {CORE_ROW(METRIC_INSTRUCTIONS, 0, "RETIRED_INSTRUCTIONS", 0xc0, 1)},
    {FLOP_ROW(METRIC_FLOP_F32, "RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS:MULT_FLOPS:DIV_FLOPS:MAC_FLOPS",
              0xf03, 1, WORK_F32 | WORK_F64),
     .note = AMD_FLOP_NOTE},
    {FLOP_ROW(METRIC_FLOP_BF16, "RETIRED_SSE_AVX_FLOPS:BFLOAT_MAC_FLOPS", 0x1003, 1, WORK_BF16)},
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x144, LINE),
     .note = "fills from L2 alone; fills from beyond are in l2_l3_bytes and dram_read_bytes"},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C",
              0x864, LINE),
     .note = "demand lines into L2; its prefetches and lines out of it are not in it"},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_umc_*", "event=0x0a,rdwrmask=1", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    STATION_ROWS(METRIC_DRAM_READ_BYTES, "0x7fe"),
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 2,
              "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR", 0x4844, LINE),
     .note = "fills of L1 from memory; L2 prefetches and write-backs are not in it",
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 0, "amd_umc_*", "event=0x0a,rdwrmask=2", LINE),
     .work = KNOWN_BIT(KNOWN_WRITE)},
    STATION_ROWS(METRIC_DRAM_WRITE_BYTES, "0x7ff"),
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", 0xa2d6,
              1),
     .note = "nothing retired while a load was missing"},
    {CORE_ROW(METRIC_TLB_MISS, 0,
              "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS",
              0xd045, 1)},
    {PACKAGE_ENERGY_ROW("amd64_rapl")},
};

static const struct event_match matches[] = {
    {"AuthenticAMD", 25, 16, 31, 0, 15}, {"AuthenticAMD", 25, 96, 255, 0, 15}, {.vendor = NULL}};

const struct event_table event_table_zen4 = {
    .name = "zen4",
    .family = "AMD Zen 4 (Genoa, Bergamo, Raphael)",
    .matches = matches,
    .pmus = "amd64_fam19h_zen4",
    .counters = 6,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent =
        {[METRIC_FLOP_F64] = AMD_F64_ABSENT,
         [METRIC_FLOP_F16] =
             "this core computes halves in single precision (the f16 ceiling too): see flop_f32",
         [METRIC_PAGE_WALK_CYCLES] = "this core has no such event",
         [METRIC_DRAM_JOULES] = "this part has no memory energy domain"},
    .source = AMD_SOURCE,
};
