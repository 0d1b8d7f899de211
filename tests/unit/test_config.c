#include "tests/test.h"
#include "tests/unit/config_fixture.h"
#include "workloads/config_json.h"

#include <stdlib.h>

// What a config may look like and must not: each text is read, and refused with the words given.

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
        struct status status = config_fixture_read(NULL, refused[i].text, size);
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
        struct status status = config_fixture_read(&counts, texts[i], strlen(texts[i]));
        if (status.code != STATUS_OK || counts.total != total) {
            fail_msg("text %zu: total %llu: %s", i, (unsigned long long)counts.total,
                     status.detail);
        }
    }
}

static void deep_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    struct status status = config_fixture_read(NULL, text, DEPTH);
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
    assert_int_equal(config_fixture_read(NULL, text, size).code, STATUS_INVALID);
    free(text);
}

// Every prefix of a good text is refused without harm.
static void truncated(void **state)
{
    (void)state;
    static const char text[] = LLAMA "\"num_key_value_heads\":2,\"torch_dtype\":\"float16\"}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        assert_int_equal(config_fixture_read(NULL, text, size).code, STATUS_INVALID);
    }
    ASSERT_OK(config_fixture_read(NULL, text, sizeof text - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),     cmocka_unit_test(accepted_texts),
        cmocka_unit_test(deep_nesting), cmocka_unit_test(too_large),
        cmocka_unit_test(truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
