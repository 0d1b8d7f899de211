#include "workloads/families.h"

#include "workloads/family_adapt.h"

#include <string.h>

// Sources: HF = huggingface/transformers, src/transformers/models/<family>/configuration_*.py and
// modeling_*.py; HUB = the configuration_*.py and modeling_*.py that the model's authors publish
// with the weights.

static const struct family_keys modern = {
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "head_dim",    "intermediate_size", "vocab_size",          "max_position_embeddings"};
static const struct family_keys latent = {
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    NULL,          "intermediate_size", "vocab_size",          "max_position_embeddings"};
static const struct family_keys nemotron = {
    "hidden_size",          "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "head_dim|kv_channels", "intermediate_size", "vocab_size",          "max_position_embeddings"};
static const struct family_keys gpt2 = {"n_embd|hidden_size",
                                        "n_layer|num_hidden_layers",
                                        "n_head|num_attention_heads",
                                        NULL,
                                        NULL,
                                        NULL,
                                        "vocab_size",
                                        "n_positions|max_position_embeddings"};
static const struct family_keys neox = {
    "hidden_size", "num_hidden_layers", "num_attention_heads", NULL,
    NULL,          "intermediate_size", "vocab_size",          "max_position_embeddings"};
static const struct family_keys opt = {
    "hidden_size", "num_hidden_layers", "num_attention_heads", NULL,
    NULL,          "ffn_dim",           "vocab_size",          "max_position_embeddings"};
static const struct family_keys bloom = {"hidden_size|n_embed",
                                         "n_layer|num_hidden_layers",
                                         "n_head|num_attention_heads",
                                         NULL,
                                         NULL,
                                         NULL,
                                         "vocab_size",
                                         "seq_length"};
static const struct family_keys mpt = {"d_model|hidden_size",
                                       "n_layers|num_hidden_layers",
                                       "n_heads|num_attention_heads",
                                       NULL,
                                       NULL,
                                       NULL,
                                       "vocab_size",
                                       "max_seq_len"};
static const struct family_keys falcon = {
    "hidden_size", "num_hidden_layers|n_layer", "num_attention_heads|n_head", NULL, NULL, NULL,
    "vocab_size",  "max_position_embeddings"};
static const struct family_keys gpt_neo = {"hidden_size",
                                           "num_layers|num_hidden_layers",
                                           "num_heads|num_attention_heads",
                                           NULL,
                                           NULL,
                                           NULL,
                                           "vocab_size",
                                           "max_position_embeddings"};
static const struct family_keys phi_msft = {"n_embd", "n_layer", "n_head",     NULL,
                                            NULL,     NULL,      "vocab_size", "n_positions"};
static const struct family_keys hf_olmo = {
    "d_model", "n_layers", "n_heads", NULL, NULL, NULL, "vocab_size", "max_sequence_length"};
static const struct family_keys exaone = {"hidden_size",
                                          "num_layers|num_hidden_layers",
                                          "num_attention_heads",
                                          "num_key_value_heads",
                                          "head_dim",
                                          NULL,
                                          "vocab_size",
                                          "max_position_embeddings"};
static const struct family_keys qwen = {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                        NULL,          "kv_channels",       "intermediate_size",
                                        "vocab_size",  "seq_length"};
static const struct family_keys chatglm = {"hidden_size",
                                           "num_layers|num_hidden_layers",
                                           "num_attention_heads",
                                           NULL,
                                           NULL,
                                           "ffn_hidden_size|inner_hidden_size",
                                           "padded_vocab_size|vocab_size",
                                           "seq_length|max_sequence_length"};

#define ALWAYS     \
    {              \
        NULL, true \
    }
#define NEVER       \
    {               \
        NULL, false \
    }
#define KEY_OFF(name) \
    {                 \
        name, false   \
    }
#define KEY_ON(name) \
    {                \
        name, true   \
    }

// A few lines a row, or nobody sees the table.
// clang-format off
static const struct family families[] = {
    {.model_types = "gpt2", .source = "HF gpt2; HUB bigcode/santacoder", .keys = &gpt2,
     .tied = true, .ungated = true, .norm = SHAPE_LAYER, .norms = 2, .qkv_bias = ALWAYS,
     .out_bias = ALWAYS, .mlp_bias = ALWAYS, .adapt = adapt_gpt2},
    {.model_types = "gptj|codegen", .source = "HF gptj, codegen", .keys = &gpt2, .ungated = true, .head_bias = true,
     .norm = SHAPE_LAYER, .norms = 1, .rotary = 1, .mlp_bias = ALWAYS, .adapt = adapt_gptj},
    {.model_types = "gpt_bigcode", .source = "HF gpt_bigcode", .keys = &gpt2, .tied = true,
     .ungated = true, .norm = SHAPE_LAYER, .norms = 2, .qkv_bias = ALWAYS, .out_bias = ALWAYS,
     .mlp_bias = ALWAYS, .adapt = adapt_gpt_bigcode},
    {.model_types = "gpt_neo", .source = "HF gpt_neo", .keys = &gpt_neo, .tied = true,
     .ungated = true, .norm = SHAPE_LAYER, .norms = 2, .out_bias = ALWAYS, .mlp_bias = ALWAYS,
     .adapt = adapt_gpt_neo},
    {.model_types = "gpt_neox", .source = "HF gpt_neox", .keys = &neox, .ungated = true,
     .norm = SHAPE_LAYER, .norms = 2, .rotary = 0.25, .qkv_bias = KEY_ON("attention_bias"),
     .out_bias = KEY_ON("attention_bias"), .mlp_bias = ALWAYS, .adapt = adapt_gpt_neox},
    {.model_types = "opt", .source = "HF opt", .keys = &opt, .tied = true, .ungated = true,
     .norm = SHAPE_LAYER, .norms = 2, .qkv_bias = KEY_ON("enable_bias"),
     .out_bias = KEY_ON("enable_bias"), .mlp_bias = KEY_ON("enable_bias"), .adapt = adapt_opt},
    {.model_types = "bloom", .source = "HF bloom", .keys = &bloom, .tied = true, .ungated = true,
     .norm = SHAPE_LAYER, .norms = 2, .qkv_bias = ALWAYS, .out_bias = ALWAYS, .mlp_bias = ALWAYS,
     .adapt = adapt_bloom},
    {.model_types = "mpt", .source = "HF mpt; HUB mosaicml/mpt-7b", .keys = &mpt, .tied = true,
     .ungated = true, .norm = SHAPE_LAYER_NO_BIAS, .norms = 2, .adapt = adapt_mpt},
    {.model_types = "falcon|RefinedWeb|RefinedWebModel",
     .source = "HF falcon; HUB tiiuae/falcon-7b, -40b", .keys = &falcon, .tied = true,
     .ungated = true, .norm = SHAPE_LAYER, .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("bias"),
     .out_bias = KEY_OFF("bias"), .mlp_bias = KEY_OFF("bias"), .adapt = adapt_falcon},
    {.model_types = "llama|Yi", .source = "HF llama; HUB 01-ai/Yi-6B", .keys = &modern, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .mlp_bias = KEY_OFF("mlp_bias")},
    {.model_types = "mistral|ministral", .source = "HF mistral, ministral", .keys = &modern, .norms = 2, .rotary = 1,
     .kv_heads = 8, .adapt = adapt_mistral},
    {.model_types = "mixtral", .source = "HF mixtral", .keys = &modern, .norms = 2, .rotary = 1,
     .kv_heads = 8, .adapt = adapt_mixtral},
    {.model_types = "qwen", .source = "HUB Qwen/Qwen-7B", .keys = &qwen, .norms = 2, .rotary = 1,
     .qkv_bias = ALWAYS, .head_dim = 128, .adapt = adapt_qwen},
    {.model_types = "qwen2", .source = "HF qwen2", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = ALWAYS, .kv_heads = 32, .adapt = adapt_qwen2},
    {.model_types = "qwen2_moe", .source = "HF qwen2_moe", .keys = &modern, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_ON("qkv_bias"), .kv_heads = 16, .adapt = adapt_qwen2_moe},
    {.model_types = "qwen3", .source = "HF qwen3", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"), .kv_heads = 32,
     .head_dim = 128, .adapt = adapt_qwen3},
    {.model_types = "qwen3_moe", .source = "HF qwen3_moe", .keys = &modern, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .kv_heads = 4, .adapt = adapt_qwen3_moe},
    {.model_types = "gemma", .source = "HF gemma", .keys = &modern, .tied = true, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .kv_heads = 16, .head_dim = 256},
    {.model_types = "gemma2", .source = "HF gemma2", .keys = &modern, .tied = true, .norms = 4,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .kv_heads = 4, .head_dim = 256, .adapt = adapt_gemma2},
    {.model_types = "gemma3_text", .source = "HF gemma3", .keys = &modern, .tied = true,
     .norms = 4, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .kv_heads = 4, .head_dim = 256, .d = 2304,
     .layers = 26, .heads = 8, .ffn = 9216, .vocab = 262208, .adapt = adapt_gemma3},
    {.model_types = "phi", .source = "HF phi", .keys = &modern, .ungated = true, .head_bias = true,
     .norm = SHAPE_LAYER, .norms = 1, .rotary = 0.5, .qkv_bias = ALWAYS, .out_bias = ALWAYS,
     .mlp_bias = ALWAYS, .adapt = adapt_phi},
    {.model_types = "phi-msft", .source = "HUB microsoft/phi-2, first revision", .keys = &phi_msft,
     .ungated = true, .head_bias = true, .norm = SHAPE_LAYER, .norms = 1, .rotary = 1,
     .qkv_bias = ALWAYS, .out_bias = ALWAYS, .mlp_bias = ALWAYS, .adapt = adapt_phi_msft},
    {.model_types = "phi3", .source = "HF phi3", .keys = &modern, .norms = 2, .rotary = 1,
     .adapt = adapt_phi3},
    {.model_types = "phimoe", .source = "HF phimoe", .keys = &modern, .norm = SHAPE_LAYER,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .kv_heads = 8, .adapt = adapt_phimoe},
    {.model_types = "starcoder2", .source = "HF starcoder2", .keys = &modern, .tied = true,
     .ungated = true, .norm = SHAPE_LAYER, .norms = 2, .rotary = 1, .qkv_bias = KEY_ON("use_bias"),
     .out_bias = KEY_ON("use_bias"), .mlp_bias = KEY_ON("use_bias"), .kv_heads = 2,
     .adapt = adapt_starcoder2},
    {.model_types = "stablelm|stablelm_epoch", .source = "HF stablelm", .keys = &modern,
     .norm = SHAPE_LAYER, .norms = 2, .rotary = 0.25, .qkv_bias = KEY_OFF("use_qkv_bias"),
     .kv_heads = 32, .adapt = adapt_stablelm},
    {.model_types = "olmo", .source = "HF olmo", .keys = &modern, .norm = SHAPE_LAYER_BARE,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias")},
    {.model_types = "hf_olmo", .source = "HUB allenai/OLMo-1B, -7B", .keys = &hf_olmo,
     .norm = SHAPE_LAYER_BARE, .norms = 2, .rotary = 1, .adapt = adapt_hf_olmo},
    {.model_types = "olmo2", .source = "HF olmo2", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .adapt = adapt_olmo2},
    {.model_types = "olmo3", .source = "HF olmo3", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .adapt = adapt_olmo3},
    {.model_types = "olmoe", .source = "HF olmoe", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .adapt = adapt_olmoe},
    {.model_types = "deepseek", .source = "HUB deepseek-ai/deepseek-moe-16b-base", .keys = &modern,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_deepseek},
    {.model_types = "deepseek_v2", .source = "HF deepseek_v2; HUB deepseek-ai/DeepSeek-V2",
     .keys = &latent, .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_deepseek_v2},
    {.model_types = "deepseek_v3|kimi_k2",
     .source = "HF deepseek_v3; HUB deepseek-ai/DeepSeek-V3, moonshotai/Kimi-K2-Instruct", .keys = &latent, .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_deepseek_v3},
    {.model_types = "gpt_oss", .source = "HF gpt_oss", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_ON("attention_bias"), .out_bias = KEY_ON("attention_bias"), .kv_heads = 8,
     .head_dim = 64, .adapt = adapt_gpt_oss},
    {.model_types = "cohere", .source = "HF cohere", .keys = &modern, .tied = true,
     .norm = SHAPE_LAYER_NO_BIAS, .norms = 1, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_cohere},
    {.model_types = "cohere2", .source = "HF cohere2", .keys = &modern, .tied = true,
     .norm = SHAPE_LAYER_NO_BIAS, .norms = 1, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_cohere2},
    {.model_types = "granite", .source = "HF granite", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .mlp_bias = KEY_OFF("mlp_bias")},
    {.model_types = "granitemoe", .source = "HF granitemoe", .keys = &modern, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .adapt = adapt_granitemoe},
    {.model_types = "smollm3", .source = "HF smollm3", .keys = &modern, .tied = true, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"),
     .mlp_bias = KEY_OFF("mlp_bias"), .kv_heads = 4, .adapt = adapt_smollm3},
    {.model_types = "internlm2", .source = "HUB internlm/internlm2-7b", .keys = &modern,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_ON("bias"), .out_bias = KEY_ON("bias")},
    {.model_types = "internlm", .source = "HUB internlm/internlm-7b", .keys = &modern, .norms = 2,
     .rotary = 1, .qkv_bias = KEY_ON("bias"), .out_bias = KEY_ON("bias")},
    {.model_types = "internlm3", .source = "HUB internlm/internlm3-8b-instruct", .keys = &modern,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("qkv_bias"), .out_bias = KEY_OFF("bias"),
     .mlp_bias = KEY_OFF("bias")},
    {.model_types = "exaone", .source = "HUB LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct",
     .keys = &exaone, .tied = true, .norms = 2, .rotary = 1, .adapt = adapt_exaone},
    {.model_types = "baichuan", .source = "HUB baichuan-inc/Baichuan-7B, -13B, Baichuan2",
     .keys = &modern, .norms = 2, .rotary = 1},
    {.model_types = "chatglm",
     .source = "HUB THUDM/chatglm-6b, chatglm2-6b, chatglm3-6b, glm-4-9b", .keys = &chatglm,
     .norms = 2, .rotary = 0.5, .adapt = adapt_chatglm},
    {.model_types = "glm", .source = "HF glm", .keys = &modern, .norms = 2, .rotary = 0.5,
     .qkv_bias = KEY_ON("attention_bias"), .kv_heads = 2, .head_dim = 128},
    {.model_types = "glm4", .source = "HF glm4", .keys = &modern, .norms = 4, .rotary = 0.5,
     .qkv_bias = KEY_ON("attention_bias"), .kv_heads = 2, .head_dim = 128},
    {.model_types = "minicpm", .source = "HUB openbmb/MiniCPM-2B-sft-bf16", .keys = &modern,
     .tied = true, .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_minicpm},
    {.model_types = "minicpm3", .source = "HUB openbmb/MiniCPM3-4B", .keys = &latent, .tied = true,
     .norms = 2, .rotary = 1, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .adapt = adapt_minicpm3},
    {.model_types = "nemotron", .source = "HF nemotron", .keys = &nemotron, .ungated = true,
     .norm = SHAPE_LAYER, .norms = 2, .rotary = 0.5, .qkv_bias = KEY_OFF("attention_bias"),
     .out_bias = KEY_OFF("attention_bias"), .mlp_bias = KEY_OFF("mlp_bias")},
    {.model_types = "llama4_text", .source = "HF llama4", .keys = &modern, .norms = 2, .rotary = 1,
     .qkv_bias = KEY_OFF("attention_bias"), .out_bias = KEY_OFF("attention_bias"), .kv_heads = 8,
     .head_dim = 128, .d = 5120, .layers = 48, .heads = 40, .ffn = 8192, .vocab = 202048,
     .adapt = adapt_llama4},
};
// clang-format on

enum { FAMILIES = sizeof families / sizeof *families };

static bool type_matches(const char *types, const char *type)
{
    size_t length = strlen(type);
    while (types != NULL) {
        size_t n = strcspn(types, "|");
        if (n == length && memcmp(types, type, n) == 0) {
            return true;
        }
        types = types[n] == '|' ? types + n + 1 : NULL;
    }
    return false;
}

const struct family *family_find(const char *model_type)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        if (type_matches(families[i].model_types, model_type)) {
            return &families[i];
        }
    }
    return NULL;
}

const struct family *family_at(size_t i)
{
    return i < FAMILIES ? &families[i] : NULL;
}

// A dimension; its class default only in nested objects.
static struct status read_dim(uint64_t *out, struct config *config, const char *names,
                              uint64_t default_value, uint64_t high)
{
    bool nested = config_is_nested(config) && default_value > 0;
    return config_uint(out, config, names, nested ? default_value : CONFIG_REQUIRED, 1, high);
}

static struct status read_dims(struct shape *out, struct config *config,
                               const struct family *family)
{
    const struct family_keys *keys = family->keys;
    TRY(read_dim(&out->d, config, keys->d, family->d, MODEL_DIM_MAX));
    TRY(read_dim(&out->layers, config, keys->layers, family->layers, MODEL_LAYERS_MAX));
    TRY(read_dim(&out->heads, config, keys->heads, family->heads, MODEL_DIM_MAX));
    TRY(read_dim(&out->vocab, config, keys->vocab, family->vocab, MODEL_DIM_MAX));
    if (keys->ffn != NULL) {
        TRY(read_dim(&out->ffn, config, keys->ffn, family->ffn, MODEL_DIM_MAX));
    }
    return config_uint(&out->context, config, keys->context, 0, 1, UINT32_MAX);
}

// Absent: the class default. Null: derived, as the reference classes do.
static struct status read_heads(struct shape *out, struct config *config,
                                const struct family *family)
{
    const struct family_keys *keys = family->keys;
    out->kv_heads = out->heads;
    if (keys->kv_heads != NULL) {
        bool derive = family->kv_heads == 0 || config_is_null(config, keys->kv_heads);
        TRY(config_uint(&out->kv_heads, config, keys->kv_heads,
                        derive ? out->heads : family->kv_heads, 1, MODEL_DIM_MAX));
    }
    if (out->heads % out->kv_heads != 0) {
        return config_error(config, keys->kv_heads,
                            "found %llu KV heads, accepted a divisor of the %llu heads",
                            (unsigned long long)out->kv_heads, (unsigned long long)out->heads);
    }
    if (keys->head_dim != NULL && !config_is_null(config, keys->head_dim)) {
        TRY(config_uint(&out->head_dim, config, keys->head_dim, family->head_dim, 1,
                        MODEL_DIM_MAX));
    }
    if (out->head_dim == 0) {
        if (out->d % out->heads != 0) {
            return config_error(config, keys->heads,
                                "found %llu, accepted a divisor of the hidden size %llu",
                                (unsigned long long)out->heads, (unsigned long long)out->d);
        }
        out->head_dim = out->d / out->heads;
    }
    return status_ok();
}

static struct status read_flag(bool *out, struct config *config, const struct family_flag *flag)
{
    *out = flag->value;
    return flag->key == NULL ? status_ok() : config_bool(out, config, flag->key, flag->value);
}

// Under its own key, or in rope_parameters, where newer writers put it.
static struct status read_rotary(struct shape *out, struct config *config, double fraction)
{
    static const char *const names[] = {"partial_rotary_factor", "rotary_pct", "rotary_percentage",
                                        "rope_pct"};
    struct config *parameters = NULL;
    TRY(config_object(&parameters, config, "rope_parameters"));
    if (parameters != NULL) {
        double told = fraction;
        TRY(config_real(&told, parameters, names[0], fraction));
        fraction = fraction > 0 ? told : 0;
        config_drop_object(config);
    }
    for (size_t i = 0; fraction > 0 && i < sizeof names / sizeof *names; i++) {
        TRY(config_real(&fraction, config, names[i], fraction));
    }
    if (fraction > 1) {
        return config_error(config, "partial_rotary_factor", "found %g, accepted 0..1", fraction);
    }
    out->rope_dim = (uint64_t)((double)out->head_dim * fraction);
    return status_ok();
}

struct status family_read_shape(struct shape *out, struct config *config,
                                const struct family *family)
{
    memset(out, 0, sizeof *out);
    TRY(read_dims(out, config, family));
    TRY(read_heads(out, config, family));
    TRY(config_bool(&out->tied, config, "tie_word_embeddings", family->tied));
    TRY(read_flag(&out->qkv_bias, config, &family->qkv_bias));
    TRY(read_flag(&out->out_bias, config, &family->out_bias));
    TRY(read_flag(&out->mlp_bias, config, &family->mlp_bias));
    TRY(read_rotary(out, config, family->rotary));
    out->gated = !family->ungated;
    out->head_bias = family->head_bias;
    out->norm = family->norm;
    out->norms_per_layer = family->norms;
    out->final_norm = true;
    if (family->adapt != NULL) {
        TRY(family->adapt(out, config));
    }
    bool listed = false; // every class may be told its layers' kinds
    TRY(adapt_layer_types(&listed, out, config));
    return adapt_mlp_types(out, config);
}
