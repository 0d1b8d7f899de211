#include "workloads/family_adapt.h"

#include <string.h>

// Families from before the Llama shape, and ChatGLM.

// n_inner: null or absent means 4 d.
static struct status read_inner(struct shape *shape, struct config *config, const char *name)
{
    return config_uint(&shape->ffn, config, name, 4 * shape->d, 1, MODEL_DIM_MAX);
}

static struct status learned_positions(struct shape *shape, struct config *config)
{
    if (shape->context == 0) {
        return config_error(config, "n_positions|max_position_embeddings",
                            "found nothing, accepted the number of learned positions");
    }
    shape->position_rows = shape->context;
    return status_ok();
}

struct status adapt_gpt2(struct shape *shape, struct config *config)
{
    char type[32]; // SantaCoder: GPT-2 with one KV head, published as model_type gpt2
    TRY(config_text(type, sizeof type, config, "attention_head_type"));
    TRY(config_expect_text(config, "attention_head_type", "multihead|multiquery"));
    shape->kv_heads = strcmp(type, "multiquery") == 0 ? 1 : shape->heads;
    TRY(read_inner(shape, config, "n_inner"));
    return learned_positions(shape, config);
}

struct status adapt_gptj(struct shape *shape, struct config *config)
{
    TRY(config_uint(&shape->rope_dim, config, "rotary_dim", 64, 1, shape->head_dim));
    return read_inner(shape, config, "n_inner");
}

// Phi-1.5 and Phi-2 as first published: the shape of phi under GPT-2's names.
struct status adapt_phi_msft(struct shape *shape, struct config *config)
{
    TRY(config_uint_not_null(&shape->rope_dim, config, "rotary_dim", 32, 1, shape->head_dim));
    TRY(config_uint(&shape->kv_heads, config, "n_head_kv", shape->heads, 1, shape->heads));
    return read_inner(shape, config, "n_inner");
}

struct status adapt_gpt_bigcode(struct shape *shape, struct config *config)
{
    bool multi_query = true;
    config_ignore(config, "attention_softmax_in_fp32|scale_attention_softmax_in_fp32");
    TRY(config_bool(&multi_query, config, "multi_query", true));
    TRY(config_expect_text(config, "attention_head_type",
                           multi_query ? "multiquery" : "multihead"));
    shape->kv_heads = multi_query ? 1 : shape->heads;
    TRY(read_inner(shape, config, "n_inner"));
    return learned_positions(shape, config);
}

// Local and global attention in turn, or as attention_layers says.
struct status adapt_gpt_neo(struct shape *shape, struct config *config)
{
    static const char *const words[] = {"global", "local"};
    bool listed = false;
    config_ignore(config, "attention_types|embed_dropout");
    TRY(read_inner(shape, config, "intermediate_size"));
    TRY(config_uint_not_null(&shape->window, config, "window_size", 256, 1, UINT32_MAX));
    TRY(config_word_list(shape->windowed, &listed, shape->layers, config, "attention_layers", words,
                         2));
    if (!listed && config_has(config, "attention_types")) {
        return config_error(config, "attention_types",
                            "found no attention_layers beside it, accepted one 'global' or "
                            "'local' for each layer");
    }
    for (uint64_t i = 0; !listed && i < shape->layers; i++) {
        shape->windowed[i] = i % 2 == 1;
    }
    return learned_positions(shape, config);
}

struct status adapt_gpt_neox(struct shape *shape, struct config *config)
{
    config_ignore(config, "use_parallel_residual"); // two norms either way
    (void)shape;
    return status_ok();
}

struct status adapt_opt(struct shape *shape, struct config *config)
{
    bool norm_first = true;
    bool no_final_norm = false;
    bool affine = true;
    config_ignore(config, "learned_embeddings|scale_embeddings"); // Galactica: what OPT does anyway
    TRY(config_bool(&norm_first, config, "do_layer_norm_before", true));
    TRY(config_bool(&no_final_norm, config, "_remove_final_layer_norm", false));
    TRY(config_bool(&affine, config, "layer_norm_elementwise_affine", true));
    TRY(config_uint(&shape->embedding_width, config, "word_embed_proj_dim", shape->d, 1,
                    MODEL_DIM_MAX));
    if (!affine) {
        shape->norm = SHAPE_LAYER_BARE;
    }
    shape->final_norm = norm_first && !no_final_norm;
    TRY(learned_positions(shape, config));
    shape->position_rows = shape->context + 2; // OPTLearnedPositionalEmbedding: offset 2
    return status_ok();
}

struct status adapt_bloom(struct shape *shape, struct config *config)
{
    shape->embedding_norm = true;
    return read_inner(shape, config, "n_inner");
}

// MPT's attn_config: kinds of attention and what of it is not understood.
static struct status mpt_attention(struct shape *shape, struct config *config)
{
    struct config *attention = NULL;
    TRY(config_object(&attention, config, "attn_config"));
    if (attention == NULL) {
        return status_ok();
    }
    char type[40];
    config_ignore(attention, "attn_impl|attn_pdrop|softmax_scale|prefix_lm|clip_qkv|alibi_bias_max|"
                             "attn_uses_sequence_id|model_type");
    TRY(config_text(type, sizeof type, attention, "attn_type"));
    TRY(config_expect_bool(attention, "alibi", true, "learned positions are not understood"));
    TRY(config_expect_bool(attention, "qk_ln", false,
                           "norms of queries and keys are not understood"));
    TRY(config_expect_bool(attention, "qk_gn", false,
                           "norms of queries and keys are not understood"));
    TRY(config_expect_bool(attention, "rope", false, "rotary MPT is not understood"));
    TRY(config_expect_text(attention, "attn_type",
                           "multihead_attention|multiquery_attention|grouped_query_attention"));
    if (strcmp(type, "multiquery_attention") == 0) {
        shape->kv_heads = 1;
    } else if (strcmp(type, "grouped_query_attention") == 0) {
        TRY(config_uint(&shape->kv_heads, attention, "kv_n_heads", CONFIG_REQUIRED, 1,
                        shape->heads));
    }
    return status_ok();
}

static struct status mpt_ffn(struct config *config)
{
    struct config *ffn = NULL;
    TRY(config_object(&ffn, config, "ffn_config"));
    if (ffn == NULL) {
        return status_ok();
    }
    return config_expect_text(ffn, "ffn_type", "mptmlp");
}

struct status adapt_mpt(struct shape *shape, struct config *config)
{
    double ratio = 4;
    char norm[40];
    config_ignore(config, "learned_pos_emb|embedding_fraction|use_pad_tok_in_ffn|init_config");
    TRY(config_text(norm, sizeof norm, config, "norm_type"));
    if (strstr(norm, "rmsnorm") != NULL) {
        shape->norm = SHAPE_RMS;
    }
    TRY(config_expect_bool(config, "no_bias", true, "the reference has no MPT with biases"));
    TRY(config_real(&ratio, config, "expansion_ratio", 4));
    double width = ratio * (double)shape->d;
    if (width < 1 || width > (double)MODEL_DIM_MAX) {
        return config_error(config, "expansion_ratio",
                            "found %g, accepted a ratio that gives an MLP width of 1..%llu", ratio,
                            (unsigned long long)MODEL_DIM_MAX);
    }
    shape->ffn = (uint64_t)width;
    TRY(mpt_ffn(config));
    return mpt_attention(shape, config);
}

// OLMo's own format: a gated MLP whose two input matrices are one of mlp_hidden_size rows, or of
// mlp_ratio d; vocabulary rows in embedding_size.
static struct status hf_olmo_mlp(struct shape *shape, struct config *config)
{
    uint64_t ratio = 0;
    uint64_t rows = 0;
    TRY(config_expect_text(config, "activation_type", "swiglu"));
    TRY(config_uint_not_null(&ratio, config, "mlp_ratio", 4, 1, MODEL_DIM_MAX));
    TRY(config_uint(&rows, config, "mlp_hidden_size", ratio * shape->d, 2, 2 * MODEL_DIM_MAX));
    if (rows % 2 != 0) {
        return config_error(config, "mlp_hidden_size",
                            "found %llu, accepted an even number, twice the width of the MLP",
                            (unsigned long long)rows);
    }
    shape->ffn = rows / 2;
    return status_ok();
}

struct status adapt_hf_olmo(struct shape *shape, struct config *config)
{
    bool multi_query = false;
    static const char *const off[] = {"alibi",
                                      "attention_layer_norm",
                                      "include_bias",
                                      "bias_for_layer_norm",
                                      "layer_norm_with_affine",
                                      "attention_layer_norm_with_affine"};
    config_ignore(config, "block_group_size|alibi_bias_max");
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        TRY(config_expect_bool(config, off[i], false, "no OLMo that was published has it"));
    }
    TRY(config_expect_bool(config, "rope", true, "learned positions are not understood"));
    TRY(config_expect_text(config, "layer_norm_type", "default"));
    TRY(config_expect_text(config, "block_type", "sequential"));
    TRY(config_bool(&multi_query, config, "multi_query_attention", false));
    TRY(config_uint(&shape->kv_heads, config, "n_kv_heads", multi_query ? 1 : shape->heads, 1,
                    shape->heads));
    TRY(config_bool(&shape->tied, config, "weight_tying", true));
    TRY(config_uint(&shape->vocab, config, "embedding_size", shape->vocab, shape->vocab,
                    MODEL_DIM_MAX));
    return hf_olmo_mlp(shape, config);
}

struct status adapt_exaone(struct shape *shape, struct config *config)
{
    return read_inner(shape, config, "intermediate_size");
}

// Number of norms of a Falcon layer: the sequential block has two; the parallel one has what
// num_ln_in_parallel_attn says, by default two in the new architecture and one in the old.
static struct status falcon_norms(struct shape *shape, struct config *config, bool new_decoder)
{
    bool parallel = true;
    uint64_t norms = 0;
    TRY(config_bool(&parallel, config, "parallel_attn", true));
    TRY(config_uint(&norms, config, "num_ln_in_parallel_attn", new_decoder ? 2 : 1, 1, 2));
    shape->norms_per_layer = parallel ? norms : 2;
    return status_ok();
}

struct status adapt_falcon(struct shape *shape, struct config *config)
{
    bool alibi = false;
    bool multi_query = true;
    bool legacy_new = config_has(config, "n_head_kv");
    bool new_decoder = legacy_new;
    uint64_t kv_heads = 0;
    TRY(config_bool(&alibi, config, "alibi", false));
    TRY(config_bool(&multi_query, config, "multi_query", true));
    TRY(config_bool(&new_decoder, config, "new_decoder_architecture", legacy_new));
    TRY(config_uint(&kv_heads, config, "num_kv_heads|n_head_kv", shape->heads, 1, shape->heads));
    shape->kv_heads = new_decoder || !multi_query ? kv_heads : 1;
    if (shape->heads % shape->kv_heads != 0) {
        return config_error(config, "num_kv_heads",
                            "found %llu KV heads, accepted a divisor of the %llu heads",
                            (unsigned long long)shape->kv_heads, (unsigned long long)shape->heads);
    }
    if (alibi) {
        shape->rope_dim = 0;
    }
    TRY(read_inner(shape, config, "ffn_hidden_size"));
    return falcon_norms(shape, config, new_decoder);
}

// ChatGLM-6B: LayerNorm, biases, an MLP of two matrices, the head tied.
static struct status chatglm_first(struct shape *shape, struct config *config)
{
    config_ignore(config, "position_encoding_2d|pre_seq_len|prefix_projection|quantization_bit");
    shape->norm = SHAPE_LAYER;
    shape->gated = false;
    shape->qkv_bias = shape->out_bias = shape->mlp_bias = true;
    return config_bool(&shape->tied, config, "tie_word_embeddings", true);
}

struct status adapt_chatglm(struct shape *shape, struct config *config)
{
    bool biases = false;
    bool qkv_bias = false;
    bool multi_query = false;
    bool rms = true;
    bool final_norm = true;
    if (config_has(config, "inner_hidden_size")) {
        return chatglm_first(shape, config);
    }
    config_ignore(config, "original_rope|num_layers|fp32_residual_connection");
    TRY(config_bool(&biases, config, "add_bias_linear", false));
    TRY(config_bool(&qkv_bias, config, "add_qkv_bias", false));
    TRY(config_bool(&multi_query, config, "multi_query_attention", false));
    TRY(config_bool(&rms, config, "rmsnorm", true));
    TRY(config_bool(&final_norm, config, "post_layer_norm", true));
    TRY(config_uint_not_null(&shape->head_dim, config, "kv_channels", 128, 1, MODEL_DIM_MAX));
    uint64_t groups = 0;
    TRY(config_uint_not_null(&groups, config, "multi_query_group_num", 1, 1, shape->heads));
    shape->kv_heads = multi_query ? groups : shape->heads;
    shape->rope_dim = shape->head_dim / 2;
    shape->qkv_bias = qkv_bias || biases;
    shape->out_bias = shape->mlp_bias = biases;
    shape->norm = rms ? SHAPE_RMS : SHAPE_LAYER;
    shape->final_norm = final_norm;
    return status_ok();
}
