// Every attention kernel that this CPU can execute against the double reference, on one thread, at
// shapes that no loop divides evenly. Prints a line for each class; exit status 1 if one is wrong.
#include "workloads/attention.h"
#include "workloads/attention_quant.h"

#include <stdio.h>
#include <stdlib.h>

static void fill(unsigned char *cache, size_t bytes, const struct attention_params *params)
{
    if (attention_is_quant(params->format)) {
        const struct attention_quant shape =
            attention_quant_shape(params->format, params->k_dim, params->v_dim);
        attention_quant_fill(&shape, cache, bytes, 1, params->heads);
    } else {
        line_fill(cache, bytes, params->heads);
    }
}

static double check(const char **class_name, double *tolerance,
                    const struct attention_params *params)
{
    struct attention *attention = NULL;
    if (!status_is_ok(attention_create(&attention, params))) {
        return 1;
    }
    size_t bytes = attention_thread_bytes(attention, 0);
    unsigned char *cache = aligned_alloc(64, bytes);
    if (cache == NULL) {
        return 1;
    }
    fill(cache, bytes, params);
    unsigned char *const parts[] = {cache};
    attention_run(attention, 0, parts, LINEAR_MEMORY_ONLY);
    attention_run(attention, 0, parts, LINEAR_COMPUTE_ONLY);
    attention_run(attention, 0, parts, LINEAR_FULL);
    double error = attention_check(attention, parts, 20);
    *class_name = attention_class_name(attention);
    *tolerance = attention_tolerance(attention);
    attention_destroy(attention);
    free(cache);
    return error;
}

static int check_groups(enum line_format format)
{
    const char *name = "";
    for (unsigned heads = 1; heads <= 14; heads++) { // query heads to one KV head
        for (int prefill = 0; prefill <= 1; prefill++) {
            const struct attention_params params = {.format = format,
                                                    .isa = isa_detect(),
                                                    .batch = 1,
                                                    .heads = heads,
                                                    .kv_heads = 1,
                                                    .k_dim = format == LINE_Q8_0 ? 96 : 33,
                                                    .v_dim = format == LINE_Q8_0 ? 32 : 47,
                                                    .context = 70,
                                                    .rows = prefill ? 3 : 1,
                                                    .prefill = prefill,
                                                    .threads = 1,
                                                    .prefetch_bytes = 4096};
            double tolerance = 0;
            double error = check(&name, &tolerance, &params);
            if (!(error <= tolerance)) {
                (void)printf("%s %s heads %u prefill %d: error %g, tolerance %g\n",
                             line_layout(format)->name, name, heads, prefill, error, tolerance);
                return 1;
            }
        }
    }
    (void)printf("attention %s %s ok\n", line_layout(format)->name, name);
    return 0;
}

int main(void)
{
    int failed = 0;
    for (int format = LINE_F32; format < LINE_FORMATS; format++) {
        if (attention_supported((enum line_format)format, isa_detect())) {
            failed |= check_groups((enum line_format)format);
        }
    }
    return failed;
}
