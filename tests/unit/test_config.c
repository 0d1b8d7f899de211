#include "roofline/model.h"
#include "tests/test.h"
#include "workloads/config_json.h"
#include "workloads/families.h"

#include <stdlib.h>

// What a config may look like and must not: each text is read, and refused with the words given.

static struct status read_text(struct model_counts *counts, const char *text, size_t size)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    struct status status = config_read_model(model, text, size, "x.json", "x");
    if (counts != NULL && status.code == STATUS_OK) {
        model_count(counts, model);
    }
    if (status.code != STATUS_OK) {
        assert_int_equal(model->d, 0); // no partial model
    }
    free(model);
    return status;
}

#define DIMS                                                                                   \
    "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100," \
    "\"intermediate_size\":128,"
#define LLAMA "{\"model_type\":\"llama\"," DIMS

static const struct {
    const char *text;
    const char *key;   // in the message
    const char *found; // in the message
    int line;
} refused[] = {
    {"", "not valid JSON", "line", __LINE__},
    {"{", "not valid JSON", "line", __LINE__},
    {"null", "JSON", "expected", __LINE__},
    {"[]", "accepted a JSON object", "a list", __LINE__},
    {"{}", "model_type", "nothing", __LINE__},
    {"\xef\xbb\xbf{}", "byte order mark", "UTF-8", __LINE__},
    {"\xff\xfe{\0}\0", "not valid JSON", "line", __LINE__},
    {"{\"model_type\":\"llama\",}", "not valid JSON", "line", __LINE__},
    {"{\"model_type\":\"frobnicator\"}", "model_type", "frobnicator", __LINE__},
    {"{\"model_type\":\"lla\\u001b[31mma\"}", "model_type", "lla?[31mma", __LINE__},
    {"{\"model_type\":\"llama\\u0000\"}", "not valid JSON", "line", __LINE__},
    {"{\"model_type\":7}", "model_type", "7", __LINE__},
    {"{\"model_type\":\"llama\"}", "hidden_size", "nothing", __LINE__},
    {LLAMA "\"hidden_size\":65}", "not valid JSON", "duplicate", __LINE__},
    {LLAMA "\"x\":NaN}", "not valid JSON", "NaN", __LINE__},
    {LLAMA "\"x\":1e999}", "not valid JSON", "line", __LINE__},
    {LLAMA "\"x\":99999999999999999999}", "not valid JSON", "line", __LINE__},
    {LLAMA "\"num_key_value_heads\":\"4\"}", "num_key_value_heads", "text '4'", __LINE__},
    {LLAMA "\"num_key_value_heads\":3}", "num_key_value_heads", "3", __LINE__},
    {LLAMA "\"num_key_value_heads\":0}", "num_key_value_heads", "0", __LINE__},
    {LLAMA "\"num_key_value_heads\":-4}", "num_key_value_heads", "-4", __LINE__},
    {LLAMA "\"num_key_value_heads\":8}", "num_key_value_heads", "8", __LINE__},
    {LLAMA "\"num_key_value_heads\":[4]}", "num_key_value_heads", "a list", __LINE__},
    {LLAMA "\"head_dim\":16.5}", "head_dim", "16.5", __LINE__},
    {LLAMA "\"head_dim\":16.0}", "head_dim", "found 16.0", __LINE__},
    {LLAMA "\"head_dim\":NaN}", "after key 'head_dim'", "NaN", __LINE__},
    {LLAMA "\"head_dim\":99999999999999999999}", "after key 'head_dim'", "too big", __LINE__},
    {LLAMA "\"a:b\":\"c\\\":d\",x}", "after key 'a:b'", "line 1", __LINE__},
    {LLAMA "\"he\033[2Jad\":1}", "after key 'intermediate_size'", "control", __LINE__},
    {LLAMA "\"architectures\":[7]}", "architectures", "found 7", __LINE__},
    {LLAMA "\"architectures\":{}}", "architectures", "found an object", __LINE__},
    {LLAMA "\"dtype\":\"float32\",\"torch_dtype\":\"bfloat16\"}", "'dtype'", "'float32'", __LINE__},
    {LLAMA "\"sliding_window_size\":512}", "sliding_window_size", "512", __LINE__},
    {"{\"model_type\":\"qwen\"," DIMS "\"no_bias\":false}", "no_bias", "false", __LINE__},
    {"{\"model_type\":\"gpt_neo\"," DIMS "\"attention_types\":[[[\"global\"],2]]}",
     "attention_types", "attention_layers", __LINE__},
    {"{\"model_type\":\"gpt_neo\"," DIMS "\"attention_layers\":[\"global\",\"far\"]}",
     "attention_layers", "'far'", __LINE__},
    {LLAMA "\"head_dim\":true}", "head_dim", "true", __LINE__},
    {LLAMA "\"head_dim\":99999999}", "head_dim", "99999999", __LINE__},
    {LLAMA "\"tie_word_embeddings\":\"false\"}", "tie_word_embeddings", "false", __LINE__},
    {LLAMA "\"tie_word_embeddings\":1}", "tie_word_embeddings", "1", __LINE__},
    {LLAMA "\"torch_dtype\":\"int3\"}", "torch_dtype", "int3", __LINE__},
    {LLAMA "\"torch_dtype\":16}", "torch_dtype", "16", __LINE__},
    {LLAMA "\"max_position_embeddings\":-1}", "max_position_embeddings", "-1", __LINE__},
    {LLAMA "\"num_experts\":8}", "num_experts", "understood", __LINE__},
    {LLAMA "\"kv_lora_rank\":512}", "kv_lora_rank", "understood", __LINE__},
    {LLAMA "\"num_mamba_layers\":2}", "num_mamba_layers", "understood", __LINE__},
    {LLAMA "\"sliding_window\":64}", "sliding_window", "understood", __LINE__},
    {LLAMA "\"pruned_heads\":{\"1\":[0]}}", "pruned_heads", "understood", __LINE__},
    {LLAMA "\"is_encoder_decoder\":true}", "is_encoder_decoder", "decoders", __LINE__},
    {LLAMA "\"architectures\":[\"LlamaForSequenceClassification\"]}", "architectures",
     "SequenceClassification", __LINE__},
    {LLAMA "\"architectures\":[\"LlamaModel\"]}", "architectures", "LlamaModel", __LINE__},
    {LLAMA "\"architectures\":[\"T5ForConditionalGeneration\"]}", "architectures", "T5", __LINE__},
    {LLAMA "\"dtype\":\"float16\",\"torch_dtype\":\"bfloat16\"}", "dtype", "torch_dtype", __LINE__},
    {"{\"model_type\":\"deepseek_v3\"," DIMS "\"kv_lora_rank\":null}", "kv_lora_rank", "null",
     __LINE__},
    {"{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"qwen2\"}}",
     "text_config.model_type", "qwen2", __LINE__},
    {LLAMA "\"architectures\":\"LlamaForCausalLM\"}", "architectures", "list", __LINE__},
    {LLAMA "\"partial_rotary_factor\":2}", "partial_rotary_factor", "2", __LINE__},
    {"{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2,"
     "\"num_attention_heads\":5,\"vocab_size\":100,\"intermediate_size\":128}",
     "num_attention_heads", "divisor", __LINE__},
    {"{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":1000000,"
     "\"num_attention_heads\":4,\"vocab_size\":100,\"intermediate_size\":128}",
     "num_hidden_layers", "1000000", __LINE__},
    {"{\"model_type\":\"llama\",\"hidden_size\":null,\"num_hidden_layers\":1}", "hidden_size",
     "null", __LINE__},
    {"{\"model_type\":\"llama\",\"hidden_size\":16777216,\"num_hidden_layers\":1024,"
     "\"num_attention_heads\":16,\"vocab_size\":16777216,\"intermediate_size\":16777216,"
     "\"num_key_value_heads\":1}",
     "parameters", "no model is that large", __LINE__},
    {"{\"model_type\":\"qwen2_moe\"," DIMS "\"num_experts\":4,\"num_experts_per_tok\":5,"
     "\"num_key_value_heads\":4}",
     "num_experts_per_tok", "5", __LINE__},
    {"{\"model_type\":\"qwen2_moe\"," DIMS "\"mlp_only_layers\":[2],\"num_key_value_heads\":4}",
     "mlp_only_layers", "2", __LINE__},
    {"{\"model_type\":\"gpt_oss\"," DIMS "\"num_key_value_heads\":4,"
     "\"layer_types\":[\"sliding_attention\"]}",
     "layer_types", "list of 1", __LINE__},
    {"{\"model_type\":\"gpt_oss\"," DIMS "\"num_key_value_heads\":4,"
     "\"layer_types\":[\"sliding_attention\",\"linear_attention\"]}",
     "layer_types", "linear_attention", __LINE__},
    {"{\"model_type\":\"gemma3\"}", "text_config", "nothing", __LINE__},
    {"{\"model_type\":\"gemma3\",\"text_config\":[]}", "text_config", "a list", __LINE__},
    {"{\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":0}}", "text_config.hidden_size",
     "0", __LINE__},
    {"{\"model_type\":\"gpt2\",\"n_embd\":64,\"hidden_size\":32,\"n_layer\":1,\"n_head\":1}",
     "hidden_size", "which means the same", __LINE__},
    {"{\"model_type\":\"mpt\",\"d_model\":64,\"n_heads\":4,\"n_layers\":2,\"vocab_size\":10,"
     "\"attn_config\":{\"qk_ln\":true}}",
     "attn_config.qk_ln", "true", __LINE__},
    {"{\"model_type\":\"mpt\",\"d_model\":64,\"n_heads\":4,\"n_layers\":2,\"vocab_size\":10,"
     "\"attn_config\":{\"sliding_window_size\":1024}}",
     "attn_config.sliding_window_size", "found 1024, accepted no such key", __LINE__},
    {"{\"model_type\":\"mpt\",\"d_model\":64,\"n_heads\":4,\"n_layers\":2,\"vocab_size\":10,"
     "\"expansion_ratio\":0}",
     "expansion_ratio", "found 0, accepted", __LINE__},
    {"{\"model_type\":\"falcon\"," DIMS "\"num_kv_heads\":3,\"new_decoder_architecture\":true}",
     "num_kv_heads", "found 3 KV heads, accepted a divisor", __LINE__},
    {LLAMA "\"text_config\":{\"hidden_size\":32}}", "text_config", "an object", __LINE__},
    {LLAMA "\"num_heads\":8}", "num_heads", "found 8, accepted no such key", __LINE__},
    {LLAMA "\"mlp_layer_types\":[\"dense\",\"sparse\"]}", "mlp_layer_types", "sparse", __LINE__},
    {LLAMA "\"mlp_layer_types\":[\"dense\"]}", "mlp_layer_types", "list of 1", __LINE__},
    {LLAMA "\"rope_parameters\":{\"partial_rotary_factor\":\"1\"}}",
     "rope_parameters.partial_rotary_factor", "text '1'", __LINE__},
    {"{\"model_type\":\"hf_olmo\",\"d_model\":64,\"n_layers\":2,\"n_heads\":4,\"vocab_size\":10,"
     "\"mlp_hidden_size\":129}",
     "mlp_hidden_size", "129", __LINE__},
    {"{\"model_type\":\"hf_olmo\",\"d_model\":64,\"n_layers\":2,\"n_heads\":4,\"vocab_size\":10,"
     "\"include_bias\":true}",
     "include_bias", "true", __LINE__},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        size_t size = strlen(refused[i].text);
        struct status status = read_text(NULL, refused[i].text, size);
        if (status.code != STATUS_INVALID || strstr(status.detail, refused[i].key) == NULL ||
            strstr(status.detail, refused[i].found) == NULL ||
            strstr(status.detail, "x.json") == NULL) {
            fail_msg("line %d: code %d: %s", refused[i].line, (int)status.code, status.detail);
        }
    }
}

// What is there but means nothing: unknown words, nulls, decoys inside texts, escapes in keys.
static void accepted_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LLAMA "\"num_key_value_heads\":null,\"head_dim\":null,\"torch_dtype\":null}",
        LLAMA "\"tie_word_embeddings\":null}",
        LLAMA "\"_name_or_path\":\"\\\"hidden_size\\\": 1\"}",
        LLAMA "\"num_experts\":0,\"sliding_window\":null,\"kv_lora_rank\":false}",
        LLAMA "\"rope_scaling\":{\"hidden_size\":3},\"id2label\":{\"0\":\"LABEL_0\"}}",
        LLAMA "\"h\\u0065ad_dim\":16}",
        LLAMA "\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":128}}",
        LLAMA "\"compression_config\":{\"quant_method\":\"compressed-tensors\",\"dim\":1}}",
        LLAMA "\"num_heads\":4,\"sliding_window_size\":-1,\"mlp_layer_types\":[\"dense\","
              "\"dense\"]}",
        LLAMA "\"rope_parameters\":{\"partial_rotary_factor\":0.5,\"mscale_all_dim\":1.0}}",
        LLAMA "\"clip_qkv\":8.0,\"context_window_size\":2048,\"sliding_window_size\":0}",
        LLAMA "\"chunk_size_feed_forward\":5,\"layer_norm_eps\":1e-5,\"pad_token_id\":-1}",
    };
    // 2 layers of 4 x 64^2 + 3 x 64 x 128 + 2 x 64; 2 x 100 x 64; a final norm.
    const uint64_t total = 2 * (16384 + 24576 + 128) + 12800 + 64;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct model_counts counts = {0};
        struct status status = read_text(&counts, texts[i], strlen(texts[i]));
        if (status.code != STATUS_OK || counts.total != total) {
            fail_msg("text %zu: total %llu: %s", i, (unsigned long long)counts.total,
                     status.detail);
        }
    }
}

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
        ASSERT_OK(read_text(&counts, cases[i].text, strlen(cases[i].text)));
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
    ASSERT_OK(read_text(&counts, text, sizeof text - 1));
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
        ASSERT_OK(read_text(&counts, cases[i].text, strlen(cases[i].text)));
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
    ASSERT_OK(read_text(&counts, text, sizeof text - 1));
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
        ASSERT_OK(read_text(&counts, text, strlen(text)));
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

static void deep_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    struct status status = read_text(NULL, text, DEPTH);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "not valid JSON"));
    free(text);
}

static void too_large(void **state)
{
    (void)state;
    size_t size = CONFIG_BYTES_MAX + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    assert_int_equal(read_text(NULL, text, size).code, STATUS_INVALID);
    free(text);
}

// Every prefix of a good text is refused without harm.
static void truncated(void **state)
{
    (void)state;
    static const char text[] = LLAMA "\"num_key_value_heads\":2,\"torch_dtype\":\"float16\"}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        assert_int_equal(read_text(NULL, text, size).code, STATUS_INVALID);
    }
    ASSERT_OK(read_text(NULL, text, sizeof text - 1));
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
        cmocka_unit_test(refusals),        cmocka_unit_test(accepted_texts),
        cmocka_unit_test(key_value_heads), cmocka_unit_test(deep_nesting),
        cmocka_unit_test(too_large),       cmocka_unit_test(truncated),
        cmocka_unit_test(family_table),    cmocka_unit_test(falcon_norms),
        cmocka_unit_test(window_patterns), cmocka_unit_test(exaone_defaults),
        cmocka_unit_test(first_formats),   cmocka_unit_test(listed_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
