#include "profiler/placement.h"

struct status placement_cpus(unsigned *cpus, const struct machine *machine, unsigned threads)
{
    size_t count = 0;
    if (threads == 0 || threads > machine->usable_count) {
        return status_error(STATUS_INVALID,
                            "%u threads asked for; this process may use 1..%zu cpus", threads,
                            machine->usable_count);
    }
    for (unsigned smt = 0; count < threads && smt < machine->usable_count; smt++) {
        for (size_t i = 0; i < machine->usable_count && count < threads; i++) {
            if (machine->usable[i].smt_index == smt) {
                cpus[count++] = machine->usable[i].os_index;
            }
        }
    }
    return status_ok();
}

unsigned placement_cpus_of_kind(unsigned *cpus, unsigned max, const struct machine *machine,
                                unsigned kind)
{
    unsigned count = 0;
    for (size_t i = 0; i < machine->usable_count && count < max; i++) {
        if (machine->usable[i].smt_index == 0 && machine->usable[i].kind == kind) {
            cpus[count++] = machine->usable[i].os_index;
        }
    }
    return count;
}

unsigned placement_cpus_of_node(unsigned *cpus, unsigned max, const struct machine *machine,
                                unsigned node)
{
    unsigned count = 0;
    for (size_t i = 0; i < machine->usable_count && count < max; i++) {
        if (machine->usable[i].smt_index == 0 && machine->usable[i].node == node) {
            cpus[count++] = machine->usable[i].os_index;
        }
    }
    return count;
}
