#include "profiler/fleet/cause.h"

#include <stdbool.h>

// A row matches if its lost classes lost and its kept classes did not; the first that does is
// said. Losing half of DRAM is two rows' matter.
struct rule {
    unsigned lost;
    unsigned kept;
    double most; // largest loss of DRAM that the row explains
    const char *text;
};

#define BIT(class_) (1u << (class_))

static const struct rule rules[] = {
    {BIT(CLASS_CLOCK) | BIT(CLASS_COMPUTE), 0, 1, "lower clock: power cap, heat or governor?"},
    {BIT(CLASS_COMPUTE) | BIT(CLASS_INNER), BIT(CLASS_CLOCK), 1,
     "cores shared with other work, or a lower clock?"},
    {BIT(CLASS_COMPUTE), BIT(CLASS_DRAM), 1, "other work on the cores?"},
    {BIT(CLASS_DRAM) | BIT(CLASS_COMPUTE), 0, 1, "other work on the node?"},
    {BIT(CLASS_DRAM) | BIT(CLASS_L3), BIT(CLASS_COMPUTE), 1,
     "uncore clock, or traffic of other work?"},
    {BIT(CLASS_DRAM), BIT(CLASS_COMPUTE), 0.06, "other DIMMs, or traffic of other work?"},
    {BIT(CLASS_DRAM), BIT(CLASS_COMPUTE), 0.40, "one channel missing?"},
    {BIT(CLASS_DRAM), BIT(CLASS_COMPUTE), 1, "half of the channels missing?"},
    {BIT(CLASS_L3), 0, 1, "L3 shared with other work?"},
    {BIT(CLASS_NUMA), 0, 1, "the link between the nodes?"},
    {BIT(CLASS_LATENCY), 0, 1, "power saving, prefetch or NUMA settings?"},
    {BIT(CLASS_INNER), 0, 1, "other work on the cores?"},
};

const char *cause_guess(const double loss[CEILING_CLASSES], double least)
{
    unsigned lost = 0;
    for (unsigned c = 0; c < CEILING_CLASSES; c++) {
        lost |= loss[c] >= least ? BIT(c) : 0; // false for NaN
    }
    bool slow_memory = loss[CLASS_DRAM] >= least;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if ((lost & rule->lost) == rule->lost && (lost & rule->kept) == 0 &&
            (!slow_memory || loss[CLASS_DRAM] <= rule->most)) {
            return rule->text;
        }
    }
    return "";
}
