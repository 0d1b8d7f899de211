#include "workloads/config_keys.h"
#include "workloads/config_tree_json.h"

#include <string.h>

// Parts of names that speak of the shape. A key that nobody asked for, that has one of them in its
// name and a value that switches something on is refused: a guess is worse than no answer.
static const char *const shape_words[] = {
    "adapter",   "altup",    "bias",   "block",    "chunk",   "compress", "conv",   "cross",
    "dense",     "depth",    "dim",    "embed",    "expert",  "ffn",      "group",  "head",
    "hidden",    "inner",    "inter",  "kv",       "latent",  "laurel",   "layer",  "linear",
    "lora",      "low_rank", "mamba",  "memory",   "mlp",     "moe",      "mtp",    "multi_query",
    "n_embd",    "nextn",    "norm",   "parallel", "pattern", "position", "proj",   "rank",
    "recurrent", "residual", "retent", "sconv",    "share",   "sink",     "sparse", "ssm",
    "state",     "tie",      "vision", "audio",    "vocab",   "width",    "window", "shortconv",
};

// Objects that hold a model of their own.
static const char *const model_objects[] = {"text_config", "llm_config", "language_config",
                                            "decoder_config"};

// Known keys of which those words are part and that change no weight and no product: dropout,
// numerics, rotary settings, generation and training options, and the defaults that the reference
// implementation's base class writes (transformers: configuration_utils.py).
static const char *const harmless[] = {
    "aux_loss_alpha",
    "attention_softmax_in_fp32",
    "apply_query_key_layer_scaling",
    "apply_residual_connection_post_layernorm",
    "attention_multiplier",
    "attn_temperature_tuning",
    "bias_dropout_fusion",
    "chunk_size_feed_forward",
    "clip_qkv",
    "context_window_size",
    "prefill_chunk_size",
    "dim_model_base",
    "embedding_multiplier",
    "encoder_no_repeat_ngram_size",
    "ep_size",
    "fp32_residual_connection",
    "fused_bias_fc",
    "fused_dense",
    "fused_mlp",
    "fused_dropout_add_ln",
    "gradient_checkpointing_group",
    "hidden_act",
    "hidden_activation",
    "hidden_dropout",
    "hidden_dropout_prob",
    "init_std",
    "initializer_range",
    "layerdrop",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "layernorm_epsilon",
    "logit_scale",
    "logits_scaling",
    "masked_softmax_fusion",
    "max_position_embeddings",
    "n_group",
    "norm_eps",
    "norm_epsilon",
    "norm_topk_prob",
    "num_beam_groups",
    "original_max_position_embeddings",
    "output_hidden_states",
    "partial_rotary_factor",
    "position_embedding_base",
    "pretraining_tp",
    "query_pre_attn_scalar",
    "residual_dropout",
    "residual_multiplier",
    "rms_norm_eps",
    "rope_interleave",
    "rotary_interleaved",
    "scale_attn_by_inverse_layer_idx",
    "scale_depth",
    "scale_emb",
    "skip_bias_add",
    "skip_bias_add_qkv",
    "summary_activation",
    "tie_encoder_decoder",
    "tie_word_embeddings",
    "tokenizer_class",
    "topk_group",
    "use_parallel_residual",
    "diversity_penalty",
    "repetition_penalty",
    "length_penalty",
    "interpolate_factor",
    "quantization_bit",
    "pre_seq_len",
    "prefix_projection",
    "original_rope",
    "inference_mode",
    "inter_dropout",
    "use_flash_attention",
    "initializer_cutoff_factor",
    "normalization_function",
    "embedding_initializer_range",
    "mup_width_scale",
    "mup_embedding_multiplier",
    "feed_forward_dropout",
    "norm_type_eps",
    "interleaved",
    "router_dtype",
    "remove_bos_token",
    "no_bias_decay",
    "sep_token_id",
    "eos_token_id",
    "bos_token_id",
    "_attn_implementation_internal",
    "forced_bos_token_id",
    "moe_aux_loss_coeff",
};

// Endings of harmless families of keys.
static const char *const harmless_endings[] = {"dropout",    "_pdrop", "_dropout_prob", "_token_id",
                                               "_coef",      "_eps",   "_epsilon",      "_std",
                                               "_loss_coef", "_alpha", "_noise",        "_tokens"};
static const char *const harmless_beginnings[] = {"rope_",
                                                  "rotary_",
                                                  "summary_",
                                                  "task_",
                                                  "_",
                                                  "auto_",
                                                  "initializer",
                                                  "quantization_config",
                                                  "compression_config",
                                                  "sparsity_config",
                                                  "transformers"};

static bool contains_any(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(name, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (strcmp(name, harmless[i]) == 0) {
            return true;
        }
    }
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof harmless_endings / sizeof *harmless_endings; i++) {
        size_t n = strlen(harmless_endings[i]);
        if (length >= n && strcmp(name + length - n, harmless_endings[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof harmless_beginnings / sizeof *harmless_beginnings; i++) {
        if (strncmp(name, harmless_beginnings[i], strlen(harmless_beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

// -1 is how several tools write that there is no window.
static bool is_no_window(const char *name, const json_t *value)
{
    return strstr(name, "window") != NULL && json_is_integer(value) &&
           json_integer_value(value) == -1;
}

static bool switches_on(const char *name, const json_t *value)
{
    if (is_no_window(name, value)) {
        return false;
    }
    if (json_is_null(value) || json_is_false(value)) {
        return false;
    }
    if (json_is_number(value)) {
        return json_number_value(value) < 0 || json_number_value(value) > 0;
    }
    if (json_is_string(value)) {
        return json_string_length(value) > 0;
    }
    return json_is_true(value) || json_array_size(value) > 0 || json_object_size(value) > 0;
}

static bool was_asked_for(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->seen_count; i++) {
        if (config_name_matches(config->seen[i], name)) {
            return true;
        }
    }
    return false;
}

static bool repeats_known(const char *name, const json_t *value,
                          const struct config_synonym *synonyms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(synonyms[i].name, name) == 0) {
            return json_is_integer(value) && json_integer_value(value) >= 0 &&
                   (uint64_t)json_integer_value(value) == synonyms[i].value;
        }
    }
    return false;
}

struct status config_refuse_unknown(const struct config *config, const char *family,
                                    const struct config_synonym *synonyms, size_t count)
{
    json_t *object = config->object;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        bool shapes =
            contains_any(name, shape_words, sizeof shape_words / sizeof *shape_words) ||
            contains_any(name, model_objects, sizeof model_objects / sizeof *model_objects);
        if (!shapes || !switches_on(name, value) || is_harmless(name) ||
            was_asked_for(config, name) || repeats_known(name, value, synonyms, count)) {
            continue;
        }
        char found[80];
        config_describe(found, sizeof found, value);
        return config_error(config, name,
                            "found %s, accepted no such key: it may change the shape and is not "
                            "understood for model_type '%s'",
                            found, family);
    }
    for (size_t i = 0; i < config->child_count; i++) {
        TRY(config_refuse_unknown(config->children[i], family, NULL, 0));
    }
    return status_ok();
}
