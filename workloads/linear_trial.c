#include "workloads/linear_trial.h"

#include "workloads/kernel_evidence.h"
#include "workloads/line_rows.h"
#include "workloads/linear_plan.h"

#include <stdlib.h>

static bool product_is_right(struct linear *linear, uint64_t rows)
{
    size_t bytes = linear_thread_bytes(linear, 0);
    unsigned char *weights = aligned_alloc(LINE_BYTES, bytes);
    if (weights == NULL) {
        return false;
    }
    for (size_t at = 0; at < bytes; at += linear->group_bytes) {
        line_fill_weights(linear->params.format, weights + at, linear->group_bytes, 1, at);
    }
    linear_run(linear, 0, weights, LINEAR_FULL);
    const unsigned char *const parts[] = {weights};
    bool right = linear_check(linear, parts, rows) <= linear_tolerance(linear);
    free(weights);
    return right;
}

// Rows and columns that fill no tile, of units that fill no run of them.
static bool passes(const struct linear_kernel *kernel, struct isa_set isa, unsigned batch)
{
    const struct line_layout *layout = line_layout(kernel->format);
    uint64_t k = layout->bits > 0 ? layout->unit_ks + layout->multiple_ks : 259;
    struct linear *linear = NULL;
    const struct linear_params params = {
        .format = kernel->format,
        .class_ = kernel->class_,
        .isa = {.features = kernel->needs, .sve_bytes = isa.sve_bytes},
        .n = 33,
        .k = (k + layout->multiple_ks - 1) / layout->multiple_ks * layout->multiple_ks,
        .batch = batch,
        .threads = 1};
    bool right =
        status_is_ok(linear_create(&linear, &params)) && product_is_right(linear, params.n);
    linear_destroy(linear);
    return right;
}

static bool is_proven(const struct linear_kernel *kernel)
{
    const struct kernel_evidence *row =
        kernel_evidence_find("linear", kernel->class_name, line_layout(kernel->format)->name);
    return row != NULL && row->state != KERNEL_NEVER_EXECUTED;
}

struct isa_set linear_trial(struct isa_set isa)
{
    static const uint32_t common =
        ISA_AVX2 | ISA_AVX512 | ISA_AVX512_VNNI | ISA_AMX_TILE | ISA_NEON | ISA_NEON_DOTPROD;
    static const unsigned batches[] = {1, 2, 7, 33};
    const struct linear_kernel *kernel = linear_kernel_at(0);
    for (size_t i = 0; kernel != NULL; kernel = linear_kernel_at(++i)) {
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            if (isa_has(isa, kernel->needs) && batches[b] >= kernel->least_batch &&
                !is_proven(kernel) && !passes(kernel, isa, batches[b])) {
                isa = isa_without(isa, kernel->needs & ~common);
            }
        }
    }
    return isa;
}
