// traffic_rig CASE [REPEATS]: one decode operator under callgrind's cache simulator, or under an
// emulator that counts operations. Prints what the model predicts that it reads from memory,
// "predicted BYTES", and of linears "flop N". Without arguments: the number of cases.
#include "roofline/dtype.h"
#include "roofline/model.h"
#include "roofline/step.h"
#include "workloads/attention.h"
#include "workloads/linear.h"

#include <omp.h>

#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

struct linear_case {
    enum line_format format;
    enum dtype_id dtype;
    enum linear_class class_;
    uint64_t n, k;
    unsigned batch;
};

// A quarter of a layer's matrices: 8 to 16 MiB, far more than the simulated cache of 1 MiB.
static const struct linear_case linears[] = {
    {LINE_F32, DTYPE_F32, LINEAR_FMA, 2048, 1536, 1},
    {LINE_BF16, DTYPE_BF16, LINEAR_FMA, 4096, 2048, 1},
    {LINE_F16, DTYPE_F16, LINEAR_FMA, 2048, 4096, 4},
    {LINE_Q8_0, DTYPE_Q8_0, LINEAR_DOT, 4096, 2560, 1},
    {LINE_Q4_0, DTYPE_Q4_0, LINEAR_DOT, 8192, 2048, 2},
};

struct attention_case {
    enum line_format format;
    enum dtype_id dtype;
    unsigned batch, heads, kv_heads, dim;
    uint64_t context;
};

static const struct attention_case attentions[] = {
    {LINE_F16, DTYPE_F16, 1, 32, 8, 64, 8191},
    {LINE_F16, DTYPE_F16, 4, 8, 8, 128, 1023},
    {LINE_BF16, DTYPE_BF16, 1, 14, 2, 64, 32703},
};

enum {
    LINEARS = sizeof linears / sizeof *linears,
    ATTENTIONS = sizeof attentions / sizeof *attentions
};

static unsigned char *memory(size_t bytes)
{
    unsigned char *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (out == NULL) {
        (void)fprintf(stderr, "no memory\n");
        exit(1);
    }
    line_fill(out, bytes / 8 * 8, 3);
    return out;
}

static void begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

static void end(void)
{
    CALLGRIND_DUMP_STATS_AT("operator");
    CALLGRIND_STOP_INSTRUMENTATION;
}

static int run_linear(const struct linear_case *c, int repeats)
{
    static struct model_block block;
    const struct model_matrix *matrix =
        model_add_matrix(&block, MODEL_GATE, c->n, c->k, false, c->dtype, DTYPE_F32);
    const struct linear_params params = {.format = c->format,
                                         .class_ = c->class_,
                                         .isa = isa_detect(),
                                         .n = c->n,
                                         .k = c->k,
                                         .batch = c->batch,
                                         .threads = 1,
                                         .prefetch_bytes = 2048};
    struct linear *linear = NULL;
    struct status status = linear_create(&linear, &params);
    if (!status_is_ok(status)) {
        (void)fprintf(stderr, "%s\n", status.detail);
        return 1;
    }
    unsigned char *weights = memory(linear_thread_bytes(linear, 0));
    begin();
    for (int i = 0; i < repeats; i++) {
#pragma omp parallel num_threads(1)
        linear_run(linear, 0, weights, LINEAR_FULL);
    }
    end();
    (void)printf("%s %s %llux%llu batch %u\npredicted %llu\n", line_layout(c->format)->name,
                 linear_class_name(linear), (unsigned long long)c->n, (unsigned long long)c->k,
                 c->batch, (unsigned long long)model_matrix_bytes(matrix, c->dtype));
    (void)printf("flop %llu\n", 2 * (unsigned long long)c->n * (unsigned long long)c->k * c->batch);
    return 0;
}

static int run_attention(const struct attention_case *c)
{
    const struct model_attention shape = {.heads = c->heads,
                                          .kv_heads = c->kv_heads,
                                          .k_dim = c->dim,
                                          .v_dim = c->dim,
                                          .kv_values = 2 * c->kv_heads * (uint64_t)c->dim};
    const struct attention_params params = {.format = c->format,
                                            .isa = isa_detect(),
                                            .batch = c->batch,
                                            .heads = c->heads,
                                            .kv_heads = c->kv_heads,
                                            .k_dim = c->dim,
                                            .v_dim = c->dim,
                                            .context = c->context,
                                            .rows = 1,
                                            .threads = 1,
                                            .prefetch_bytes = 2048};
    struct attention *attention = NULL;
    struct status status = attention_create(&attention, &params);
    if (!status_is_ok(status)) {
        (void)fprintf(stderr, "%s\n", status.detail);
        return 1;
    }
    unsigned char *cache[] = {memory(attention_thread_bytes(attention, 0))};
    begin();
#pragma omp parallel num_threads(1)
    attention_run(attention, 0, cache, LINEAR_FULL);
    end();
    double rows = (double)c->batch * (double)step_visible_cached(&shape, c->context);
    (void)printf("attention %s batch %u heads %u/%u dim %u context %llu\npredicted %.0f\n",
                 line_layout(c->format)->name, c->batch, c->heads, c->kv_heads, c->dim,
                 (unsigned long long)c->context, rows * step_kv_row_bytes(&shape, c->dtype));
    return 0;
}

int main(int argc, char **argv)
{
    int which = argc > 1 ? atoi(argv[1]) : -1;
    if (which < 0 || which >= LINEARS + ATTENTIONS) {
        (void)printf("%d\n", LINEARS + ATTENTIONS);
        return 0;
    }
    int repeats = argc > 2 ? atoi(argv[2]) : 1;
    return which < LINEARS ? run_linear(&linears[which], repeats)
                           : run_attention(&attentions[which - LINEARS]);
}
