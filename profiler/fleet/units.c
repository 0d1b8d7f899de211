#include "profiler/fleet/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[FLEET_UNITS] = {"node", "socket", "numa", "core"};

const char *fleet_unit_name(enum fleet_unit unit)
{
    return names[unit];
}

struct status fleet_unit_parse(enum fleet_unit *out, const char *name)
{
    for (unsigned i = 0; i < FLEET_UNITS; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum fleet_unit)i;
            return status_ok();
        }
    }
    return status_error(STATUS_INVALID,
                        "--per: '%.40s' is no unit; accepted node, socket, numa, core", name);
}

// Logical indices are those of the whole host whatever the rank is bound to (topology_hwloc.c).
static unsigned unit_of(const struct machine_cpu *cpu, enum fleet_unit unit)
{
    switch (unit) {
    case FLEET_SOCKET:
        return cpu->package;
    case FLEET_NUMA:
        return cpu->node;
    case FLEET_CORE:
        return cpu->core;
    case FLEET_NODE:
    case FLEET_UNITS:
        break;
    }
    return 0;
}

void fleet_offer_make(struct fleet_offer *out, const char *host, const struct machine *machine,
                      enum fleet_unit unit)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->host, sizeof out->host, "%s", host);
    for (size_t i = 0; i < machine->usable_count; i++) {
        unsigned index = unit_of(&machine->usable[i], unit);
        if (index < FLEET_NO_UNIT) {
            out->units[index / 8] |= (unsigned char)(1u << index % 8);
        }
    }
}

static unsigned lowest_free(const struct fleet_offer *offer, const unsigned char *taken)
{
    for (unsigned u = 0; u < FLEET_NO_UNIT; u++) {
        unsigned bit = 1u << u % 8;
        if ((offer->units[u / 8] & bit) != 0 && (taken[u / 8] & bit) == 0) {
            return u;
        }
    }
    return FLEET_NO_UNIT;
}

unsigned fleet_offer_take(const struct fleet_offer *offers, size_t count, size_t rank)
{
    unsigned char taken[MACHINE_CPUS_MAX / 8] = {0};
    assert(rank < count);
    for (size_t r = 0; r < rank; r++) {
        if (strcmp(offers[r].host, offers[rank].host) == 0) {
            unsigned u = lowest_free(&offers[r], taken);
            if (u < FLEET_NO_UNIT) {
                taken[u / 8] |= (unsigned char)(1u << u % 8);
            }
        }
    }
    return lowest_free(&offers[rank], taken);
}

static int compare_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a;
    unsigned y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

size_t fleet_unit_cpus(unsigned *cpus, const struct machine *machine, enum fleet_unit unit,
                       unsigned index)
{
    size_t count = 0;
    for (size_t i = 0; i < machine->usable_count; i++) {
        if (unit_of(&machine->usable[i], unit) == index) {
            cpus[count++] = machine->usable[i].os_index;
        }
    }
    qsort(cpus, count, sizeof *cpus, compare_unsigned);
    return count;
}

char *fleet_cpu_list(char *out, size_t bytes, const unsigned *cpus, size_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < bytes;) {
        size_t end = i;
        while (end + 1 < count && cpus[end + 1] == cpus[end] + 1) {
            end++;
        }
        const char *comma = used > 0 ? "," : "";
        int n = end > i ? snprintf(out + used, bytes - used, "%s%u-%u", comma, cpus[i], cpus[end])
                        : snprintf(out + used, bytes - used, "%s%u", comma, cpus[i]);
        used += n < 0 ? bytes : (size_t)n;
        i = end + 1;
    }
    return out;
}
