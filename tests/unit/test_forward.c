#include "roofline/step.h"
#include "tests/unit/forward_reference.h"
#include "workloads/model_file.h"

#include <stdlib.h>

#define COMMON(type)                                                                \
    "{\"model_type\": \"" type "\", \"num_hidden_layers\": 2, \"vocab_size\": 50, " \
    "\"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 700,"

#define LATENT                                                                  \
    "\"kv_lora_rank\": 40, \"qk_nope_head_dim\": 24, \"qk_rope_head_dim\": 8, " \
    "\"v_head_dim\": 20, "

static const struct {
    const char *name;
    const char *config;
} families[] = {
    {"llama, GQA", COMMON("llama") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                                   "\"tie_word_embeddings\": false}"},
    {"llama, MHA, tied", COMMON("llama") "\"intermediate_size\": 160, "
                                         "\"tie_word_embeddings\": true, \"head_dim\": 24}"},
    {"qwen2, biases of qkv", COMMON("qwen2") "\"num_key_value_heads\": 1, "
                                             "\"intermediate_size\": 96}"},
    {"qwen3, norms of heads", COMMON("qwen3") "\"num_key_value_heads\": 2, "
                                              "\"intermediate_size\": 96, \"head_dim\": 32}"},
    {"gemma", COMMON("gemma") "\"num_key_value_heads\": 1, \"intermediate_size\": 96, "
                              "\"head_dim\": 32}"},
    {"gpt2", "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, "
             "\"vocab_size\": 50, \"n_positions\": 700}"},
    {"opt", COMMON("opt") "\"ffn_dim\": 128, \"word_embed_proj_dim\": 64}"},
    {"gpt_neox, parallel", COMMON("gpt_neox") "\"intermediate_size\": 128}"},
    {"phi, parallel, one norm", COMMON("phi") "\"intermediate_size\": 128}"},
    {"mistral, window", COMMON("mistral") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                                          "\"sliding_window\": 33}"},
    {"gemma2, alternating windows, four norms",
     COMMON("gemma2") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, \"head_dim\": 32, "
                      "\"sliding_window\": 20}"},
    {"gemma3, norms of heads too",
     COMMON("gemma3_text") "\"num_key_value_heads\": 1, \"intermediate_size\": 96, "
                           "\"head_dim\": 32, \"sliding_window\": 64}"},
    {"mixtral", COMMON("mixtral") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                                  "\"num_local_experts\": 5, \"num_experts_per_tok\": 2}"},
    {"qwen2_moe, shared expert with a gate",
     COMMON("qwen2_moe") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                         "\"moe_intermediate_size\": 40, \"num_experts\": 6, "
                         "\"num_experts_per_tok\": 3, \"shared_expert_intermediate_size\": 72}"},
    {"qwen3_moe, a dense layer",
     COMMON("qwen3_moe") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                         "\"head_dim\": 32, \"moe_intermediate_size\": 48, \"num_experts\": 8, "
                         "\"num_experts_per_tok\": 2, \"mlp_only_layers\": [1]}"},
    {"gpt_oss, sinks, windows, biased experts",
     COMMON("gpt_oss") "\"num_key_value_heads\": 2, \"intermediate_size\": 64, "
                       "\"head_dim\": 32, \"num_local_experts\": 4, "
                       "\"num_experts_per_tok\": 2, \"sliding_window\": 24}"},
    {"deepseek_v2, latent attention, queries of full rank",
     COMMON("deepseek_v2") LATENT "\"q_lora_rank\": null, \"intermediate_size\": 96, "
                                  "\"num_key_value_heads\": 4, "
                                  "\"first_k_dense_replace\": 1, \"n_routed_experts\": 6, "
                                  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 40, "
                                  "\"n_shared_experts\": 2}"},
    {"deepseek_v3, low rank, sigmoid router",
     COMMON("deepseek_v3") LATENT "\"q_lora_rank\": 24, \"intermediate_size\": 96, "
                                  "\"num_key_value_heads\": 4, "
                                  "\"first_k_dense_replace\": 1, \"n_routed_experts\": 6, "
                                  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 40, "
                                  "\"n_shared_experts\": 1}"},
};

// f32 throughout: the structure of every family, in decode and prefill, at 1 to 3 threads.
static void families_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct model *model = calloc(1, sizeof *model);
        fixture_load(model, families[i].config);
        for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
            struct forward_params params = fixture_params_of(model, DTYPE_F32, LINE_F32, threads);
            params.context = 70;
            reference_check(&params, families[i].name, 2e-4);
            params.batch = 3;
            params.context = 0;
            reference_check(&params, families[i].name, 2e-4);
            params.batch = 2;
            params.prefill = true;
            params.prompt = 66;
            reference_check(&params, families[i].name, 2e-4);
        }
        free(model);
    }
}

// Other formats of weights and cache. What is quantised in between may fall to either side.
static void formats_agree(void **state)
{
    (void)state;
    static const struct {
        enum dtype_id dtype;
        enum line_format kv;
        enum linear_class class_;
        double tolerance;
    } cases[] = {
        {DTYPE_F16, LINE_F16, LINEAR_FMA, 0.02}, {DTYPE_BF16, LINE_BF16, LINEAR_FMA, 0.1},
        {DTYPE_BF16, LINE_F32, LINEAR_DOT, 0.1}, {DTYPE_Q8_0, LINE_F16, LINEAR_DOT, 0.1},
        {DTYPE_Q4_0, LINE_F32, LINEAR_DOT, 0.1},
    };
    struct model *model = calloc(1, sizeof *model);
    fixture_load(model, families[0].config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
            struct forward_params params =
                fixture_params_of(model, cases[i].dtype, cases[i].kv, threads);
            for (int op = 0; op < MODEL_OPERATORS; op++) {
                params.ways[op].class_ = cases[i].class_;
            }
            params.context = 31;
            reference_check(&params, dtype_name(cases[i].dtype), cases[i].tolerance);
            params.batch = 2;
            params.prefill = true;
            params.prompt = 33;
            reference_check(&params, dtype_name(cases[i].dtype), cases[i].tolerance);
        }
    }
    free(model);
}

// Caches of integers: the reference takes the new rows' own, so only f32 sums differ.
static void integer_caches_agree(void **state)
{
    (void)state;
    static const struct {
        int family;
        enum line_format kv;
    } cases[] = {{0, LINE_INT8}, {3, LINE_INT8}, {3, LINE_Q8_0}, {9, LINE_INT8}, {11, LINE_Q8_0}};
    struct model *model = calloc(1, sizeof *model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_load(model, families[cases[i].family].config);
        for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
            struct forward_params params =
                fixture_params_of(model, DTYPE_F32, cases[i].kv, threads);
            params.context = 70;
            reference_check(&params, families[cases[i].family].name, 2e-4);
            params.batch = 2;
            params.context = 0;
            reference_check(&params, families[cases[i].family].name, 2e-4);
            params.prefill = true;
            params.prompt = 66;
            reference_check(&params, families[cases[i].family].name, 2e-4);
        }
    }
    free(model);
}

// More rows than a chunk of products takes: the last one is shorter.
static void chunks_join(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    fixture_load(model, families[0].config);
    struct forward_params params = fixture_params_of(model, DTYPE_F32, LINE_F32, 3);
    params.prefill = true;
    params.batch = 2;
    params.prompt = 301;
    reference_check(&params, "two chunks", 2e-4);
    params.batch = 513;
    params.prefill = false;
    params.context = 3;
    struct forward *none = NULL;
    assert_int_equal(forward_create(&none, &params).code, STATUS_INVALID);
    free(model);
}

struct seen {
    unsigned marks[MODEL_OPERATORS];
};

static void count(void *context, const struct forward_mark *mark)
{
    struct seen *seen = context;
    seen->marks[mark->op]++;
}

static void marks_follow_every_operator(void **state)
{
    (void)state;
    struct fixture *f = calloc(1, sizeof *f);
    struct seen seen = {{0}};
    const struct forward_probe probe = {count, &seen, false};
    fixture_load(&f->model, families[0].config);
    struct forward_params params = fixture_params_of(&f->model, DTYPE_Q8_0, LINE_F16, 2);
    params.layers = 1;
    params.context = 5;
    fixture_setup(f, &params);
    assert_int_equal(forward_layers(f->forward), 1);
    fixture_run(f, &probe);
    assert_int_equal(seen.marks[MODEL_OP_NORMS], 3);
    assert_int_equal(seen.marks[MODEL_OP_QKV], 1);
    assert_int_equal(seen.marks[MODEL_OP_ROPE], 1);
    assert_int_equal(seen.marks[MODEL_OP_ATTENTION], 1);
    assert_int_equal(seen.marks[MODEL_OP_ATTN_OUT], 1);
    assert_int_equal(seen.marks[MODEL_OP_GATE_UP], 2);
    assert_int_equal(seen.marks[MODEL_OP_DOWN], 1);
    assert_int_equal(seen.marks[MODEL_OP_HEAD], 1);
    assert_int_equal(seen.marks[MODEL_OP_ACT_QUANT], 5);
    fixture_teardown(f);
    free(f);
}

// The check at run time finds the products right, and a spoiled weight wrong.
static void checks_find_errors(void **state)
{
    (void)state;
    struct fixture *f = calloc(1, sizeof *f);
    fixture_load(&f->model, families[0].config);
    struct forward_params params = fixture_params_of(&f->model, DTYPE_F32, LINE_F16, 2);
    params.context = 100;
    fixture_setup(f, &params);
    struct forward_check good = {.forward = f->forward, .memory = f->memory};
    fixture_run(f, &(struct forward_probe){forward_check_mark, &good, true});
    assert_true(good.tolerance > 0);
    assert_true(good.max_relative_error <= good.tolerance);
    struct forward_check bad = {.forward = f->forward, .memory = f->before};
    memset(f->before[0] + f->forward->head.parts[0].offset, 0, 64);
    fixture_run(f, &(struct forward_probe){forward_check_mark, &bad, true});
    assert_true(bad.max_relative_error > bad.tolerance);
    fixture_teardown(f);
    free(f);
}

// Every layer with experts reads those that its rows chose; steps choose anew.
static void distinct_experts_are_counted(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    struct fixture *f = calloc(1, sizeof *f);
    struct forward_counts counts;
    const struct forward_probe none = {NULL, NULL, false};
    fixture_load(&f->model, families[12].config); // mixtral, 2 of 5
    struct forward_params params = fixture_params_of(&f->model, DTYPE_F32, LINE_F16, 2);
    params.batch = 3;
    params.context = 5;
    params.layers = 1;
    fixture_setup(f, &params);
    fixture_run(f, &none);
    forward_forget_counts(f->forward);
    for (int i = 0; i < STEPS; i++) {
        fixture_run(f, &none);
    }
    forward_get_counts(&counts, f->forward);
    assert_int_equal(counts.steps, STEPS);
    double error = sqrt(counts.distinct_squares / (STEPS - 1) / STEPS);
    assert_true(error > 0 && error < 0.1);
    assert_true(fabs(counts.distinct - step_distinct_experts(5, 2, 3)) < 4 * error);
    // Two layers of the model, one of them run; gate, up and down of an expert.
    ASSERT_CLOSE(counts.bytes, counts.distinct * 2 * 4 * 3 * 64 * 96, 1e-9);
    fixture_teardown(f);
    free(f);
}

// A latent prefill leaves its rows in the cache that a decode would read.
static void latent_rows_are_written(void **state)
{
    (void)state;
    struct fixture *f = calloc(1, sizeof *f);
    const struct forward_probe none = {NULL, NULL, false};
    fixture_load(&f->model, families[17].config);
    struct forward_params params = fixture_params_of(&f->model, DTYPE_F32, LINE_F32, 2);
    params.prefill = true;
    params.prompt = 70;
    fixture_setup(f, &params);
    fixture_run(f, &none);
    for (unsigned b = 0; b < f->forward->block_count; b++) {
        const struct forward_block *block = &f->forward->blocks[b];
        const struct attention *cache = block->latent.cache;
        assert_int_equal(attention_stored_bytes(cache), 128 * 48 * 4); // two pages of 40 + 8
        unsigned char *const at[] = {
            f->memory[0] + block->first_offset + block->latent.cache_offset,
            f->memory[1] + block->first_offset + block->latent.cache_offset};
        double squares = 0;
        for (uint64_t k = 0; k < 40; k++) { // of token 69, normed
            double value = line_get(LINE_F32, attention_page(cache, at, 1), 69 - 64, k);
            squares += value * value / 40;
        }
        assert_true(squares > 0.5 && squares < 1.5);
    }
    fixture_teardown(f);
    free(f);
}

struct stopping {
    volatile sig_atomic_t signal;
    unsigned layers; // whose attention was done
};

static void stop_in_layer_3(void *context, const struct forward_mark *mark)
{
    struct stopping *s = context;
    if (mark->attention != NULL) {
        s->layers++;
        s->signal = mark->layer >= 3 ? SIGINT : 0;
    }
}

// A signal ends the step two layers on, on all threads alike: none waits at a barrier for ever.
static void a_signal_ends_the_step(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    fixture_load(model,
                 "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 9, "
                 "\"num_attention_heads\": 4, \"vocab_size\": 50, \"intermediate_size\": 96}");
    for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
        struct forward_params params = fixture_params_of(model, DTYPE_F32, LINE_F32, threads);
        struct stopping stopping = {.signal = 0};
        params.context = 7;
        params.signal = &stopping.signal;
        struct fixture f;
        fixture_setup(&f, &params);
        fixture_run(&f, &(struct forward_probe){stop_in_layer_3, &stopping, false});
        assert_int_equal(stopping.layers, 6);
        fixture_teardown(&f);
    }
    free(model);
}

static void refuses_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *words;
    } cases[] = {
        {"bloom-560m", "family 'bloom'"},
        {"olmo-2-7b", "family 'olmo2'"},
        {"llama-4-scout", "family 'llama4"},
    };
    struct model *model = calloc(1, sizeof *model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, TESTS_DIR "/models/%s.json", cases[i].model);
        ASSERT_OK(model_load(model, path));
        struct status status = forward_supported(model);
        assert_int_equal(status.code, STATUS_INVALID);
        assert_non_null(strstr(status.detail, cases[i].words));
        assert_non_null(strstr(status.detail, "accepted llama"));
    }
    free(model);
}

// Public models of every kind have a step.
static void public_models_are_supported(void **state)
{
    (void)state;
    static const char *const names[] = {
        "mixtral-8x22b",    "qwen3-235b-a22b", "qwen2-57b-a14b",  "deepseek-v2",
        "deepseek-v2-lite", "kimi-k2",         "gpt-oss-120b",    "gemma-2-9b",
        "gemma-3-27b",      "minicpm3-4b",     "mistral-7b-v0.3", "granite-3.0-1b-a400m"};
    struct model *model = calloc(1, sizeof *model);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, TESTS_DIR "/models/%s.json", names[i]);
        ASSERT_OK(model_load(model, path));
        ASSERT_OK(forward_supported(model));
    }
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_agree),
        cmocka_unit_test(formats_agree),
        cmocka_unit_test(integer_caches_agree),
        cmocka_unit_test(chunks_join),
        cmocka_unit_test(marks_follow_every_operator),
        cmocka_unit_test(checks_find_errors),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(a_signal_ends_the_step),
        cmocka_unit_test(distinct_experts_are_counted),
        cmocka_unit_test(latent_rows_are_written),
        cmocka_unit_test(public_models_are_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
