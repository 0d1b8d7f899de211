// AMD Zen 2 (Rome, Matisse, Renoir). One event counts the operations of all precisions.
#include "profiler/events/rows.h"

#define CHANNEL_NOTE "reads and writes together; approximate by AMD's own word"

static const struct event_row rows[] = {
    {CORE_ROW(METRIC_CYCLES, 0, "CYCLES_NOT_IN_HALT", 0x76, 1)},
    {CORE_ROW(METRIC_INSTRUCTIONS, 0, "RETIRED_INSTRUCTIONS", 0xc0, 1)},
    // Takes an even counter and the odd one after it; Linux pairs them since 5.6, older kernels
    // count too low, which the certificate shows.
    {FLOP_ROW(METRIC_FLOP_F32, "RETIRED_SSE_AVX_FLOPS:ANY", 0xf03, 1, WORK_F32 | WORK_F64),
     .note = AMD_FLOP_NOTE},
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:CHANGE_TO_X", 0xc860,
              LINE),
     .note = "requests of the data cache, not fills", .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C",
              0x864, LINE),
     .note = "lines into L2; lines out of it are not in it"},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_PREFETCH_HIT_L3:ANY", 0x1f71, LINE)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_PREFETCH_MISS_L3:ANY", 0x1f72, LINE)},
    // One event for each channel of a die.
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x07,umask=0x38", LINE),
     .note = CHANNEL_NOTE, .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x47,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x87,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0xc7,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x107,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x147,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x187,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_df", "event=0x1c7,umask=0x38", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM",
              0x843, LINE),
     .note = "fills of L1 from local memory; L2 prefetches and write-backs are not in it",
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "HARDWARE_PREFETCH_DATA_CACHE_FILLS:LS_MABRESP_LCL_DRAM",
              0x85a, LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0,
              "DISPATCH_RESOURCE_STALL_CYCLES_1:LOAD_QUEUE_RSRC_STALL", 0x2ae, 1),
     .note = "only cycles in which dispatch waits for a full load queue"},
    {CORE_ROW(METRIC_TLB_MISS, 0,
              "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS",
              0xd045, 1)},
    {PACKAGE_ENERGY_ROW("amd64_rapl")},
};

static const struct event_match matches[] = {{"AuthenticAMD", 23, 48, 255, 0, 15},
                                             {.vendor = NULL}};

const struct event_table event_table_zen2 = {
    .name = "zen2",
    .family = "AMD Zen 2 (Rome, Matisse, Renoir)",
    .matches = matches,
    .pmus = "amd64_fam17h_zen2",
    .counters = 6,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent =
        {[METRIC_FLOP_F64] = AMD_F64_ABSENT,
         [METRIC_FLOP_F16] =
             "this core computes halves in single precision (the f16 ceiling too): see flop_f32",
         [METRIC_FLOP_BF16] = "this core has no bfloat16 arithmetic",
         [METRIC_REF_CYCLES] = "this core has no such event",
         [METRIC_DRAM_WRITE_BYTES] = "this part does not count writes apart: see "
                                     "dram_read_bytes",
         [METRIC_PAGE_WALK_CYCLES] = "this core has no such event",
         [METRIC_DRAM_JOULES] = "this part has no memory energy domain"},
    .source = AMD_SOURCE,
};
