#ifndef PROFILER_RUN_KERNELS_H
#define PROFILER_RUN_KERNELS_H

/** Kernel ceilings: what our own kernel of a weight format reaches with its weights in cache, which
 *  is what the compute-only twins of the linears measure. Kept per format and class, the best. */

#include "profiler/results.h"
#include "roofline/status.h"

enum { RUN_KERNELS_MAX = 24 };

struct run_kernels {
    size_t count;
    struct result_compute list[RUN_KERNELS_MAX];
};

/** Takes note of a measured linear: format is that of its weights, class_ the kernel's. Points
 *  without a compute-only twin are ignored, as are classes beyond RUN_KERNELS_MAX. */
void run_kernels_note(struct run_kernels *kernels, const struct result_point *point,
                      const char *format, const char *class_);

/** Appends the ceilings to machine's compute list. */
CHECKED struct status run_kernels_report(struct result_machine *machine,
                                         const struct run_kernels *kernels);

#endif
