#include "workloads/family_adapt.h"

#include <inttypes.h>
#include <string.h>

// Families with experts, and those with latent attention.

enum { EXPERTS_MAX = 1 << 16 };

void adapt_route_all(struct shape *shape)
{
    memset(shape->routed, 1, shape->layers);
}

struct status adapt_mlp_types(struct shape *shape, struct config *config)
{
    static const char *const words[] = {"dense", "sparse"};
    bool listed = false;
    uint8_t types[MODEL_LAYERS_MAX];
    TRY(config_word_list(types, &listed, shape->layers, config, "mlp_layer_types", words, 2));
    for (uint64_t i = 0; listed && i < shape->layers; i++) {
        if (types[i] != 0 && shape->experts == 0) {
            return config_error(config, "mlp_layer_types",
                                "found 'sparse' in layer %" PRIu64 ", accepted 'dense': this "
                                "model_type has no experts",
                                i);
        }
        shape->routed[i] = types[i];
    }
    return status_ok();
}

// Experts as wide as `width`, e of them per token; every layer has them.
static struct status read_experts(struct shape *shape, struct config *config, const char *count,
                                  uint64_t default_count, uint64_t default_used, uint64_t width)
{
    TRY(config_uint_not_null(&shape->experts, config, count, default_count, 1, EXPERTS_MAX));
    TRY(config_uint_not_null(&shape->experts_used, config, "num_experts_per_tok|experts_per_token",
                             default_used, 1, shape->experts));
    shape->expert_width = width;
    adapt_route_all(shape);
    return status_ok();
}

struct status adapt_mixtral(struct shape *shape, struct config *config)
{
    TRY(read_experts(shape, config, "num_local_experts", 8, 2, shape->ffn));
    return adapt_window_all(shape, config, 0);
}

struct status adapt_phimoe(struct shape *shape, struct config *config)
{
    TRY(config_bool(&shape->head_bias, config, "lm_head_bias", false));
    TRY(read_experts(shape, config, "num_local_experts", 16, 2, shape->ffn));
    return adapt_window_all(shape, config, 0);
}

struct status adapt_granitemoe(struct shape *shape, struct config *config)
{
    return read_experts(shape, config, "num_local_experts", 8, 2, shape->ffn);
}

struct status adapt_olmoe(struct shape *shape, struct config *config)
{
    shape->qk_norm = SHAPE_QK_PER_HEAD;
    return read_experts(shape, config, "num_experts|num_local_experts", 64, 8, shape->ffn);
}

struct status adapt_gpt_oss(struct shape *shape, struct config *config)
{
    bool listed = false;
    shape->sinks = true;
    shape->router_bias = true;
    shape->expert_bias = true;
    TRY(read_experts(shape, config, "num_local_experts|num_experts", 128, 4, shape->ffn));
    bool none = config_is_null(config, "sliding_window");
    TRY(config_uint(&shape->window, config, "sliding_window", none ? 0 : 128, 1, UINT32_MAX));
    TRY(adapt_layer_types(&listed, shape, config));
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        shape->windowed[i] = shape->window > 0 && (i + 1) % 2 != 0;
    }
    return status_ok();
}

// Which layers of Qwen's MoE have experts: each decoder_sparse_step-th but those of
// mlp_only_layers.
static struct status qwen_routed(struct shape *shape, struct config *config)
{
    uint64_t step = 0;
    uint64_t dense[MODEL_LAYERS_MAX];
    size_t dense_count = 0;
    TRY(config_uint_not_null(&step, config, "decoder_sparse_step", 1, 1, MODEL_LAYERS_MAX));
    for (uint64_t i = 0; i < shape->layers; i++) {
        shape->routed[i] = (i + 1) % step == 0;
    }
    TRY(config_uint_list(dense, MODEL_LAYERS_MAX, &dense_count, config, "mlp_only_layers"));
    for (size_t i = 0; dense_count != SIZE_MAX && i < dense_count; i++) {
        if (dense[i] >= shape->layers) {
            return config_error(config, "mlp_only_layers",
                                "found layer %" PRIu64 ", accepted 0..%" PRIu64, dense[i],
                                shape->layers - 1);
        }
        shape->routed[dense[i]] = 0;
    }
    return status_ok();
}

struct status adapt_qwen2_moe(struct shape *shape, struct config *config)
{
    uint64_t width = 0;
    TRY(config_uint_not_null(&width, config, "moe_intermediate_size", 1408, 1, MODEL_DIM_MAX));
    TRY(read_experts(shape, config, "num_experts|num_local_experts", 60, 4, width));
    TRY(config_uint_not_null(&shape->shared_width, config, "shared_expert_intermediate_size", 5632,
                             1, MODEL_DIM_MAX));
    shape->shared_gate = true;
    TRY(qwen_routed(shape, config));
    return adapt_qwen2(shape, config);
}

struct status adapt_qwen3_moe(struct shape *shape, struct config *config)
{
    uint64_t width = 0;
    TRY(config_uint_not_null(&width, config, "moe_intermediate_size", 768, 1, MODEL_DIM_MAX));
    TRY(config_expect_bool(config, "use_qk_norm", true, "queries and keys are normed"));
    TRY(read_experts(shape, config, "num_experts|num_local_experts", 128, 8, width));
    TRY(qwen_routed(shape, config));
    return adapt_qwen3(shape, config);
}

// DeepSeek's experts: absent or null counts mean none; leading layers are dense; the shared
// experts are one MLP of their joint width.
static struct status deepseek_experts(struct shape *shape, struct config *config,
                                      const struct shape *defaults)
{
    uint64_t shared = 0;
    uint64_t first = 0;
    uint64_t step = 0;
    config_ignore(config, "topk_method|scoring_func|seq_aux|n_group|topk_group");
    TRY(config_uint(&shape->experts, config, "n_routed_experts|num_local_experts",
                    defaults->experts, 1, EXPERTS_MAX));
    TRY(config_uint_not_null(&shape->expert_width, config, "moe_intermediate_size",
                             defaults->expert_width, 1, MODEL_DIM_MAX));
    TRY(config_uint(&shared, config, "n_shared_experts", defaults->shared_width, 0, EXPERTS_MAX));
    TRY(config_uint_not_null(&first, config, "first_k_dense_replace", defaults->dense_ffn, 0,
                             shape->layers));
    TRY(config_uint_not_null(&step, config, "moe_layer_freq", 1, 1, MODEL_LAYERS_MAX));
    if (shape->experts == 0) {
        config_ignore(config, "num_experts_per_tok");
        return status_ok();
    }
    uint64_t used = defaults->experts_used > 0 ? defaults->experts_used : CONFIG_REQUIRED;
    TRY(config_uint_not_null(&shape->experts_used, config, "num_experts_per_tok", used, 1,
                             shape->experts));
    shape->shared_width = shared * shape->expert_width;
    for (uint64_t i = first; i < shape->layers; i++) {
        shape->routed[i] = i % step == 0;
    }
    return status_ok();
}

struct status adapt_deepseek(struct shape *shape, struct config *config)
{
    const struct shape defaults = {.expert_width = 1407};
    return deepseek_experts(shape, config, &defaults);
}

static struct status latent_attention(struct shape *shape, struct config *config,
                                      const struct shape *defaults)
{
    config_ignore(config, "head_dim|qk_head_dim"); // derived in the reference classes
    bool direct = config_is_null(config, "q_lora_rank");
    TRY(config_uint(&shape->q_rank, config, "q_lora_rank", direct ? 0 : defaults->q_rank, 1,
                    MODEL_DIM_MAX));
    TRY(config_uint_not_null(&shape->kv_rank, config, "kv_lora_rank", defaults->kv_rank, 1,
                             MODEL_DIM_MAX));
    TRY(config_uint_not_null(&shape->rope_dim, config, "qk_rope_head_dim", defaults->rope_dim, 1,
                             MODEL_DIM_MAX));
    TRY(config_uint_not_null(&shape->nope_dim, config, "qk_nope_head_dim", defaults->nope_dim, 1,
                             MODEL_DIM_MAX));
    return config_uint_not_null(&shape->v_dim, config, "v_head_dim", defaults->v_dim, 1,
                                MODEL_DIM_MAX);
}

static const struct shape deepseek_latent = {
    .q_rank = 1536, .kv_rank = 512, .rope_dim = 64, .nope_dim = 128, .v_dim = 128};

struct status adapt_deepseek_v2(struct shape *shape, struct config *config)
{
    const struct shape defaults = {.expert_width = 1407};
    TRY(latent_attention(shape, config, &deepseek_latent));
    return deepseek_experts(shape, config, &defaults);
}

struct status adapt_deepseek_v3(struct shape *shape, struct config *config)
{
    const struct shape defaults = {
        .experts = 256, .expert_width = 2048, .experts_used = 8, .shared_width = 1, .dense_ffn = 3};
    TRY(latent_attention(shape, config, &deepseek_latent));
    TRY(deepseek_experts(shape, config, &defaults));
    shape->router_bias = true; // e_score_correction_bias
    return config_uint_not_null(&shape->mtp_layers, config, "num_nextn_predict_layers", 0, 0, 16);
}

struct status adapt_minicpm(struct shape *shape, struct config *config)
{
    uint64_t experts = 0;
    TRY(config_uint_not_null(&experts, config, "num_experts", 0, 0, EXPERTS_MAX));
    if (experts == 0) {
        return status_ok();
    }
    return read_experts(shape, config, "num_experts", CONFIG_REQUIRED, CONFIG_REQUIRED, shape->ffn);
}

struct status adapt_minicpm3(struct shape *shape, struct config *config)
{
    const struct shape defaults = {
        .q_rank = 768, .kv_rank = 256, .rope_dim = 32, .nope_dim = 64, .v_dim = 0};
    uint64_t v_dim = shape->head_dim;
    TRY(latent_attention(shape, config, &defaults));
    shape->v_dim = shape->v_dim > 0 ? shape->v_dim : v_dim;
    return status_ok();
}

// Layers with experts: the list moe_layers, else each interleave_moe_layer_step-th.
static struct status llama4_routed(struct shape *shape, struct config *config)
{
    uint64_t step = 0;
    uint64_t routed[MODEL_LAYERS_MAX];
    size_t count = 0;
    TRY(config_uint_not_null(&step, config, "interleave_moe_layer_step", 1, 1, MODEL_LAYERS_MAX));
    TRY(config_uint_list(routed, MODEL_LAYERS_MAX, &count, config, "moe_layers"));
    memset(shape->routed, 0, sizeof shape->routed);
    for (uint64_t i = step - 1; count == SIZE_MAX && i < shape->layers; i += step) {
        shape->routed[i] = 1;
    }
    for (size_t i = 0; count != SIZE_MAX && i < count; i++) {
        if (routed[i] >= shape->layers) {
            return config_error(config, "moe_layers",
                                "found layer %" PRIu64 ", accepted 0..%" PRIu64, routed[i],
                                shape->layers - 1);
        }
        shape->routed[routed[i]] = 1;
    }
    return status_ok();
}

// Chunked attention in the layers with rotary embedding: no_rope_layers holds 1 for those, by
// default all but each fourth.
static struct status llama4_chunks(struct shape *shape, struct config *config)
{
    uint64_t rotary[MODEL_LAYERS_MAX];
    size_t count = 0;
    uint64_t interval = 0;
    bool listed = false;
    shape->chunked = true;
    TRY(config_uint(&shape->window, config, "attention_chunk_size",
                    config_is_null(config, "attention_chunk_size") ? 0 : 8192, 1, UINT32_MAX));
    TRY(config_uint_not_null(&interval, config, "no_rope_layer_interval", 4, 1, MODEL_LAYERS_MAX));
    TRY(config_uint_list(rotary, MODEL_LAYERS_MAX, &count, config, "no_rope_layers"));
    bool given = count != SIZE_MAX && count > 0;
    if (given && count != shape->layers) {
        return config_error(config, "no_rope_layers",
                            "found a list of %zu, accepted one of %" PRIu64 ", the layers", count,
                            shape->layers);
    }
    TRY(adapt_layer_types(&listed, shape, config));
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        bool turns = given ? rotary[i] != 0 : (i + 1) % interval != 0;
        shape->windowed[i] = shape->window > 0 && turns;
    }
    return status_ok();
}

struct status adapt_llama4(struct shape *shape, struct config *config)
{
    // use_qk_norm is a norm without weights.
    config_ignore(config, "use_qk_norm|attn_scale|floor_scale|attn_temperature_tuning|for_llm_"
                          "compressor");
    TRY(config_uint_not_null(&shape->experts, config, "num_local_experts", 16, 1, EXPERTS_MAX));
    TRY(config_uint_not_null(&shape->experts_used, config, "num_experts_per_tok", 1, 1,
                             shape->experts));
    TRY(config_uint_not_null(&shape->dense_ffn, config, "intermediate_size_mlp", 16384, 1,
                             MODEL_DIM_MAX));
    shape->expert_width = shape->ffn;
    shape->shared_width = shape->ffn;
    TRY(llama4_routed(shape, config));
    return llama4_chunks(shape, config);
}
