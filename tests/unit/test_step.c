#include "roofline/estimate.h"
#include "roofline/model.h"
#include "roofline/step.h"
#include "roofline/training.h"
#include "tests/test.h"

#include <stdlib.h>

static double pairs(uint64_t window, bool chunked, uint64_t context, uint64_t n)
{
    struct model_attention attention = {.window = window, .chunked = chunked};
    return step_attention_pairs(&attention, context, n);
}

// The sum that step_attention_pairs() closes, one token at a time.
static double counted_pairs(uint64_t window, bool chunked, uint64_t context, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 1; i <= n; i++) {
        uint64_t sees = context + i;
        if (window > 0 && chunked) {
            sees = (sees - 1) % window + 1;
        } else if (window > 0 && sees > window) {
            sees = window;
        }
        sum += (double)sees;
    }
    return sum;
}

static void attention_pairs(void **state)
{
    (void)state;
    ASSERT_CLOSE(pairs(0, false, 100, 1), 101, 0);      // decode: C
    ASSERT_CLOSE(pairs(0, false, 0, 512), 131328, 0);   // n (n + 1) / 2
    ASSERT_CLOSE(pairs(0, false, 1000, 10), 10055, 0);  // n c + n (n + 1) / 2
    ASSERT_CLOSE(pairs(4096, false, 8000, 1), 4096, 0); // min(C, W)
    ASSERT_CLOSE(pairs(8192, true, 8192, 1), 1, 0);     // a chunk begins
    for (uint64_t window = 0; window <= 9; window++) {
        for (uint64_t context = 0; context <= 20; context++) {
            for (uint64_t n = 1; n <= 20; n++) {
                ASSERT_CLOSE(pairs(window, false, context, n),
                             counted_pairs(window, false, context, n), 0);
                ASSERT_CLOSE(pairs(window, true, context, n),
                             counted_pairs(window, true, context, n), 0);
            }
        }
    }
}

static void cached_positions(void **state)
{
    (void)state;
    const struct model_attention full = {.window = 0};
    const struct model_attention sliding = {.window = 4096};
    const struct model_attention chunk = {.window = 8192, .chunked = true};
    ASSERT_CLOSE(step_visible_cached(&full, 5000), 5000, 0);
    ASSERT_CLOSE(step_visible_cached(&sliding, 5000), 4095, 0); // the new token takes one place
    ASSERT_CLOSE(step_visible_cached(&sliding, 100), 100, 0);
    ASSERT_CLOSE(step_visible_cached(&chunk, 8191), 8191, 0);
    ASSERT_CLOSE(step_visible_cached(&chunk, 8192), 0, 0);
}

static void distinct_experts(void **state)
{
    (void)state;
    static const struct {
        uint64_t experts, used;
        double tokens, want, tolerance;
    } cases[] = {{8, 2, 1, 2, 1e-12},      {8, 2, 2, 3.5, 1e-12},   {8, 2, 4, 5.46875, 1e-12},
                 {8, 2, 8, 7.20, 1e-3},    {128, 8, 1, 8, 1e-12},   {128, 8, 2, 15.5, 1e-12},
                 {128, 8, 4, 29.1, 1e-2},  {128, 8, 8, 51.6, 1e-3}, {4, 4, 3, 4, 0},
                 {256, 8, 1e9, 256, 1e-12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_CLOSE(step_distinct_experts(cases[i].experts, cases[i].used, cases[i].tokens),
                     cases[i].want, cases[i].tolerance);
    }
}

// One layer that is a single matrix of n x k besides a head of one row.
static struct model *one_matrix(uint64_t n, uint64_t k)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->d = k;
    model->vocab = 1;
    model->embedding = (struct model_matrix){.role = MODEL_EMBEDDING, .count = 1, .n = 1, .k = k};
    model->head = (struct model_matrix){.role = MODEL_HEAD, .count = 1, .n = 1, .k = k};
    struct model_block block = {.layers = 1};
    assert_non_null(model_add_matrix(&block, MODEL_UP, n, k, false, DTYPE_BF16, DTYPE_BF16));
    ASSERT_OK(model_add_layers(model, &block));
    ASSERT_OK(model_check(model));
    model_set_dtype(model, DTYPE_BF16);
    return model;
}

static double up_flop(const struct model *model, bool exact)
{
    struct step step;
    struct step_request request = step_defaults(STEP_PREFILL);
    request.prompt = 2;
    request.exact = exact;
    ASSERT_OK(step_compute(&step, model, &request));
    const struct step_cost *cost = step_find(&step, MODEL_OP_GATE_UP);
    assert_non_null(cost);
    return cost->flop;
}

// M N = 8 outputs of K = 3: 40 operations exactly, 48 by 2 M K N.
static void exact_products(void **state)
{
    (void)state;
    struct model *model = one_matrix(4, 3);
    ASSERT_CLOSE(up_flop(model, true), 40, 0);
    ASSERT_CLOSE(up_flop(model, false), 48, 0);
    free(model);
}

static void chunked_prefill(void **state)
{
    (void)state;
    struct model *model = one_matrix(64, 32);
    struct step step;
    struct step_request request = step_defaults(STEP_PREFILL);
    request.prompt = 1000;
    request.ubatch = 300;
    ASSERT_OK(step_compute(&step, model, &request));
    assert_int_equal(step.passes, 4);
    const struct step_cost *up = step_find(&step, MODEL_OP_GATE_UP);
    assert_non_null(up);
    ASSERT_CLOSE(up->bytes.weights, 4 * 64 * 32 * 2, 0);
    request.llc_bytes = 1 << 20; // the weights stay in the cache
    ASSERT_OK(step_compute(&step, model, &request));
    assert_int_equal(step.passes, 1);
    request.ubatch = 1000;
    request.llc_bytes = 0;
    ASSERT_OK(step_compute(&step, model, &request));
    assert_int_equal(step.passes, 1);
    free(model);
}

static void refused_requests(void **state)
{
    (void)state;
    struct model *model = one_matrix(64, 32);
    struct step step;
    struct step_request request = step_defaults(STEP_DECODE);
    request.batch = 0;
    struct status status = step_compute(&step, model, &request);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "--batch"));
    request = step_defaults(STEP_PREFILL);
    request.prompt = UINT64_MAX;
    assert_int_equal(step_compute(&step, model, &request).code, STATUS_INVALID);
    request = step_defaults(STEP_DECODE);
    request.kv_dtype = DTYPE_Q8_K; // exists in kernels only
    assert_int_equal(step_compute(&step, model, &request).code, STATUS_INVALID);
    free(model);
}

// 12 L d^2 with heads of k: attention's share of training is S / (6 d), half of it causal.
static struct model *gpt_block_model(uint64_t layers, uint64_t d)
{
    struct model *model = one_matrix(1, d);
    model->block_count = 0;
    struct model_block block = {.layers = (uint32_t)layers};
    block.attention = (struct model_attention){.kind = MODEL_ATTENTION_HEADS,
                                               .heads = d / 128,
                                               .kv_heads = d / 128,
                                               .k_dim = 128,
                                               .v_dim = 128,
                                               .kv_values = 2 * d};
    assert_non_null(model_add_matrix(&block, MODEL_QKV, 3 * d, d, true, DTYPE_BF16, DTYPE_BF16));
    assert_non_null(model_add_matrix(&block, MODEL_ATTN_OUT, d, d, true, DTYPE_BF16, DTYPE_BF16));
    assert_non_null(model_add_matrix(&block, MODEL_UP, 4 * d, d, true, DTYPE_BF16, DTYPE_BF16));
    assert_non_null(model_add_matrix(&block, MODEL_DOWN, d, 4 * d, true, DTYPE_BF16, DTYPE_BF16));
    block.norms.elements = 4 * d;
    ASSERT_OK(model_add_layers(model, &block));
    ASSERT_OK(model_check(model));
    return model;
}

// 12 d^2 + 13 d a layer; 12 N d^2: 6.44 G, 173.9 G and 64.4 G.
static void gpt_blocks(void **state)
{
    (void)state;
    static const struct {
        uint64_t layers, d;
        double want;
    } cases[] = {{32, 4096, 6.44e9}, {96, 12288, 173.9e9}, {80, 8192, 64.4e9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *model = gpt_block_model(cases[i].layers, cases[i].d);
        struct model_counts counts;
        model_count(&counts, model);
        uint64_t d = cases[i].d;
        ASSERT_CLOSE((double)(counts.linear - d), cases[i].want, 1e-3);
        assert_int_equal(counts.total - 2 * d, cases[i].layers * (12 * d * d + 13 * d));
        free(model);
    }
}

static void training_shares(void **state)
{
    (void)state;
    struct model *model = gpt_block_model(32, 4096);
    struct training training;
    struct training_request request = {.tokens = 1e12, .sequence = 512};
    ASSERT_OK(training_compute(&training, model, &request));
    ASSERT_CLOSE(training.attention_share_full, 512.0 / (6 * 4096), 1e-5); // +2.1 %
    ASSERT_CLOSE(training.attention_share_causal, 512.0 / (12 * 4096), 1e-5);
    assert_true(isnan(training.days));
    request.sequence = 4096;
    ASSERT_OK(training_compute(&training, model, &request));
    ASSERT_CLOSE(training.attention_share_full, 1.0 / 6, 1e-5); // +16.7 %
    ASSERT_CLOSE(training.flop_recomputed / training.flop, 4.0 / 3, 1e-12);
    request.mfu_fraction = 1.5;
    request.devices = 1;
    request.device_flop_per_s = 312e12;
    assert_int_equal(training_compute(&training, model, &request).code, STATUS_INVALID);
    free(model);
}

// 65e9 parameters on 1.4e12 tokens: 5.46e23 FLOP.
static void training_flop(void **state)
{
    (void)state;
    struct model *model = one_matrix(65000, 1000000); // 65e9 and a head of one row
    struct training training;
    struct training_request request = {.tokens = 1.4e12,
                                       .sequence = 2048,
                                       .devices = 1024,
                                       .device_flop_per_s = 312e12,
                                       .mfu_fraction = 0.35};
    ASSERT_OK(training_compute(&training, model, &request));
    ASSERT_CLOSE(training.flop_linear, 5.46e23, 1e-4);
    ASSERT_CLOSE(training.days, training.flop / (1024 * 312e12 * 0.35) / 86400, 1e-12);
    free(model);
}

static void times(void **state)
{
    (void)state;
    struct model *model = one_matrix(4096, 4096);
    struct step step;
    struct step_request request = step_defaults(STEP_DECODE);
    ASSERT_OK(step_compute(&step, model, &request));
    struct estimate_rates rates = {
        .flop_per_s = 1e12, .bytes_per_s = 1e10, .barrier_seconds = 1e-6};
    struct estimate_time time;
    estimate_time(&time, &step, &rates);
    double bytes = step.sum.bytes.dram_lower_bound;
    ASSERT_CLOSE(time.bound_seconds, bytes / 1e10, 1e-12);
    ASSERT_CLOSE(time.estimate_seconds, bytes / 1e10 + 3e-6, 1e-9); // norms, up, head
    double seconds = 0;
    ASSERT_OK(estimate_generation_seconds(&seconds, model, &request, &rates, 10));
    ASSERT_CLOSE(seconds, 10 * time.estimate_seconds, 1e-12); // no attention: TPOT is constant
    rates.bytes_per_s = 0;
    estimate_time(&time, &step, &rates);
    assert_true(isnan(time.bound_seconds));
    free(model);
}

static void bounds(void **state)
{
    (void)state;
    struct model *model = one_matrix(4, 3);
    model->blocks[0].matrices[0].n = MODEL_DIM_MAX + 1;
    assert_int_equal(model_check(model).code, STATUS_INVALID);
    model->blocks[0].matrices[0].n = MODEL_DIM_MAX;
    model->blocks[0].matrices[0].k = MODEL_DIM_MAX;
    model->blocks[0].layers = MODEL_LAYERS_MAX;
    assert_int_equal(model_check(model).code, STATUS_INVALID);
    struct model_block block = model->blocks[0];
    assert_int_equal(model_add_layers(model, &block).code, STATUS_INVALID);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_pairs),  cmocka_unit_test(cached_positions),
        cmocka_unit_test(distinct_experts), cmocka_unit_test(exact_products),
        cmocka_unit_test(chunked_prefill),  cmocka_unit_test(refused_requests),
        cmocka_unit_test(gpt_blocks),       cmocka_unit_test(training_shares),
        cmocka_unit_test(training_flop),    cmocka_unit_test(times),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
