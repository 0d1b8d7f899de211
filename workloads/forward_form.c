#include "workloads/forward_plan.h"

#include <stdio.h>
#include <string.h>

// Read in huggingface/transformers, src/transformers/models/<family>/modeling_*.py: activation
// function by default, whether attention and MLP are parallel, and norms of heads.
static const struct forward_form forms[] = {
    {.families = "llama|Yi", .activation = ELEMENTWISE_SILU},
    {.families = "mistral", .activation = ELEMENTWISE_SILU},
    {.families = "qwen2", .activation = ELEMENTWISE_SILU},
    {.families = "qwen3", .activation = ELEMENTWISE_SILU, .head_norm = true},
    {.families = "phi3", .activation = ELEMENTWISE_SILU},
    {.families = "internlm2", .activation = ELEMENTWISE_SILU},
    {.families = "gemma", .activation = ELEMENTWISE_GELU},
    {.families = "starcoder2", .activation = ELEMENTWISE_GELU},
    {.families = "gpt2", .activation = ELEMENTWISE_GELU},
    {.families = "gpt_bigcode|starcoder", .activation = ELEMENTWISE_GELU},
    {.families = "opt", .activation = ELEMENTWISE_RELU},
    {.families = "gpt_neox|gptneox", .activation = ELEMENTWISE_GELU, .parallel = true},
    {.families = "phi|phi2", .activation = ELEMENTWISE_GELU, .parallel = true, .one_norm = true},
    {.families = "gemma2", .activation = ELEMENTWISE_GELU, .after_norms = true},
    {.families = "gemma3_text|gemma3",
     .activation = ELEMENTWISE_GELU,
     .head_norm = true,
     .after_norms = true},
    {.families = "mixtral", .activation = ELEMENTWISE_SILU, .router = ROUTER_CHOSEN},
    {.families = "qwen2_moe|qwen2moe", .activation = ELEMENTWISE_SILU, .router = ROUTER_ALL},
    {.families = "qwen3_moe|qwen3moe",
     .activation = ELEMENTWISE_SILU,
     .head_norm = true,
     .router = ROUTER_CHOSEN},
    {.families = "granitemoe", .activation = ELEMENTWISE_SILU, .router = ROUTER_CHOSEN},
    {.families = "deepseek|deepseek_v2|deepseek2",
     .activation = ELEMENTWISE_SILU,
     .router = ROUTER_ALL},
    {.families = "deepseek_v3",
     .activation = ELEMENTWISE_SILU,
     .router = ROUTER_SIGMOID,
     .router_scale = 2.5F},
    {.families = "minicpm3", .activation = ELEMENTWISE_SILU},
    {.families = "gpt_oss|gpt-oss", .activation = ELEMENTWISE_CLAMPED, .router = ROUTER_CHOSEN},
    {.families = "gptj", .activation = ELEMENTWISE_GELU, .parallel = true, .one_norm = true},
};

enum { FORMS = sizeof forms / sizeof *forms };

static bool is_one_of(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; length > 0; at++) {
        size_t word = strcspn(at, "|");
        if (word == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += word;
        if (*at == '\0') {
            break;
        }
    }
    return false;
}

const struct forward_form *forward_form_find(const char *family)
{
    for (size_t i = 0; i < FORMS; i++) {
        if (is_one_of(forms[i].families, family)) {
            return &forms[i];
        }
    }
    return NULL;
}

void forward_form_list(char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < FORMS && used < bytes; i++) {
        int n = snprintf(out + used, bytes - used, "%s%.*s", i == 0 ? "" : ", ",
                         (int)strcspn(forms[i].families, "|"), forms[i].families);
        used += n < 0 ? 0 : (size_t)n;
    }
}

static uint64_t rank_of_queries(const struct model_block *block)
{
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        if (block->matrices[i].role == MODEL_Q_A) {
            return block->matrices[i].n;
        }
    }
    return 0;
}

// Whether the values that a layer norms are those of the form; heads: norms of heads are among
// them.
static bool norms_fit(bool *heads, const struct model *model, const struct model_block *block,
                      const struct forward_form *form)
{
    const struct model_attention *a = &block->attention;
    uint64_t norms = form->one_norm ? 1 : form->after_norms ? 4 : 2;
    uint64_t values = norms * model->d;
    if (a->kind == MODEL_ATTENTION_MLA) {
        values += a->kv_rank + rank_of_queries(block);
    }
    *heads = block->norm_values != values;
    return !*heads || block->norm_values == values + (a->heads + a->kv_heads) * a->k_dim;
}

static struct status refuse(const struct model *model, const char *what)
{
    return status_error(STATUS_INVALID,
                        "--step: '%s' has %s, for which this version has no workload; accepted "
                        "are layers of attention and an MLP or experts, or leave out --step",
                        model->name, what);
}

static struct status check_block(const struct model *model, const struct model_block *block,
                                 const struct forward_form *form)
{
    bool heads = false;
    if (block->attention.kind == MODEL_ATTENTION_NONE) {
        return refuse(model, "layers without attention");
    }
    if (block->mlp.experts == 0 && block->mlp.shared_width > 0) {
        return refuse(model, "shared experts without routed ones");
    }
    if (block->attention.chunked) {
        return refuse(model, "attention in chunks");
    }
    if (!norms_fit(&heads, model, block, form) || heads != form->head_norm) {
        return refuse(model, "norms other than its family's usual ones");
    }
    return status_ok();
}

struct status forward_supported(const struct model *model)
{
    const struct forward_form *form = forward_form_find(model->family);
    if (form == NULL) {
        char accepted[200];
        forward_form_list(accepted, sizeof accepted);
        return status_error(STATUS_INVALID,
                            "--step: '%s' is of family '%s', for whose step this version has no "
                            "workload; accepted %s",
                            model->name, model->family, accepted);
    }
    if (model->projections[0].count > 0) {
        return refuse(model, "projections of its embedding");
    }
    if (model->final_norm_values > model->d) {
        return refuse(model, "a norm of its embedding");
    }
    if (model->block_count > FORWARD_BLOCKS_MAX) {
        return refuse(model, "more than 16 kinds of layers");
    }
    for (uint32_t i = 0; i < model->block_count; i++) {
        TRY(check_block(model, &model->blocks[i], form));
    }
    return status_ok();
}
