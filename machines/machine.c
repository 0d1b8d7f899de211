#include "machines/machine.h"

#include "roofline/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned machine_default_threads(const struct machine *machine, bool smt)
{
    unsigned threads = smt ? (unsigned)machine->usable_count : machine->usable_cores;
    if (machine->cpu_quota_cores > 0 && (double)threads > machine->cpu_quota_cores) {
        threads = (unsigned)machine->cpu_quota_cores;
    }
    return threads > 0 ? threads : 1;
}

static bool holds_data(const struct machine_cache *cache, unsigned level)
{
    return cache->level == level && cache->type != MACHINE_CACHE_INSTRUCTION;
}

uint64_t machine_cache_bytes(const struct machine *machine, unsigned level)
{
    uint64_t smallest = 0;
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct machine_cache *cache = &machine->caches[i];
        if (holds_data(cache, level) && (smallest == 0 || cache->bytes < smallest)) {
            smallest = cache->bytes;
        }
    }
    return smallest;
}

unsigned machine_cache_instances(const struct machine *machine, unsigned level)
{
    unsigned instances = 0;
    for (size_t i = 0; i < machine->cache_count; i++) {
        if (holds_data(&machine->caches[i], level)) {
            instances += machine->caches[i].usable_instances;
        }
    }
    return instances;
}

bool machine_has_isa(const struct machine *machine, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = machine->isa; *at != '\0';) {
        const char *end = strchr(at, ' ');
        size_t n = end == NULL ? strlen(at) : (size_t)(end - at);
        if (n == length && memcmp(at, word, n) == 0) {
            return true;
        }
        at += end == NULL ? n : n + 1;
    }
    return false;
}

void machine_free(struct machine *machine)
{
    free(machine->usable);
    memset(machine, 0, sizeof *machine);
}

char *machine_format_available(char out[MACHINE_AVAILABLE_TEXT], const struct machine *machine,
                               uint64_t bytes)
{
    char left[UNITS_TEXT];
    char limit[UNITS_TEXT];
    units_format_binary(left, bytes);
    if (machine->address_space_bytes == 0) {
        (void)snprintf(out, MACHINE_AVAILABLE_TEXT, "%s", left);
    } else {
        (void)snprintf(out, MACHINE_AVAILABLE_TEXT,
                       "%s (address space is limited to %s: ulimit -v unlimited)", left,
                       units_format_binary(limit, machine->address_space_bytes));
    }
    return out;
}
