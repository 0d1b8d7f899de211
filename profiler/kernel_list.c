#include "profiler/kernel_list.h"

#include "workloads/kernel_evidence.h"

void kernel_list_print(FILE *out)
{
    (void)fputs("Kernels, and where their results have been compared with the references':\n", out);
    for (size_t i = 0; kernel_evidence_row(i) != NULL; i++) {
        const struct kernel_evidence *row = kernel_evidence_row(i);
        (void)fprintf(out, "%-9s  %-27s  %-24s  %-15s  %s\n", row->operator_, row->class_,
                      kernel_evidence_text(row->state), row->where, row->types);
    }
}
