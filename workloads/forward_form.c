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

static uint64_t norm_values(const struct model *model, const struct model_block *block,
                            const struct forward_form *form)
{
    const struct model_attention *a = &block->attention;
    uint64_t heads = form->head_norm ? (a->heads + a->kv_heads) * a->k_dim : 0;
    return (form->one_norm ? 1 : FORWARD_NORMS) * model->d + heads;
}

static struct status refuse(const struct model *model, const char *what)
{
    return status_error(STATUS_INVALID,
                        "--step: '%s' has %s, for which this version has no workload; accepted "
                        "are dense models of attention heads, or leave out --step",
                        model->name, what);
}

static struct status check_block(const struct model *model, const struct model_block *block,
                                 const struct forward_form *form, uint64_t prefill_tokens)
{
    if (block->attention.kind == MODEL_ATTENTION_MLA) {
        return refuse(model, "latent attention");
    }
    if (block->attention.kind != MODEL_ATTENTION_HEADS) {
        return refuse(model, "layers without attention");
    }
    if (block->mlp.experts > 0 || block->mlp.shared_width > 0) {
        return refuse(model, "experts");
    }
    if (block->sinks.elements > 0) {
        return refuse(model, "attention sinks");
    }
    if (block->norm_values != norm_values(model, block, form)) {
        return refuse(model, "norms other than its family's usual ones");
    }
    if (block->attention.window > 0 && prefill_tokens > block->attention.window) {
        return refuse(model, "a sliding window shorter than the prompt");
    }
    return status_ok();
}

struct status forward_supported(const struct model *model, bool prefill, uint64_t prompt)
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
        TRY(check_block(model, &model->blocks[i], form, prefill ? prompt : 0));
    }
    return status_ok();
}
