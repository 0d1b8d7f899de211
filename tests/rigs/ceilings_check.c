// Checks every ceiling kernel that the emulated CPU has; built for another architecture by
// ceilings_aarch64.sh. Prints one line per kernel; exit 1 if one fails or is in no row of the table
// of evidence.
#include "workloads/ceiling_check.h"
#include "workloads/kernel_evidence.h"

#include <stdio.h>

static int check_streams(struct isa_set isa)
{
    const struct stream_kernel *kernels[CEILING_KERNELS_MAX];
    size_t count = stream_kernels_find(kernels, CEILING_KERNELS_MAX, NULL, isa);
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        struct status status = stream_kernel_check(kernels[i]);
        (void)printf("%s %s %s\n", kernels[i]->kernel, kernels[i]->variant,
                     status.code == STATUS_OK ? "ok" : status.detail);
        failed += status.code == STATUS_OK ? 0 : 1;
    }
    return failed;
}

static int check_chains(struct isa_set isa)
{
    const struct compute_kernel *kernels[CEILING_KERNELS_MAX];
    bool passed[CEILING_KERNELS_MAX];
    size_t count = compute_kernels_find(kernels, CEILING_KERNELS_MAX, NULL, isa);
    struct status status = compute_kernels_verify(passed, kernels, count, isa.sve_bytes);
    int failed = status.code == STATUS_OK ? 0 : 1;
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s %u %s\n", kernels[i]->class_, kernels[i]->chains,
                     passed[i] ? "ok" : "FAILED");
        failed += passed[i] ? 0 : 1;
        if (kernel_evidence_find("compute", kernels[i]->class_, kernels[i]->dtype) == NULL) {
            (void)printf("%s is in no row of kernel_evidence.c\n", kernels[i]->class_);
            failed++;
        }
    }
    return failed;
}

int main(void)
{
    struct isa_set isa = isa_detect();
    char text[ISA_TEXT];
    (void)printf("isa: %s\n", isa_text(text, sizeof text, isa));
    return check_streams(isa) + check_chains(isa) > 0 ? 1 : 0;
}
