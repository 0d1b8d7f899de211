#include "workloads/gguf_shape.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_TEXT = 96 };

// The key `<architecture>.<suffix>`, or NULL if the file has none.
static const struct gguf_value *find(const struct gguf *gguf, const struct gguf_shape *shape,
                                     const char *suffix)
{
    char key[KEY_TEXT];
    (void)snprintf(key, sizeof key, "%s.%s", shape->architecture->name, suffix);
    return gguf_find_value(gguf, key);
}

static struct status check_range(uint64_t found, uint64_t low, uint64_t high, const char *key)
{
    if (found < low || found > high) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': found %" PRIu64 ", accepted %" PRIu64 " to %" PRIu64, key,
                            found, low, high);
    }
    return status_ok();
}

// A number of low..high; *out keeps its value if the key is absent.
static struct status optional(uint64_t *out, const struct gguf *gguf,
                              const struct gguf_shape *shape, const char *suffix, uint64_t low,
                              uint64_t high)
{
    const struct gguf_value *value = find(gguf, shape, suffix);
    if (value == NULL) {
        return status_ok();
    }
    TRY(gguf_value_uint(out, value));
    return check_range(*out, low, high, value->key);
}

static struct status dimension(uint64_t *out, const struct gguf *gguf,
                               const struct gguf_shape *shape, const char *suffix)
{
    return optional(out, gguf, shape, suffix, 1, MODEL_DIM_MAX);
}

static struct status missing(const struct gguf_shape *shape, const char *suffix)
{
    return status_error(STATUS_INVALID,
                        "key '%s.%s' is missing: found nothing, accepted an integer",
                        shape->architecture->name, suffix);
}

// One value for all layers, or an array with one for each (the multi-token-prediction layers too).
static struct status per_layer(bool *told, uint64_t *out, struct gguf *gguf,
                               const struct gguf_shape *shape, const char *suffix)
{
    const struct gguf_value *value = find(gguf, shape, suffix);
    *told = value != NULL;
    if (value == NULL) {
        return status_ok();
    }
    uint32_t layers = shape->layers + shape->mtp_layers;
    if (value->type == GGUF_ARRAY) {
        TRY(gguf_value_uints(out, layers, gguf, value));
        for (uint32_t i = 0; i < layers; i++) {
            TRY(check_range(out[i], 0, MODEL_DIM_MAX, value->key));
        }
        return status_ok();
    }
    uint64_t all = 0;
    TRY(optional(&all, gguf, shape, suffix, 0, MODEL_DIM_MAX));
    for (uint32_t i = 0; i < layers; i++) {
        out[i] = all;
    }
    return status_ok();
}

static struct status check_kind(struct gguf *gguf)
{
    const struct gguf_value *value = gguf_find_value(gguf, "general.type");
    if (value == NULL) {
        return status_ok();
    }
    char kind[GGUF_SHOWN];
    TRY(gguf_value_text(kind, sizeof kind, gguf, value));
    if (strcmp(kind, "model") != 0) {
        return status_error(STATUS_INVALID,
                            "key 'general.type': found '%s', accepted 'model'; an "
                            "adapter, projector or imatrix is no language model",
                            kind);
    }
    return status_ok();
}

static struct status read_architecture(struct gguf_shape *out, struct gguf *gguf)
{
    TRY(check_kind(gguf));
    const struct gguf_value *value = gguf_find_value(gguf, "general.architecture");
    if (value == NULL) {
        return status_error(
            STATUS_INVALID,
            "key 'general.architecture' is missing: found nothing, accepted the name of a "
            "decoder-only architecture");
    }
    char name[GGUF_SHOWN];
    TRY(gguf_value_text(name, sizeof name, gguf, value));
    out->architecture = value->count < sizeof name ? gguf_architecture_find(name) : NULL;
    if (out->architecture == NULL) {
        return status_error(STATUS_INVALID,
                            "key 'general.architecture': found '%s', accepted "
                            "decoder-only transformers such as llama, qwen2, qwen3moe, gemma3, "
                            "phi3, deepseek2, gpt-oss",
                            name);
    }
    return status_ok();
}

static struct status read_layers(struct gguf_shape *out, const struct gguf *gguf)
{
    uint64_t layers = 0;
    uint64_t mtp = 0;
    TRY(optional(&layers, gguf, out, "block_count", 1, MODEL_LAYERS_MAX));
    TRY(dimension(&out->d, gguf, out, "embedding_length"));
    if (layers == 0 || out->d == 0) {
        return missing(out, layers == 0 ? "block_count" : "embedding_length");
    }
    TRY(optional(&mtp, gguf, out, "nextn_predict_layers", 0, layers - 1));
    out->layers = (uint32_t)(layers - mtp);
    out->mtp_layers = (uint32_t)mtp;
    return optional(&out->trained_context, gguf, out, "context_length", 1, (uint64_t)1 << 40);
}

static struct status check_heads(const struct gguf_shape *shape, uint32_t layer)
{
    uint64_t heads = shape->heads[layer];
    uint64_t kv_heads = shape->kv_heads[layer];
    bool without = heads == 0 ? kv_heads == 0 : kv_heads == 0 && shape->architecture->linear_layers;
    if (without || (heads > 0 && kv_heads > 0 && heads % kv_heads == 0)) {
        return status_ok();
    }
    return status_error(STATUS_INVALID,
                        "layer %" PRIu32 " has %" PRIu64 " heads and %" PRIu64
                        " KV heads, accepted a multiple of the KV heads",
                        layer, heads, kv_heads);
}

static struct status read_heads(struct gguf_shape *out, struct gguf *gguf)
{
    bool told = false;
    TRY(per_layer(&told, out->heads, gguf, out, "attention.head_count"));
    if (!told) {
        return missing(out, "attention.head_count");
    }
    memcpy(out->kv_heads, out->heads, sizeof out->heads);
    TRY(per_layer(&told, out->kv_heads, gguf, out, "attention.head_count_kv"));
    for (uint32_t i = 0; i < out->layers; i++) {
        TRY(check_heads(out, i));
    }
    return per_layer(&out->ff_told, out->ff, gguf, out, "feed_forward_length");
}

static uint64_t most_heads(const struct gguf_shape *shape)
{
    uint64_t most = 1;
    for (uint32_t i = 0; i < shape->layers; i++) {
        most = shape->heads[i] > most ? shape->heads[i] : most;
    }
    return most;
}

// Head sizes: absent ones are d / h_q; layers with a window may have their own.
static struct status read_head_sizes(struct gguf_shape *out, const struct gguf *gguf)
{
    uint64_t heads = most_heads(out);
    TRY(dimension(&out->k, gguf, out, "attention.key_length"));
    if (out->k == 0) {
        if (out->d % heads != 0) {
            return status_error(STATUS_INVALID,
                                "embedding_length %" PRIu64 " is no multiple of "
                                "head_count %" PRIu64 ", and attention.key_length is missing",
                                out->d, heads);
        }
        out->k = out->d / heads;
    }
    out->v = out->d % heads == 0 ? out->d / heads : out->k;
    TRY(dimension(&out->v, gguf, out, "attention.value_length"));
    TRY(dimension(&out->k, gguf, out, "attention.key_length_mla"));
    TRY(dimension(&out->v, gguf, out, "attention.value_length_mla"));
    out->k_window = out->k;
    out->v_window = out->v;
    TRY(dimension(&out->k_window, gguf, out, "attention.key_length_swa"));
    return dimension(&out->v_window, gguf, out, "attention.value_length_swa");
}

// Baichuan-13B, the one of its family with 40 layers, has ALiBi: llama.cpp tells it so, too.
static bool has_rope(const struct gguf_shape *shape)
{
    return !shape->architecture->no_rope &&
           !(strcmp(shape->architecture->name, "baichuan") == 0 && shape->layers == 40);
}

static struct status read_latent(struct gguf_shape *out, const struct gguf *gguf)
{
    TRY(dimension(&out->kv_rank, gguf, out, "attention.kv_lora_rank"));
    TRY(dimension(&out->q_rank, gguf, out, "attention.q_lora_rank"));
    out->rope_dim = out->kv_rank > 0 ? 0 : out->k;
    TRY(optional(&out->rope_dim, gguf, out, "rope.dimension_count", 0, MODEL_DIM_MAX));
    if (out->kv_rank > 0 && (out->rope_dim == 0 || out->rope_dim >= out->k)) {
        return status_error(STATUS_INVALID,
                            "key '%s.rope.dimension_count': found %" PRIu64
                            ", accepted 1 to less than the head's %" PRIu64,
                            out->architecture->name, out->rope_dim, out->k);
    }
    if (out->kv_rank == 0 && out->rope_dim > out->k) {
        return status_error(STATUS_INVALID,
                            "key '%s.rope.dimension_count': found %" PRIu64
                            ", accepted at most the head's %" PRIu64,
                            out->architecture->name, out->rope_dim, out->k);
    }
    out->rope_dim = has_rope(out) ? out->rope_dim : 0;
    uint64_t shared = 0;
    TRY(optional(&shared, gguf, out, "attention.shared_kv_layers", 0, MODEL_LAYERS_MAX));
    if (shared > 0) {
        return status_error(STATUS_INVALID,
                            "key '%s.attention.shared_kv_layers': found %" PRIu64
                            ", accepted 0: layers that reuse another's cache are not understood",
                            out->architecture->name, shared);
    }
    return status_ok();
}

static void apply_period(struct gguf_shape *out, uint64_t period)
{
    bool first = out->architecture->window_global_first;
    for (uint32_t i = 0; i < out->layers; i++) {
        out->windowed[i] = period == 0 || i % period != (first ? 0 : period - 1);
    }
}

static struct status read_windows(struct gguf_shape *out, struct gguf *gguf)
{
    out->window = out->architecture->window;
    TRY(optional(&out->window, gguf, out, "attention.sliding_window", 0, (uint64_t)1 << 40));
    if (out->window == 0) {
        return status_ok();
    }
    apply_period(out, out->architecture->window_period);
    const struct gguf_value *pattern = find(gguf, out, "attention.sliding_window_pattern");
    if (pattern == NULL) {
        return status_ok();
    }
    if (pattern->type != GGUF_ARRAY) {
        uint64_t period = 0;
        TRY(gguf_value_uint(&period, pattern));
        apply_period(out, period);
        return status_ok();
    }
    uint64_t flags[MODEL_LAYERS_MAX];
    TRY(gguf_value_uints(flags, out->layers + out->mtp_layers, gguf, pattern));
    for (uint32_t i = 0; i < out->layers; i++) {
        TRY(check_range(flags[i], 0, 1, pattern->key));
        out->windowed[i] = flags[i] != 0;
    }
    return status_ok();
}

static struct status read_experts(struct gguf_shape *out, const struct gguf *gguf)
{
    TRY(optional(&out->experts, gguf, out, "expert_count", 0, MODEL_DIM_MAX));
    TRY(optional(&out->experts_used, gguf, out, "expert_used_count", 0, MODEL_DIM_MAX));
    if (out->experts > 0 && (out->experts_used == 0 || out->experts_used > out->experts)) {
        return status_error(STATUS_INVALID,
                            "key '%s.expert_used_count': found %" PRIu64
                            ", accepted 1 to expert_count %" PRIu64,
                            out->architecture->name, out->experts_used, out->experts);
    }
    TRY(optional(&out->expert_ff, gguf, out, "expert_feed_forward_length", 0, MODEL_DIM_MAX));
    TRY(optional(&out->shared_count, gguf, out, "expert_shared_count", 0, MODEL_DIM_MAX));
    TRY(optional(&out->shared_ff, gguf, out, "expert_shared_feed_forward_length", 0,
                 MODEL_DIM_MAX));
    return optional(&out->leading_dense, gguf, out, "leading_dense_block_count", 0, out->layers);
}

static struct status read_vocabulary(struct gguf_shape *out, const struct gguf *gguf)
{
    const struct gguf_value *tokens = gguf_find_value(gguf, "tokenizer.ggml.tokens");
    if (tokens != NULL) {
        if (tokens->type != GGUF_ARRAY || tokens->element != GGUF_STRING) {
            char found[GGUF_SHOWN];
            return status_error(STATUS_INVALID, "key '%s': found %s, accepted array of string",
                                tokens->key, gguf_value_type_text(found, tokens));
        }
        out->vocab = tokens->count;
    }
    return dimension(&out->vocab, gguf, out, "vocab_size");
}

// Which of the two there is tells the kind of norm.
static struct status has_epsilon(bool *out, const struct gguf *gguf, const struct gguf_shape *shape,
                                 const char *suffix)
{
    const struct gguf_value *value = find(gguf, shape, suffix);
    *out = value != NULL;
    if (value != NULL && value->type != GGUF_FLOAT32 && value->type != GGUF_FLOAT64) {
        char found[GGUF_SHOWN];
        return status_error(STATUS_INVALID, "key '%.80s': found %s, accepted float32 or float64",
                            value->key, gguf_value_type_text(found, value));
    }
    return status_ok();
}

struct status gguf_read_shape(struct gguf_shape *out, struct gguf *gguf)
{
    memset(out, 0, sizeof *out);
    TRY(read_architecture(out, gguf));
    assert(out->architecture != NULL);
    TRY(read_layers(out, gguf));
    TRY(read_heads(out, gguf));
    TRY(read_head_sizes(out, gguf));
    TRY(read_latent(out, gguf));
    TRY(read_windows(out, gguf));
    TRY(read_experts(out, gguf));
    TRY(read_vocabulary(out, gguf));
    unsigned divisor = out->architecture->ff_divisor;
    for (uint32_t i = 0; divisor > 1 && i < out->layers; i++) {
        out->ff[i] /= divisor;
    }
    bool layer_norm = false;
    bool rms_norm = false;
    TRY(has_epsilon(&layer_norm, gguf, out, "attention.layer_norm_epsilon"));
    TRY(has_epsilon(&rms_norm, gguf, out, "attention.layer_norm_rms_epsilon"));
    out->layer_norm = layer_norm && !rms_norm;
    return status_ok();
}
