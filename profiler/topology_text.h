#ifndef PROFILER_TOPOLOGY_TEXT_H
#define PROFILER_TOPOLOGY_TEXT_H

/** A topology for people: what the machine is, what this process may use, settings. */

#include "machines/machine.h"

#include <stdio.h>

/** Prints about twenty lines; what is not known is a dash. */
void topology_print(FILE *out, const struct machine *machine);

#endif
