// Every linear kernel that this CPU can execute against the double reference, on one thread, at
// shapes that no loop divides evenly. Prints a line for each class; exit status 1 if one is wrong
// or in no row of the table of evidence.
#include "workloads/kernel_evidence.h"
#include "workloads/linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double check(const char **class_name, double *tolerance, const struct linear_params *params)
{
    struct linear *linear = NULL;
    if (!status_is_ok(linear_create(&linear, params))) {
        return 1;
    }
    size_t bytes = linear_thread_bytes(linear, 0);
    unsigned char *weights = aligned_alloc(64, bytes);
    if (weights == NULL) {
        return 1;
    }
    line_fill(weights, bytes, params->batch);
    linear_run(linear, 0, weights, LINEAR_MEMORY_ONLY);
    linear_run(linear, 0, weights, LINEAR_COMPUTE_ONLY);
    linear_run(linear, 0, weights, LINEAR_FULL);
    const unsigned char *parts[] = {weights};
    double error = linear_check(linear, parts, params->n);
    *class_name = linear_class_name(linear);
    *tolerance = linear_tolerance(linear);
    linear_destroy(linear);
    free(weights);
    return error;
}

static int check_batches(enum line_format format, enum linear_class class_, struct isa_set isa)
{
    const char *name = "";
    for (unsigned batch = 1; batch <= 65; batch += batch < 13 ? 1 : 26) {
        const struct linear_params params = {.format = format,
                                             .class_ = class_,
                                             .isa = isa,
                                             .n = 33,
                                             .k = line_is_blocks(format) ? 768 : 259,
                                             .batch = batch,
                                             .threads = 1,
                                             .prefetch_bytes = batch % 2 == 0 ? 4096 : 0};
        double tolerance = 0;
        double error = check(&name, &tolerance, &params);
        if (!(error <= tolerance)) {
            (void)printf("%s %s batch %u: error %g, tolerance %g\n", line_layout(format)->name,
                         name, batch, error, tolerance);
            return 1;
        }
    }
    if (kernel_evidence_find("linear", name, line_layout(format)->name) == NULL) {
        (void)printf("%s %s is in no row of kernel_evidence.c\n", line_layout(format)->name, name);
        return 1;
    }
    (void)printf("%s %s ok\n", line_layout(format)->name, name);
    return 0;
}

static const char *class_of(enum line_format format, enum linear_class class_, struct isa_set isa)
{
    const struct linear_params params = {
        .format = format, .class_ = class_, .isa = isa, .n = 1, .k = 512, .batch = 1, .threads = 1};
    struct linear *linear = NULL;
    const char *name = "";
    if (status_is_ok(linear_create(&linear, &params))) {
        name = linear_class_name(linear);
        linear_destroy(linear);
    }
    return name;
}

// What the CPU has, and that without its best instructions: the next best kernels.
static int check_format(enum line_format format, enum linear_class class_, const char *prefix)
{
    static const uint32_t removed[] = {0, ISA_NEON_I8MM, ISA_NEON_I8MM | ISA_SVE};
    const char *before = "";
    int failed = 0;
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        struct isa_set isa = isa_without(isa_detect(), removed[i]);
        const char *name = class_of(format, class_, isa);
        if (strcmp(name, before) != 0 && strncmp(name, prefix, strlen(prefix)) == 0) {
            failed |= check_batches(format, class_, isa);
        }
        before = name;
    }
    return failed;
}

int main(int argc, char **argv)
{
    const char *prefix = argc > 1 ? argv[1] : "";
    int failed = 0;
    for (int format = LINE_F32; format < LINE_FORMATS; format++) {
        failed |= check_format((enum line_format)format, LINEAR_FMA, prefix);
        failed |= check_format((enum line_format)format, LINEAR_DOT, prefix);
    }
    return failed;
}
