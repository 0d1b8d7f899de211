#include "tests/test.h"
#include "tests/unit/config_fixture.h"
#include "workloads/config_json.h"
#include "workloads/families.h"

#include <stdlib.h>

// What families and their classes take where a config says it in its own way, or not at all.

// Absent is the class default, null is derived.
static void key_value_heads(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t kv_values; // of both layers
    } cases[] = {
        {LLAMA "\"head_dim\":16}", 2 * 2 * 4 * 16},
        {LLAMA "\"num_key_value_heads\":1}", 2 * 2 * 16},
        {LLAMA "\"head_dim\":32}", 2 * 2 * 4 * 32},
        {"{\"model_type\":\"starcoder2\"," DIMS "\"use_bias\":true}", 2 * 2 * 2 * 16},
        {"{\"model_type\":\"starcoder2\"," DIMS "\"num_key_value_heads\":null}", 2 * 2 * 4 * 16},
        {"{\"model_type\":\"gemma2\"," DIMS "\"num_key_value_heads\":2}", 2 * 2 * 2 * 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_counts counts = {0};
        ASSERT_OK(config_fixture_read(&counts, cases[i].text, strlen(cases[i].text)));
        assert_int_equal(counts.kv_values_per_token, cases[i].kv_values);
    }
}

// What a class takes where the config says nothing: EXAONE's head is tied and its MLP 4 d wide.
static void exaone_defaults(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\":\"exaone\",\"hidden_size\":64,\"num_layers\":2,"
                               "\"num_attention_heads\":4,\"vocab_size\":100}";
    struct model_counts counts = {0};
    ASSERT_OK(config_fixture_read(&counts, text, sizeof text - 1));
    assert_int_equal(counts.total, 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 100 * 64 + 64);
}

// The same models under the names of their first publications.
static void first_formats(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t total;
    } cases[] = {
        {"{\"model_type\":\"phi-msft\",\"n_embd\":2560,\"n_head\":32,\"n_head_kv\":null,"
         "\"n_inner\":null,\"n_layer\":32,\"n_positions\":2048,\"rotary_dim\":32,"
         "\"fused_dense\":false,\"tie_word_embeddings\":false,\"vocab_size\":51200}",
         2779683840},
        {"{\"model_type\":\"hf_olmo\",\"activation_type\":\"swiglu\",\"alibi_bias_max\":8.0,"
         "\"block_group_size\":1,\"block_type\":\"sequential\",\"d_model\":2048,"
         "\"embedding_size\":50304,\"layer_norm_type\":\"default\",\"mlp_hidden_size\":null,"
         "\"mlp_ratio\":8,\"multi_query_attention\":false,\"n_heads\":16,\"n_layers\":16,"
         "\"rope\":true,\"vocab_size\":50280,\"weight_tying\":true}",
         1176764416},
        {"{\"model_type\":\"hf_olmo\",\"d_model\":4096,\"embedding_size\":50304,"
         "\"mlp_hidden_size\":22016,\"n_heads\":32,\"n_layers\":32,\"vocab_size\":50280,"
         "\"weight_tying\":false}",
         6888095744},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_counts counts = {0};
        ASSERT_OK(config_fixture_read(&counts, cases[i].text, strlen(cases[i].text)));
        assert_int_equal(counts.total, cases[i].total);
    }
}

// mlp_layer_types says which layers have experts: here one of Mixtral's two.
static void listed_experts(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\":\"mixtral\"," DIMS "\"num_key_value_heads\":4,"
                               "\"mlp_layer_types\":[\"dense\",\"sparse\"]}";
    struct model_counts counts = {0};
    ASSERT_OK(config_fixture_read(&counts, text, sizeof text - 1));
    // 9 MLPs of 3 x 64 x 128 in all, and a router of 8 x 64.
    assert_int_equal(counts.total, 2 * (16384 + 128) + 9 * 24576 + 512 + 12800 + 64);
}

// Falcon's layers have two norms one after the other, and in parallel what
// num_ln_in_parallel_attn says: by default two in the new architecture, one in the old.
static void falcon_norms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t norms; // of a layer
    } cases[] = {
        {"}", 1},
        {",\"parallel_attn\":false}", 2},
        {",\"new_decoder_architecture\":true,\"num_kv_heads\":1}", 2},
        {",\"new_decoder_architecture\":true,\"num_kv_heads\":1,\"num_ln_in_parallel_attn\":1}", 1},
        {",\"num_ln_in_parallel_attn\":2}", 2},
        {",\"new_decoder_architecture\":true,\"num_kv_heads\":1,\"parallel_attn\":false,"
         "\"num_ln_in_parallel_attn\":1}",
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "{\"model_type\":\"falcon\",\"hidden_size\":64,\"num_hidden_layers\":2,"
                       "\"num_attention_heads\":4,\"vocab_size\":100%s",
                       cases[i].text);
        struct model_counts counts = {0};
        ASSERT_OK(config_fixture_read(&counts, text, strlen(text)));
        // A layer: Q and one head of K and V, the output, 8 d^2, norms of 2 d; the final norm.
        uint64_t layer = 64 * (64 + 32) + 64 * 64 + 8 * 64 * 64 + 128 * cases[i].norms;
        assert_int_equal(counts.total, 2 * layer + 100 * 64 + 128);
    }
}

// GPT-Neo and OLMo-3 say which layers have a window, or have their class's pattern.
static void window_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned windowed; // of four layers
    } cases[] = {
        {"\"model_type\":\"gpt_neo\"", 2},
        {"\"model_type\":\"gpt_neo\",\"attention_types\":[[[\"global\"],4]],\"attention_layers\":"
         "[\"global\",\"global\",\"global\",\"local\"]",
         1},
        {"\"model_type\":\"olmo3\"", 3},
        {"\"model_type\":\"olmo3\",\"sliding_window\":null", 0},
        {"\"model_type\":\"ministral\"", 4},
        {"\"model_type\":\"ministral\",\"sliding_window\":8,\"layer_types\":[\"full_attention\","
         "\"sliding_attention\",\"full_attention\",\"full_attention\"]",
         1},
    };
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "{%s,\"hidden_size\":64,\"num_hidden_layers\":4,\"num_attention_heads\":8,"
                       "\"vocab_size\":100,\"intermediate_size\":128,"
                       "\"max_position_embeddings\":64}",
                       cases[i].text);
        ASSERT_OK(config_read_model(model, text, strlen(text), "x.json", "x"));
        unsigned windowed = 0;
        for (uint32_t b = 0; b < model->block_count; b++) {
            windowed += model->blocks[b].attention.window > 0 ? model->blocks[b].layers : 0;
        }
        assert_int_equal(windowed, cases[i].windowed);
    }
    free(model);
}

static bool lists(const char *types, const char *type)
{
    size_t length = strlen(type);
    const char *at = strstr(types, type);
    return at != NULL && (at == types || at[-1] == '|') &&
           (at[length] == '\0' || at[length] == '|');
}

static void family_table(void **state)
{
    (void)state;
    size_t count = 0;
    for (; family_at(count) != NULL; count++) {
        const struct family *family = family_at(count);
        assert_true(family->source[0] != '\0');
        for (size_t other = 0; other < count; other++) {
            assert_false(lists(family_at(other)->model_types, family->model_types));
        }
    }
    assert_true(count >= 40);
    assert_null(family_find("llam"));
    assert_null(family_find("llama|Yi"));
    assert_ptr_equal(family_find("Yi"), family_find("llama"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_value_heads), cmocka_unit_test(exaone_defaults),
        cmocka_unit_test(first_formats),   cmocka_unit_test(listed_experts),
        cmocka_unit_test(falcon_norms),    cmocka_unit_test(window_patterns),
        cmocka_unit_test(family_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
