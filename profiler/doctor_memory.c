#include "profiler/doctor_rules.h"
#include "profiler/memory_channels.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <string.h>

static void examine_pages(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    bool never = strcmp(machine->thp, "never") == 0;
    if (never || facts->thp_denied) {
        result_warn(run, "thp_off",
                    never ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)"
                          : "start without the launcher that calls prctl(PR_SET_THP_DISABLE)",
                    "transparent huge pages are off%s: weights on 4 KiB pages cost an address "
                    "translation for every 4 KiB that is read, and bandwidth with it",
                    never ? "" : " for this process");
    }
}

static void examine_nodes(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (machine->numa_balancing > 0 && machine->numa_nodes > 1) {
        result_warn(run, "numa_balancing", "echo 0 > /proc/sys/kernel/numa_balancing (as root)",
                    "automatic NUMA balancing is on (%d) with %u nodes: pages are unmapped and "
                    "moved while they are read, which stops the reader and costs bandwidth",
                    machine->numa_balancing, machine->numa_nodes);
    }
    if (facts->zone_reclaim && machine->numa_nodes > 1) {
        result_warn(run, "zone_reclaim", "echo 0 > /proc/sys/vm/zone_reclaim_mode (as root)",
                    "vm.zone_reclaim_mode frees file pages of a full node before it takes memory "
                    "of another: a model's file larger than a node is read again from storage");
    }
    if (facts->nodes_bare[0] != '\0') {
        result_warn(run, "node_without_memory",
                    "modules for that socket, or only cpus of the other nodes (taskset)",
                    "the cpus of node %s have no memory of their own: all that they read crosses "
                    "the link between the nodes, at a fraction of the bandwidth",
                    facts->nodes_bare);
    }
    if (facts->nodes_allowed[0] != '\0' && facts->nodes_present[0] != '\0') {
        result_warn(run, "memory_nodes_hidden",
                    "cpuset.mems or the container's --cpuset-mems with all nodes",
                    "this process may use the memory of node %s, the machine has it on %s: the "
                    "bandwidth of the other controllers is out of reach",
                    facts->nodes_allowed, facts->nodes_present);
    }
}

static void examine_channels(struct result_run *run, const struct doctor_facts *facts)
{
    const struct memory_layout *memory = &facts->memory;
    char least[UNITS_TEXT];
    char most[UNITS_TEXT];
    unsigned used = 0;
    unsigned channels = memory_channels_count(&used, facts->machine, memory);
    if (used > 0 && used < channels) {
        result_warn(run, "memory_channels",
                    "a module in every channel; the board's manual names the slots",
                    "modules are in %s%u of %u memory channels: decode, which is bound by memory, "
                    "loses %.0f %% of the bandwidth that the processor has with all of them",
                    memory->channels > 0 ? "" : "at most ", used, channels,
                    100.0 * (channels - used) / channels);
    }
    if (memory->channel_bytes_least > 0 &&
        memory->channel_bytes_least < memory->channel_bytes_most) {
        result_warn(run, "memory_uneven", "modules of one size in all channels",
                    "memory channels hold from %s to %s: what lies beyond the smallest is spread "
                    "over fewer channels, and read at their share of the bandwidth",
                    units_format_binary(least, memory->channel_bytes_least),
                    units_format_binary(most, memory->channel_bytes_most));
    }
}

static void examine_speed(struct result_run *run, const struct doctor_facts *facts)
{
    enum { ROUNDING_PERCENT = 1 }; // firmware rounds: 2933 and 2934, 2666 and 2667
    const struct memory_layout *memory = &facts->memory;
    const struct memory_channels *known = memory_channels_of(facts->machine);
    double possible = memory->mt_per_s_rated;
    if (known != NULL && known->mt_per_s_max < possible) {
        possible = known->mt_per_s_max; // the rest is the processor's, and nothing is lost
    }
    if (memory->mt_per_s > 0 && memory->mt_per_s * (100 + ROUNDING_PERCENT) < possible * 100) {
        result_warn(run, "memory_speed",
                    "the memory profile in the firmware's settings, one module a channel; some "
                    "products of a processor's family end lower than others",
                    "memory runs at %.0f MT/s, its modules are rated for %.0f: unless that is this "
                    "processor's limit, decode loses %.0f %% of the bandwidth",
                    memory->mt_per_s, memory->mt_per_s_rated,
                    100 * (1 - memory->mt_per_s / possible));
    }
}

static void examine_pressure(struct result_run *run, const struct doctor_facts *facts)
{
    enum { NEARLY_FULL = 8 }; // less than this part of all is available
    char text[3][UNITS_TEXT];
    uint64_t available = facts->machine->memory_available_bytes;
    uint64_t limit = facts->machine->memory_limit_bytes;
    uint64_t total = facts->memory_total_bytes;
    total = limit > 0 && limit < total ? limit : total;
    if (facts->memory_stall_fraction >= 0.05) { // false for a NaN
        result_warn(run, "memory_pressure", "end what else needs memory; see /proc/pressure/memory",
                    "for %.0f %% of the last minute some task waited until memory was freed or "
                    "read back: weights compete for it, and measured bandwidth is too low",
                    100 * facts->memory_stall_fraction);
    }
    if (facts->swap_used_bytes > 0 && available > 0 && available < total / NEARLY_FULL) {
        result_warn(run, "swap", "end what else needs memory, a smaller model or type, or swapoff",
                    "%s of %s memory are available and %s are swapped out: weights that do not fit "
                    "come from storage, at a hundredth of the memory's bandwidth or less",
                    units_format_binary(text[0], available), units_format_binary(text[1], total),
                    units_format_binary(text[2], facts->swap_used_bytes));
    }
}

void doctor_examine_memory(struct result_run *run, const struct doctor_facts *facts)
{
    examine_pages(run, facts);
    examine_nodes(run, facts);
    examine_channels(run, facts);
    examine_speed(run, facts);
    examine_pressure(run, facts);
}
