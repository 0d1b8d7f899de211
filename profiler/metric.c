#include "profiler/metric.h"

#include <string.h>

static const struct metric_row rows[METRIC_COUNT] = {
    [METRIC_CYCLES] = {"cycles", "cycles", BETTER_LOWER, SCOPE_THREAD,
                       "core clock cycles while the thread ran in user mode"},
    [METRIC_REF_CYCLES] = {"ref_cycles", "cycles", BETTER_LOWER, SCOPE_THREAD,
                           "cycles of a clock of constant rate while the thread ran"},
    [METRIC_INSTRUCTIONS] = {"instructions", "instructions", BETTER_LOWER, SCOPE_THREAD,
                             "instructions retired in user mode; also the guard of every set"},
    [METRIC_FLOP_F64] = {"flop_f64", "flop", BETTER_HIGHER, SCOPE_THREAD,
                         "double precision operations, a fused multiply-add counting two"},
    [METRIC_FLOP_F32] = {"flop_f32", "flop", BETTER_HIGHER, SCOPE_THREAD,
                         "single precision operations, a fused multiply-add counting two"},
    [METRIC_FLOP_F16] = {"flop_f16", "flop", BETTER_HIGHER, SCOPE_THREAD,
                         "half precision operations, a fused multiply-add counting two"},
    [METRIC_FLOP_BF16] = {"flop_bf16", "flop", BETTER_HIGHER, SCOPE_THREAD,
                          "operations of bfloat16 dot products, a multiply-add counting two"},
    [METRIC_L1_L2_BYTES] = {"l1_l2_bytes", "bytes", BETTER_LOWER, SCOPE_THREAD,
                            "bytes that entered the L1 data cache from the L2 cache and beyond"},
    [METRIC_L2_L3_BYTES] = {"l2_l3_bytes", "bytes", BETTER_LOWER, SCOPE_THREAD,
                            "bytes that crossed between the L2 cache and what lies beyond it"},
    [METRIC_DRAM_READ_BYTES] = {"dram_read_bytes", "bytes", BETTER_LOWER, SCOPE_SYSTEM,
                                "bytes read from memory"},
    [METRIC_DRAM_WRITE_BYTES] = {"dram_write_bytes", "bytes", BETTER_LOWER, SCOPE_SYSTEM,
                                 "bytes written to memory"},
    [METRIC_MEMORY_STALL_CYCLES] = {"memory_stall_cycles", "cycles", BETTER_LOWER, SCOPE_THREAD,
                                    "cycles in which the core could do nothing but wait for data"},
    [METRIC_TLB_MISS] = {"tlb_miss", "walks", BETTER_LOWER, SCOPE_THREAD,
                         "page walks for data addresses"},
    [METRIC_PAGE_WALK_CYCLES] = {"page_walk_cycles", "cycles", BETTER_LOWER, SCOPE_THREAD,
                                 "cycles with a page walk for a load in progress"},
    [METRIC_PACKAGE_JOULES] = {"package_joules", "joules", BETTER_LOWER, SCOPE_SYSTEM,
                               "energy of the processor packages, idle share included"},
    [METRIC_DRAM_JOULES] = {"dram_joules", "joules", BETTER_LOWER, SCOPE_SYSTEM,
                            "energy of the memory, idle share included"},
};

const struct metric_row *metric_row(enum metric metric)
{
    return &rows[metric];
}

bool metric_of_name(enum metric *out, const char *name)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    }
    return false;
}

const char *metric_scope_name(enum metric_scope scope)
{
    return scope == SCOPE_SYSTEM ? "system" : "thread";
}
