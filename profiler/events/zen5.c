// AMD Zen 5 (Turin, Granite Ridge). libpfm4 4.13 does not know it; the type filter of the
// operation counts is new.
#include "profiler/events/rows.h"

static const struct event_row rows[] = {
    {CORE_ROW(METRIC_CYCLES, 0, "CYCLES_NOT_IN_HALT", 0x76, 1)},
    {CORE_ROW(METRIC_REF_CYCLES, 0, "P0_FREQ_CYCLES_NOT_IN_HALT", 0x100000120, 1),
     .note = "at the rate of the P0 state"},
    {CORE_ROW(METRIC_INSTRUCTIONS, 0, "RETIRED_INSTRUCTIONS", 0xc0, 1)},
    {FLOP_ROW(METRIC_FLOP_F64, "RETIRED_SSE_AVX_FLOPS:ANY:FLOP_TYPE_PACKED_DOUBLE", 0xaf03, 1,
              WORK_F64 & ~KNOWN_BIT(KNOWN_F64_SCALAR)),
     .note = "packed only: scalar double precision has no listed filter"},
    {FLOP_ROW(METRIC_FLOP_F32, "RETIRED_SSE_AVX_FLOPS:ANY:FLOP_TYPE_PACKED_SINGLE", 0x6f03, 1,
              WORK_F32 & ~KNOWN_BIT(KNOWN_F32_SCALAR)),
     .note = "without integer dot products"},
    {FLOP_ROW(METRIC_FLOP_F32, "RETIRED_SSE_AVX_FLOPS:ANY:FLOP_TYPE_SCALAR_SINGLE", 0x4f03, 1,
              KNOWN_BIT(KNOWN_F32_SCALAR))},
    {FLOP_ROW(METRIC_FLOP_BF16, "RETIRED_SSE_AVX_FLOPS:ANY:FLOP_TYPE_BFLOAT16", 0x2f03, 1,
              WORK_BF16)},
    {CORE_ROW(METRIC_L1_L2_BYTES, 0, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x144, LINE),
     .note = "fills from L2 alone; fills from beyond are in l2_l3_bytes and dram_read_bytes"},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_FILL_RESPONSE_SRC:LOCAL_CCX", 0x100000265, LINE),
     .note = "lines into L2; lines out of it are not in it", .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_L2_L3_BYTES, 0, "L2_FILL_RESPONSE_SRC:DRAM_IO_NEAR:DRAM_IO_FAR", 0x100004865,
              LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_READ_BYTES, 0, "amd_umc_*", "event=0x0a,rdwrmask=1", LINE),
     .work = KNOWN_BIT(KNOWN_READ)},
    {CORE_ROW(METRIC_DRAM_READ_BYTES, 1, "L2_FILL_RESPONSE_SRC:DRAM_IO_NEAR:DRAM_IO_FAR",
              0x100004865, LINE),
     .note = "fills of L2 from memory, prefetch included; write-backs are not in it",
     .work = KNOWN_BIT(KNOWN_READ)},
    {SYSFS_ROW(METRIC_DRAM_WRITE_BYTES, 0, "amd_umc_*", "event=0x0a,rdwrmask=2", LINE),
     .work = KNOWN_BIT(KNOWN_WRITE)},
    {CORE_ROW(METRIC_MEMORY_STALL_CYCLES, 0, "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU", 0x2d6,
              1),
     .note = "nothing retired while the oldest operation was not complete, loads and others"},
    {CORE_ROW(METRIC_TLB_MISS, 0,
              "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS",
              0xd045, 1)},
    {PACKAGE_ENERGY_ROW(NULL)},
};

// 2 Turin, 17 Turin Dense; other models of family 26 are later cores.
static const struct event_match matches[] = {
    {"AuthenticAMD", 26, 0, 79, 0, 15}, {"AuthenticAMD", 26, 96, 127, 0, 15}, {.vendor = NULL}};

const struct event_table event_table_zen5 = {
    .name = "zen5",
    .family = "AMD Zen 5 (Turin, Granite Ridge)",
    .matches = matches,
    .pmus = "amd64_fam1ah_zen5",
    .counters = 6,
    .width_bits = 48,
    .rows = rows,
    .row_count = ROW_COUNT(rows),
    .absent =
        {[METRIC_FLOP_F16] =
             "this core computes halves in single precision (the f16 ceiling too): see flop_f32",
         [METRIC_PAGE_WALK_CYCLES] = "this core has no such event",
         [METRIC_DRAM_JOULES] = "this part has no memory energy domain"},
    .source = AMD_SOURCE,
};
