#ifndef PROFILER_RUN_EVIDENCE_H
#define PROFILER_RUN_EVIDENCE_H

/** Kernels that measured points and that the project itself has not executed on a CPU
 *  (workloads/kernel_evidence.h): their results agreed with the reference here, which is said. */

#include "profiler/results.h"
#include "workloads/isa.h"

enum { RUN_EVIDENCE_MAX = 8 };

struct run_evidence {
    size_t count;
    struct run_evidence_entry {
        const char *operator_;
        const char *class_;
        const char *type;
        unsigned points;
    } list[RUN_EVIDENCE_MAX];
};

/** Takes note of a point measured by the kernel of an operator ("linear", "attention"), class and
 *  type; the texts are kept, not copied. Ignored are kernels verified on silicon. */
void run_evidence_note(struct run_evidence *evidence, const char *operator_, const char *class_,
                       const char *type);

/** A warning `kernel_unproven` for each of them. */
void run_evidence_warn(struct result_run *run, const struct run_evidence *evidence);

/** A warning `kernel_refused` if `used`, what a trial left of `all`, lacks something. */
void run_evidence_warn_refused(struct result_run *run, struct isa_set all, struct isa_set used);

#endif
