#include "profiler/results.h"

#include <stdlib.h>
#include <string.h>

void result_machine_free(struct result_machine *machine)
{
    free(machine->bandwidth);
    free(machine->compute);
    free(machine->latency);
    free(machine->loaded_latency);
    free(machine->numa);
    free(machine->scaling);
    free(machine->weight_reads);
    free(machine->part_times);
    memset(machine, 0, sizeof *machine);
}

void result_run_free(struct result_run *run)
{
    result_machine_free(&run->machine);
    free(run->points);
    free(run->steps);
    free(run->crossovers);
    free(run->sweeps);
    free(run->certificate);
    free(run->warnings);
    free(run->host);
    free(run->conditions);
    memset(run, 0, sizeof *run);
}

const char *result_point_recipe(const struct result_point *point)
{
    return point->recipe[0] != '\0' ? point->recipe : point->dtype;
}
