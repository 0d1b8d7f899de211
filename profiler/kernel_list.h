#ifndef PROFILER_KERNEL_LIST_H
#define PROFILER_KERNEL_LIST_H

#include <stdio.h>

/** Prints which kernels exist, by operator, class and type, and where the project has executed
 *  them (workloads/kernel_evidence.h): what `lmroof --version --verbose` adds. */
void kernel_list_print(FILE *out);

#endif
