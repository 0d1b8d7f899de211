#include "workloads/family_adapt.h"

#include <string.h>

// Families whose layers see a window, all of them or by a pattern.

static void window_none(struct shape *shape)
{
    shape->window = 0;
    memset(shape->windowed, 0, sizeof shape->windowed);
}

struct status adapt_layer_types(bool *present, struct shape *shape, struct config *config)
{
    static const char *const words[] = {"full_attention", "sliding_attention", "chunked_attention"};
    uint8_t types[MODEL_LAYERS_MAX];
    TRY(config_word_list(types, present, shape->layers, config, "layer_types", words, 3));
    for (uint64_t i = 0; *present && i < shape->layers; i++) {
        shape->windowed[i] = types[i] != 0;
        bool fits = types[i] == 0 || (types[i] == 2) == shape->chunked;
        if (!fits || (types[i] != 0 && shape->window == 0)) {
            return config_error(config, "layer_types",
                                "found '%s' in layer %u, which this model_type or its window does "
                                "not have",
                                words[types[i]], (unsigned)i);
        }
    }
    return status_ok();
}

static struct status read_window(struct shape *shape, struct config *config,
                                 uint64_t default_window)
{
    bool none = config_is_null(config, "sliding_window");
    return config_uint(&shape->window, config, "sliding_window", none ? 0 : default_window, 1,
                       UINT32_MAX);
}

struct status adapt_window_all(struct shape *shape, struct config *config, uint64_t default_window)
{
    bool listed = false;
    TRY(read_window(shape, config, default_window));
    TRY(adapt_layer_types(&listed, shape, config));
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        shape->windowed[i] = shape->window > 0;
    }
    return status_ok();
}

struct status adapt_window_pattern(struct shape *shape, struct config *config,
                                   uint64_t default_window, uint64_t default_period)
{
    bool listed = false;
    uint64_t period = 0;
    TRY(read_window(shape, config, default_window));
    TRY(config_uint_not_null(&period, config, "sliding_window_pattern|_sliding_window_pattern",
                             default_period, 1, MODEL_LAYERS_MAX));
    TRY(adapt_layer_types(&listed, shape, config));
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        shape->windowed[i] = shape->window > 0 && (i + 1) % period != 0;
    }
    return status_ok();
}

struct status adapt_mistral(struct shape *shape, struct config *config)
{
    return adapt_window_all(shape, config, 4096);
}

struct status adapt_starcoder2(struct shape *shape, struct config *config)
{
    TRY(config_expect_text(config, "mlp_type", "default"));
    TRY(config_expect_text(config, "norm_type", "layer_norm"));
    return adapt_window_all(shape, config, 0);
}

struct status adapt_phi3(struct shape *shape, struct config *config)
{
    return adapt_window_all(shape, config, 0);
}

// Window only if use_sliding_window, and only from layer max_window_layers on.
static struct status qwen_window(struct shape *shape, struct config *config)
{
    bool used = false;
    bool listed = false;
    uint64_t first = 0;
    TRY(config_bool(&used, config, "use_sliding_window", false));
    TRY(read_window(shape, config, 4096));
    TRY(config_uint_not_null(&first, config, "max_window_layers", 28, 0, UINT32_MAX));
    if (!used) {
        window_none(shape);
    }
    TRY(adapt_layer_types(&listed, shape, config));
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        shape->windowed[i] = shape->window > 0 && i >= first;
    }
    return status_ok();
}

// Qwen 1: intermediate_size is the width of gate and up together.
struct status adapt_qwen(struct shape *shape, struct config *config)
{
    TRY(config_expect_bool(config, "no_bias", true, "only Q, K and V have biases"));
    config_ignore(config, "max_position_embeddings");
    if (shape->ffn % 2 != 0) {
        return config_error(config, "intermediate_size",
                            "found %llu, accepted an even number, twice the width of the MLP",
                            (unsigned long long)shape->ffn);
    }
    shape->ffn /= 2;
    return status_ok();
}

struct status adapt_qwen2(struct shape *shape, struct config *config)
{
    // What the reference implementation does not read: sparse attention beyond a million tokens.
    config_ignore(config, "dual_chunk_attention_config");
    return qwen_window(shape, config);
}

struct status adapt_qwen3(struct shape *shape, struct config *config)
{
    shape->qk_norm = SHAPE_QK_SHARED;
    return qwen_window(shape, config);
}

struct status adapt_gemma2(struct shape *shape, struct config *config)
{
    return adapt_window_pattern(shape, config, 4096, 2);
}

struct status adapt_gemma3(struct shape *shape, struct config *config)
{
    shape->qk_norm = SHAPE_QK_SHARED;
    TRY(config_expect_bool(config, "use_bidirectional_attention", false,
                           "only decoders are understood"));
    return adapt_window_pattern(shape, config, 4096, 6);
}

static struct status qk_norm_if(struct shape *shape, struct config *config, const char *key,
                                enum shape_qk_norm norm, enum shape_norm kind)
{
    bool normed = false;
    TRY(config_bool(&normed, config, key, false));
    if (normed) {
        shape->qk_norm = norm;
        shape->qk_norm_kind = kind;
    }
    return status_ok();
}

struct status adapt_cohere(struct shape *shape, struct config *config)
{
    return qk_norm_if(shape, config, "use_qk_norm", SHAPE_QK_PER_HEAD, SHAPE_LAYER_NO_BIAS);
}

struct status adapt_cohere2(struct shape *shape, struct config *config)
{
    uint64_t period = 0; // older configs: layer_switch
    config_ignore(config, "order_of_interleaved_layers|position_embedding_type|"
                          "use_parallel_embedding|use_embedding_sharing");
    TRY(config_uint_not_null(&period, config, "layer_switch", 4, 1, MODEL_LAYERS_MAX));
    TRY(config_expect_bool(config, "use_gated_activation", true, "the MLP is gated"));
    TRY(config_expect_bool(config, "use_parallel_block", true, "the block is parallel"));
    TRY(config_expect_bool(config, "use_qk_norm", false, "norms of queries and keys"));
    return adapt_window_pattern(shape, config, 4096, period);
}

struct status adapt_phi(struct shape *shape, struct config *config)
{
    return qk_norm_if(shape, config, "qk_layernorm", SHAPE_QK_SHARED, SHAPE_LAYER);
}

struct status adapt_stablelm(struct shape *shape, struct config *config)
{
    bool parallel = false;
    TRY(config_bool(&parallel, config, "use_parallel_residual", false));
    shape->norms_per_layer = parallel ? 1 : 2;
    return qk_norm_if(shape, config, "qk_layernorm", SHAPE_QK_PER_HEAD, SHAPE_LAYER_NO_BIAS);
}

struct status adapt_olmo2(struct shape *shape, struct config *config)
{
    (void)config;
    shape->qk_norm = SHAPE_QK_PER_HEAD;
    return status_ok();
}

struct status adapt_olmo3(struct shape *shape, struct config *config)
{
    shape->qk_norm = SHAPE_QK_PER_HEAD;
    return adapt_window_pattern(shape, config, 4096, 4);
}

// Layers without rotary embedding (no_rope_layers) change no weight and no product.
struct status adapt_smollm3(struct shape *shape, struct config *config)
{
    bool used = false;
    config_ignore(config, "no_rope_layers|no_rope_layer_interval|max_window_layers");
    TRY(config_bool(&used, config, "use_sliding_window", false));
    if (!used) {
        bool listed = false;
        config_ignore(config, "sliding_window");
        return adapt_layer_types(&listed, shape, config);
    }
    return adapt_window_all(shape, config, 0);
}
