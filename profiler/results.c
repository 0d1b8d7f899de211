#include "profiler/results.h"

#include <stdlib.h>
#include <string.h>

static const char *const bound_names[] = {[BOUND_UNKNOWN] = "unknown",
                                          [BOUND_MEMORY_SATURATED] = "memory_saturated",
                                          [BOUND_MEMORY_CORE_LIMITED] = "memory_core_limited",
                                          [BOUND_COMPUTE] = "compute",
                                          [BOUND_LATENCY] = "latency"};

const char *result_bound_name(enum result_bound bound)
{
    return bound_names[bound];
}

bool result_bound_find(enum result_bound *out, const char *name)
{
    for (size_t i = 0; i < sizeof bound_names / sizeof *bound_names; i++) {
        if (strcmp(bound_names[i], name) == 0) {
            *out = (enum result_bound)i;
            return true;
        }
    }
    return false;
}

void result_machine_free(struct result_machine *machine)
{
    free(machine->bandwidth);
    free(machine->compute);
    free(machine->latency);
    free(machine->loaded_latency);
    free(machine->numa);
    free(machine->scaling);
    memset(machine, 0, sizeof *machine);
}

void result_run_free(struct result_run *run)
{
    result_machine_free(&run->machine);
    free(run->points);
    free(run->steps);
    free(run->crossovers);
    free(run->warnings);
    free(run->host);
    free(run->conditions);
    memset(run, 0, sizeof *run);
}
