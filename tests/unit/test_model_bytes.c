#include "roofline/estimate.h"
#include "roofline/step.h"
#include "tests/test.h"
#include "workloads/model_file.h"

#include <stdlib.h>

// Byte vectors of whole steps, worked out by hand; every field.

static struct model *load(const char *word)
{
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    ASSERT_OK(model_load(model, word));
    return model;
}

static void check_bytes(const struct step_bytes *got, const struct step_bytes *want)
{
    ASSERT_CLOSE(got->weights, want->weights, 1e-13);
    ASSERT_CLOSE(got->kv_read, want->kv_read, 0);
    ASSERT_CLOSE(got->kv_write, want->kv_write, 0);
    ASSERT_CLOSE(got->activations, want->activations, 0);
    ASSERT_CLOSE(got->dram_lower_bound, want->dram_lower_bound, 1e-13);
    ASSERT_CLOSE(got->requested, want->requested, 1e-13);
}

static struct step compute(const struct model *model, const struct step_request *request)
{
    struct step step;
    ASSERT_OK(step_compute(&step, model, request));
    return step;
}

// LLaMA-2-7B in f16, decode, B = 2, c = 100:
// weights     2 (6,607,077,376 + 65 norms x 4096 + 2 embedding rows x 4096)
// kv_read     2 sequences x 100 positions x 524,288
// kv_write    2 x 524,288
// activations 2 rows x 2 B x (32 layers x ((4096 + 12288) + (4096 + 4096) + (4096 + 22016) +
//             (11008 + 4096)) + 4096 + 32000)
static void llama_2_7b(void **state)
{
    (void)state;
    struct model *model = load("llama-2-7b");
    struct step_request request = step_defaults(STEP_DECODE);
    request.batch = 2;
    request.context = 100;
    struct step step = compute(model, &request);
    const struct step_bytes want = {.weights = 13214703616,
                                    .kv_read = 104857600,
                                    .kv_write = 1048576,
                                    .activations = 8565760,
                                    .dram_lower_bound = 13320609792,
                                    .requested = 13329175552};
    check_bytes(&step.sum.bytes, &want);
    // 2 rows x 2 P_lin, and 2 sequences x 32 layers x 4 x 32 heads x 128 x 101 positions.
    ASSERT_CLOSE(step.sum.flop, 26428309504 + 105906176, 0);
    assert_true(step.weight_bytes > 13.47e9 && step.weight_bytes < 13.48e9);
    free(model);
}

// GPT-2 (no dtype: bf16), decode, B = 1, c = 0; elements a layer: matrices 12 x 768^2, biases
// 9 x 768, norms 4 x 768; final norm 2 x 768, head 50257 x 768, a row of embedding and positions.
static void gpt2(void **state)
{
    (void)state;
    struct model *model = load("gpt2");
    assert_string_equal(model->notes[0].code, "dtype_assumed");
    struct step_request request = step_defaults(STEP_DECODE);
    request.context = 0;
    struct step step = compute(model, &request);
    const struct step_bytes want = {
        .weights = 2.0 * (12 * (7077888 + 6912 + 3072) + 1536 + 38597376 + 2 * 768),
        .kv_read = 0,
        .kv_write = 18432 * 2,
        // 12 x (768 + 2304 + 768 + 768 + 768 + 3072 + 3072 + 768) + 768 + 50257, in 2 bytes
        .activations = 396962,
        .dram_lower_bound = 247309824 + 36864,
        .requested = 247309824 + 36864 + 396962};
    check_bytes(&step.sum.bytes, &want);
    free(model);
}

// Mixtral-8x7B in bf16, decode, B = 4, c = 10: distinct experts 8 (1 - (3/4)^4) = 5.46875.
// A layer: attention 41,943,040, router 32,768, 5.46875 x 3 x 4096 x 14336, norms 8192; then
// the head 131,072,000, the final norm and 4 embedding rows.
// Activations a row and layer: 10,240 + 8192 + 4104 + 2 experts x (32,768 + 18,432).
static void mixtral(void **state)
{
    (void)state;
    struct model *model = load("mixtral-8x7b");
    struct step_request request = step_defaults(STEP_DECODE);
    request.batch = 4;
    request.context = 10;
    struct step step = compute(model, &request);
    const struct step_bytes want = {.weights = 64605429760,
                                    .kv_read = 5242880,
                                    .kv_write = 524288,
                                    .activations = 32272384,
                                    .dram_lower_bound = 64605429760 + 5767168.0,
                                    .requested = 64605429760 + 5767168.0 + 32272384};
    check_bytes(&step.sum.bytes, &want);
    free(model);
}

// Qwen2.5-0.5B with weights and cache in q8_0 (34 bytes for 32), decode, B = 1, c = 64.
// Elements: a layer 896 x (896 + 2 x 128) + 896^2 + 3 x 896 x 4864 and 1152 of bias, 1792 of
// norms; the head 151,936 x 896, the final norm 896 and one embedding row.
static void qwen_q8_0(void **state)
{
    (void)state;
    struct model *model = load("qwen2.5-0.5b");
    struct step_request request = step_defaults(STEP_DECODE);
    request.context = 64;
    request.dtype = DTYPE_Q8_0;
    request.kv_dtype = DTYPE_Q8_0;
    struct step step = compute(model, &request);
    double layer = 1032192 + 802816 + 13074432 + 1152 + 1792;
    double elements = 24 * layer + 136134656 + 896 + 896;
    ASSERT_CLOSE(step.sum.bytes.weights, elements / 32 * 34, 0);
    ASSERT_CLOSE(step.sum.bytes.kv_read, 64 * 6144 / 32 * 34, 0);
    ASSERT_CLOSE(step.sum.bytes.kv_write, 6144 / 32 * 34, 0);
    // The kernels take and give f32: 24 x (896 + 1152 + 2 x 896 + 896 + 2 x 4864 + 4864 + 896)
    // + 896 + 151936, in 4 bytes.
    ASSERT_CLOSE(step.sum.bytes.activations, 4.0 * (24 * 20224 + 152832), 0);
    free(model);
}

// Gemma-2-2B, prefill of 6000 in 13 layers with a window of 4096 and 13 without, 8 heads of 256.
static void gemma_2_windows(void **state)
{
    (void)state;
    struct model *model = load(TESTS_DIR "/models/gemma-2-2b.json");
    struct step_request request = step_defaults(STEP_PREFILL);
    request.prompt = 6000;
    struct step step = compute(model, &request);
    const struct step_cost *attention = step_find(&step, MODEL_OP_ATTENTION);
    assert_non_null(attention);
    ASSERT_CLOSE(attention->flop, 13.0 * 4 * 8 * 256 * (18003000 + 16189440), 0);
    ASSERT_CLOSE(attention->flop_executed, 26.0 * 4 * 8 * 256 * 36e6, 0);
    ASSERT_CLOSE(attention->bytes.kv_read, 0, 0);
    // Decode at c = 5000: 5000 positions in full layers, W - 1 in the others; 2 x 4 x 256 values.
    request = step_defaults(STEP_DECODE);
    request.context = 5000;
    step = compute(model, &request);
    ASSERT_CLOSE(step.sum.bytes.kv_read, 13.0 * (5000 + 4095) * 2048 * 2, 0);
    ASSERT_CLOSE(step.kv_bytes, 13.0 * (5001 + 4096) * 2048 * 2, 0);
    free(model);
}

// DeepSeek-V3: absorbed decode does 2 x 128 heads x (2 x 512 + 64) a position and reads 576
// values of it; naive prefill 2 x 128 x (192 + 128).
static void latent_attention(void **state)
{
    (void)state;
    struct model *model = load("deepseek-v3");
    struct step_request request = step_defaults(STEP_DECODE);
    request.context = 999;
    request.kv_dtype = DTYPE_BF16;
    struct step step = compute(model, &request);
    const struct step_cost *attention = step_find(&step, MODEL_OP_ATTENTION);
    assert_non_null(attention);
    ASSERT_CLOSE(attention->flop, 61.0 * 2 * 128 * 1088 * 1000, 0);
    ASSERT_CLOSE(attention->bytes.kv_read, 61.0 * 999 * 576 * 2, 0);
    ASSERT_CLOSE(attention->flop_per_byte, 241.8, 1e-3);
    request.mla = STEP_MLA_NAIVE; // expands all 1000 latents again
    step = compute(model, &request);
    attention = step_find(&step, MODEL_OP_ATTENTION);
    assert_non_null(attention);
    ASSERT_CLOSE(attention->flop, 61.0 * 2 * 128 * 320 * 1000, 0);
    const struct step_cost *qkv = step_find(&step, MODEL_OP_QKV);
    assert_non_null(qkv);
    ASSERT_CLOSE(qkv->flop,
                 61.0 * 2 * (7168 * 1536 + 1536 * 24576 + 7168 * 576 + 1000.0 * 512 * 32768), 0);
    free(model);
}

static struct estimate_crossover crossover(const char *word, uint64_t context, double ridge)
{
    struct model *model = load(word);
    struct step_request request = step_defaults(STEP_DECODE);
    struct estimate_crossover out;
    request.context = context;
    ASSERT_OK(estimate_crossover(&out, model, &request, ridge));
    free(model);
    return out;
}

static void crossovers(void **state)
{
    (void)state;
    ASSERT_CLOSE(crossover("llama-3-8b", 0, 80).linears_batch, 80, 0);
    ASSERT_CLOSE(crossover("llama-3-8b", 0, 80).step_batch, 80, 0.02);
    ASSERT_CLOSE(crossover("llama-3-8b", 1024, 80).step_batch, 250, 0.02);
    struct estimate_crossover never = crossover("llama-3-8b", 1600, 80);
    assert_true(never.step_never && isnan(never.step_batch));
    assert_true(never.step_limit_flop_per_byte < 80);
    assert_false(never.linears_never);
    ASSERT_CLOSE(crossover("mixtral-8x7b", 0, 80).linears_batch, 293, 0);
    ASSERT_CLOSE(crossover("mixtral-8x7b", 0, 10).linears_batch, 37, 0);
    ASSERT_CLOSE(crossover("qwen3-30b-a3b", 0, 80).linears_batch, 795, 0);
    ASSERT_CLOSE(crossover("qwen3-30b-a3b", 0, 10).linears_batch, 100, 0);
}

// Sums of the operators are the step's, in both phases and whatever the shape.
static void operators_add_up(void **state)
{
    (void)state;
    static const char *const words[] = {"phi-2", "deepseek-v3", "gpt-oss-20b",
                                        TESTS_DIR "/models/opt-350m.json"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        struct model *model = load(words[w]);
        for (int phase = STEP_DECODE; phase <= STEP_PREFILL; phase++) {
            struct step_request request = step_defaults((enum step_phase)phase);
            struct step step = compute(model, &request);
            double flop = 0;
            double bytes = 0;
            for (size_t i = 0; i < step.operator_count; i++) {
                flop += step.operators[i].flop;
                bytes += step.operators[i].bytes.requested;
            }
            ASSERT_CLOSE(flop, step.sum.flop, 1e-13);
            ASSERT_CLOSE(bytes, step.sum.bytes.requested, 1e-13);
        }
        free(model);
    }
}

// TinyLlama, 22 layers of d 2048, 32 heads of 64 over 4 KV heads, MLP 5632: inputs of q, k and v,
// of the output, of gate and up and of down are quantised, and that of the head.
static void what_times_need_beside_bytes(void **state)
{
    (void)state;
    struct model *model = load("tinyllama-1.1b");
    struct step_request request = step_defaults(STEP_DECODE);
    request.batch = 3;
    request.context = 100;
    request.dtype = DTYPE_Q8_0;
    struct step step = compute(model, &request);
    ASSERT_CLOSE(step.quantising.inputs, 22 * 4 + 1, 0);
    ASSERT_CLOSE(step.quantising.values, 3.0 * (22 * (3 * 2048 + 5632) + 2048), 0);
    ASSERT_CLOSE(step.norm_calls, 2 * 22 + 1, 0);
    ASSERT_CLOSE(step.attention.scores, 22.0 * 3 * 32 * 101, 0);
    ASSERT_CLOSE(step.attention.kv_vectors, 22.0 * 3 * 4 * 101, 0);
    ASSERT_CLOSE(step.attention.units, 22.0 * 3 * 4, 0);
    assert_false(step.attention.latent);
    request.dtype = DTYPE_BF16;
    step = compute(model, &request);
    ASSERT_CLOSE(step.quantising.inputs, 0, 0);
    free(model);
    model = load(TESTS_DIR "/models/deepseek-v2-lite.json");
    request.dtype = DTYPE_STORED;
    step = compute(model, &request);
    assert_true(step.attention.latent); // one latent row a token for all heads
    ASSERT_CLOSE(step.attention.kv_vectors, 27.0 * 3 * 101, 0);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_2_7b),
        cmocka_unit_test(gpt2),
        cmocka_unit_test(mixtral),
        cmocka_unit_test(qwen_q8_0),
        cmocka_unit_test(gemma_2_windows),
        cmocka_unit_test(latent_attention),
        cmocka_unit_test(crossovers),
        cmocka_unit_test(operators_add_up),
        cmocka_unit_test(what_times_need_beside_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
