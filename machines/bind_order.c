#include "machines/bind.h"

#include <stdlib.h>

struct slot {
    unsigned os_index;
    unsigned smt_index;
    unsigned kind;
    unsigned node;
    unsigned turn; // how many better cpus the same node has in the same class
};

// Within a class (SMT round, then core kind: hwloc puts the fastest last) nodes take turns.
static int by_preference(const void *a, const void *b)
{
    const struct slot *x = a;
    const struct slot *y = b;
    if (x->smt_index != y->smt_index) {
        return x->smt_index < y->smt_index ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind > y->kind ? -1 : 1;
    }
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

static unsigned turn_of(const struct machine *machine, size_t index)
{
    const struct machine_cpu *cpu = &machine->usable[index];
    unsigned turn = 0;
    for (size_t i = 0; i < index; i++) {
        const struct machine_cpu *other = &machine->usable[i];
        turn += other->smt_index == cpu->smt_index && other->kind == cpu->kind &&
                other->node == cpu->node;
    }
    return turn;
}

size_t bind_order(unsigned *out, const struct machine *machine, bool smt)
{
    struct slot *slots = calloc(machine->usable_count + 1, sizeof *slots);
    size_t count = 0;
    if (slots == NULL) {
        return 0;
    }
    for (size_t i = 0; i < machine->usable_count; i++) {
        const struct machine_cpu *cpu = &machine->usable[i];
        if (smt || cpu->smt_index == 0) {
            slots[count++] = (struct slot){.os_index = cpu->os_index,
                                           .smt_index = cpu->smt_index,
                                           .kind = cpu->kind,
                                           .node = cpu->node,
                                           .turn = turn_of(machine, i)};
        }
    }
    qsort(slots, count, sizeof *slots, by_preference);
    for (size_t i = 0; i < count; i++) {
        out[i] = slots[i].os_index;
    }
    free(slots);
    return count;
}

struct status bind_choose(unsigned *out, const struct machine *machine, unsigned threads, bool smt)
{
    size_t most = smt ? machine->usable_count : machine->usable_cores;
    if (threads == 0 || threads > most) {
        return status_error(STATUS_INVALID,
                            "%u threads asked for, accepted 1 to %zu (usable %s of this process)",
                            threads, most, smt ? "cpus" : "cores");
    }
    unsigned *order = calloc(machine->usable_count, sizeof *order);
    if (order == NULL || bind_order(order, machine, smt) < threads) {
        free(order);
        return status_error(STATUS_SYSTEM, "no memory to choose %u cpus", threads);
    }
    for (unsigned i = 0; i < threads; i++) {
        out[i] = order[i];
    }
    free(order);
    return status_ok();
}
