#include "workloads/config_json.h"

#include "workloads/config_keys.h"
#include "workloads/config_tree_json.h"
#include "workloads/families.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct status find_family(const struct family **out, struct config *config)
{
    char type[64];
    TRY(config_text(type, sizeof type, config, "model_type"));
    if (type[0] == '\0') {
        return config_error(config, "model_type",
                            "found nothing, accepted a family of 'lmroof model --list'");
    }
    *out = family_find(type);
    if (*out == NULL) {
        char printable[sizeof type];
        config_printable(printable, sizeof printable, type);
        return config_error(config, "model_type",
                            "found '%s', which is not understood; accepted: the families of "
                            "'lmroof model --list'",
                            printable);
    }
    return status_ok();
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

// Classes that end so have a language model's head.
static const char language_models[] = "ForCausalLM, LMHeadModel or LMHeadCustomModel";

static bool is_language_model(const char *name, const char *family)
{
    bool conditional = strcmp(family, "gemma3_text") == 0 || strcmp(family, "llama4_text") == 0 ||
                       strcmp(family, "chatglm") == 0;
    return ends_with(name, "ForCausalLM") || ends_with(name, "LMHeadModel") ||
           ends_with(name, "LMHeadCustomModel") ||
           (conditional && ends_with(name, "ForConditionalGeneration")) ||
           (strcmp(family, "chatglm") == 0 && ends_with(name, "ChatGLMModel"));
}

// A head for classification or a bare body stores other matrices than a language model. A body
// whose head would be its embedding is the same weights.
static struct status check_architectures(struct config *config, const struct family *family)
{
    config_ignore(config, "architectures");
    const json_t *list = json_object_get(config->object, "architectures");
    if (list == NULL || json_is_null(list)) {
        return status_ok();
    }
    const char *name = json_string_value(json_array_get(list, 0));
    if (!json_is_array(list) || (name == NULL && json_array_size(list) > 0)) {
        char found[80];
        config_describe(found, sizeof found, json_is_array(list) ? json_array_get(list, 0) : list);
        return config_error(config, "architectures", "found %s, accepted a list of class names",
                            found);
    }
    bool tied = false;
    TRY(config_bool(&tied, config, "tie_word_embeddings", family->tied));
    if (name == NULL || is_language_model(name, family->model_types) ||
        (tied && ends_with(name, "Model"))) {
        return status_ok();
    }
    char printable[64];
    config_printable(printable, sizeof printable, name);
    return config_error(config, "architectures",
                        "found '%s', accepted a class with a language model's head, ending in %s",
                        printable, language_models);
}

static struct status refuse_variants(struct config *config, const struct family *family)
{
    TRY(check_architectures(config, family));
    TRY(config_expect_bool(config, "is_encoder_decoder", false, "only decoders are understood"));
    TRY(config_expect_bool(config, "add_cross_attention", false,
                           "cross-attention is not understood"));
    return status_ok();
}

// The dtype of the file; bf16 with a note where it has none (contract: Definitions).
static struct status read_dtype(enum dtype_id *out, struct model *model, struct config *config)
{
    char text[32];
    char newer[32];
    TRY(config_text(text, sizeof text, config, "torch_dtype"));
    TRY(config_text(newer, sizeof newer, config, "dtype"));
    const char *name = newer[0] != '\0' ? newer : text;
    if (newer[0] != '\0' && text[0] != '\0' && dtype_find(newer) != dtype_find(text)) {
        return config_error(config, "dtype",
                            "found '%s', accepted the type of torch_dtype, which means the same",
                            dtype_find(newer) < DTYPE_COUNT ? newer : "another type");
    }
    if (name[0] == '\0' || strcmp(name, "auto") == 0) {
        model_add_note(model, "dtype_assumed",
                       "the config names no torch_dtype: weights are taken as bf16");
        *out = DTYPE_BF16;
        return status_ok();
    }
    *out = dtype_find(name);
    if (*out >= DTYPE_COUNT || dtype_get(*out)->use != DTYPE_WEIGHTS) {
        char printable[32];
        config_printable(printable, sizeof printable, name);
        return config_error(config, newer[0] != '\0' ? "dtype" : "torch_dtype",
                            "found '%s', accepted float32, float16, bfloat16, float64, "
                            "float8_e4m3fn, float8_e5m2 or a name that --dtype takes",
                            printable);
    }
    return status_ok();
}

// A quantised checkpoint stores the same weights in fewer bytes; how many depends on a recipe that
// the config only outlines.
static struct status note_recipe(struct model *model, struct config *config, const char *key)
{
    struct config *quantization = NULL;
    TRY(config_object(&quantization, config, key));
    if (quantization == NULL) {
        return status_ok();
    }
    char method[48];
    char printable[48];
    TRY(config_text(method, sizeof method, quantization, "quant_method"));
    config_printable(printable, sizeof printable, method[0] != '\0' ? method : "unnamed");
    model_add_note(model, "quantization_config",
                   "the checkpoint is quantised (quant_method %s); its weights are counted as the "
                   "config's dtype, since the config does not tell which of them are: give --dtype "
                   "or a GGUF for stored sizes",
                   printable);
    config_drop_object(config); // its keys are a recipe, not a shape
    return status_ok();
}

// compression_config is what compressed-tensors wrote before it took the common name.
static struct status note_quantization(struct model *model, struct config *config)
{
    TRY(note_recipe(model, config, "quantization_config"));
    return note_recipe(model, config, "compression_config");
}

// The object that holds the text model, and its family: config itself, or its text_config.
static struct status choose_text(struct config **out, const struct family **family,
                                 struct model *model, struct config *config)
{
    char type[64];
    TRY(config_text(type, sizeof type, config, "model_type"));
    *out = config;
    if (strcmp(type, "gemma3") != 0 && strcmp(type, "llama4") != 0) {
        return find_family(family, config);
    }
    TRY(config_object(out, config, "text_config"));
    if (*out == NULL) {
        return config_error(config, "text_config",
                            "found nothing, accepted the object of the "
                            "text model");
    }
    const char *inner = strcmp(type, "gemma3") == 0 ? "gemma3_text" : "llama4_text";
    *family = family_find(inner);
    TRY(config_expect_text(*out, "model_type", inner));
    model_add_note(model, "text_only",
                   "the model also has parts that are no text decoder (vision); they are not "
                   "counted");
    return status_ok();
}

static struct status refuse_unknown(const struct config *config, const struct shape *shape,
                                    const char *family)
{
    const struct config_synonym synonyms[] = {
        {"hidden_size", shape->d},
        {"n_embd", shape->d},
        {"n_embed", shape->d},
        {"d_model", shape->d},
        {"num_hidden_layers", shape->layers},
        {"num_layers", shape->layers},
        {"n_layer", shape->layers},
        {"n_layers", shape->layers},
        {"num_attention_heads", shape->heads},
        {"num_heads", shape->heads},
        {"n_head", shape->heads},
        {"n_heads", shape->heads},
        {"num_key_value_heads", shape->kv_heads},
        {"num_kv_heads", shape->kv_heads},
        {"n_kv_heads", shape->kv_heads},
        {"n_head_kv", shape->kv_heads},
        {"head_dim", shape->head_dim},
        {"kv_channels", shape->head_dim},
        {"intermediate_size", shape->ffn},
        {"ffn_hidden_size", shape->ffn},
        {"ffn_dim", shape->ffn},
        {"n_inner", shape->ffn},
        {"padded_vocab_size", shape->vocab},
        {"rotary_dim", shape->rope_dim},
        {"sliding_window_size", shape->window},
    };
    return config_refuse_unknown(config, family, synonyms, sizeof synonyms / sizeof *synonyms);
}

static struct status read_text(struct model *out, struct config *config, struct config *text,
                               const struct family *family)
{
    enum dtype_id dtype = DTYPE_NONE;
    struct config *holder = text;
    if (!config_has(text, "torch_dtype|dtype")) {
        holder = config;
    }
    TRY(read_dtype(&dtype, out, holder));
    struct shape *shape = calloc(1, sizeof *shape);
    if (shape == NULL) {
        return status_error(STATUS_SYSTEM, "%s: no memory", config->label);
    }
    struct status status = family_read_shape(shape, text, family);
    if (status_is_ok(status)) {
        status = refuse_unknown(text, shape, out->family);
    }
    if (status_is_ok(status)) {
        status = status_prefix(shape_build(out, shape, dtype), "%s", config->label);
    }
    free(shape);
    return status;
}

static struct status read_object(struct model *out, struct config *config)
{
    struct config *text = NULL;
    const struct family *family = NULL;
    TRY(choose_text(&text, &family, out, config));
    assert(family != NULL && text != NULL);
    TRY(refuse_variants(config, family));
    TRY(note_quantization(out, config));
    if (text != config) {
        TRY(refuse_variants(text, family));
        TRY(note_quantization(out, text));
    }
    size_t length = strcspn(family->model_types, "|");
    (void)snprintf(out->family, sizeof out->family, "%.*s", (int)length, family->model_types);
    return read_text(out, config, text, family);
}

struct status config_read_model(struct model *out, const char *bytes, size_t size,
                                const char *label, const char *name)
{
    memset(out, 0, sizeof *out);
    json_t *root = NULL;
    TRY(config_parse(&root, bytes, size, label));
    struct config config = {.object = root, .label = label, .path = ""};
    config_printable(out->name, sizeof out->name, name);
    out->origin = MODEL_FROM_CONFIG;
    struct status status = read_object(out, &config);
    if (status_is_ok(status)) {
        status = status_prefix(model_check(out), "%s", label);
    }
    config_release(&config);
    json_decref(root);
    if (!status_is_ok(status)) {
        memset(out, 0, sizeof *out);
    }
    return status;
}
