#include "profiler/run_evidence.h"

#include "profiler/result_build.h"
#include "workloads/kernel_evidence.h"

#include <string.h>

static bool on_silicon(const char *operator_, const char *class_, const char *type)
{
    const struct kernel_evidence *row = kernel_evidence_find(operator_, class_, type);
    return row != NULL && row->state == KERNEL_ON_SILICON;
}

void run_evidence_note(struct run_evidence *evidence, const char *operator_, const char *class_,
                       const char *type)
{
    if (on_silicon(operator_, class_, type)) {
        return;
    }
    for (size_t i = 0; i < evidence->count; i++) {
        struct run_evidence_entry *entry = &evidence->list[i];
        if (strcmp(entry->operator_, operator_) == 0 && strcmp(entry->class_, class_) == 0) {
            entry->points++;
            return;
        }
    }
    if (evidence->count < RUN_EVIDENCE_MAX) {
        evidence->list[evidence->count++] = (struct run_evidence_entry){operator_, class_, type, 1};
    }
}

void run_evidence_warn(struct result_run *run, const struct run_evidence *evidence)
{
    for (size_t i = 0; i < evidence->count; i++) {
        const struct run_evidence_entry *entry = &evidence->list[i];
        const struct kernel_evidence *row =
            kernel_evidence_find(entry->operator_, entry->class_, entry->type);
        bool emulated = row != NULL && row->state == KERNEL_UNDER_EMULATION;
        result_warn(run, "kernel_unproven", "lmroof --version --verbose",
                    "%u points were measured by a kernel (%s %s) that the project has %s: its "
                    "results agreed with the reference here, its speed is unproven",
                    entry->points, entry->operator_, entry->class_,
                    emulated ? "executed under an emulator alone" : "never executed");
    }
}

void run_evidence_warn_refused(struct result_run *run, struct isa_set all, struct isa_set used)
{
    char names[ISA_TEXT];
    struct isa_set refused = isa_without(all, used.features);
    if (refused.features != 0) {
        result_warn(run, "kernel_refused", "please report this with the document",
                    "kernels by %s differ from the reference here and are not used",
                    isa_text(names, sizeof names, refused));
    }
}
