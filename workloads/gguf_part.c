#include "workloads/gguf_part.h"

#include <string.h>

#define MATRIX(name, role, n, k)           \
    {                                      \
        name, GGUF_PART_MATRIX, role, n, k \
    }
#define EXPERTS(name, role, n, k)           \
    {                                       \
        name, GGUF_PART_EXPERTS, role, n, k \
    }
#define NORM(name, n)                                      \
    {                                                      \
        name, GGUF_PART_NORM, MODEL_ROLES, n, GGUF_DIM_ONE \
    }
#define HEAD_NORM(name, n)                                       \
    {                                                            \
        name, GGUF_PART_HEAD_NORM, MODEL_ROLES, n, GGUF_DIM_HEAD \
    }

// Names: ggml-org/llama.cpp src/llama-arch.cpp, LLM_TENSOR_NAMES at 00395eb2; dimensions: the
// create_tensor() calls of src/llama-model.cpp.
static const struct gguf_part parts[GGUF_PARTS] = {
    [GGUF_ATTN_Q] = MATRIX("attn_q", MODEL_Q, GGUF_DIM_Q, GGUF_DIM_D),
    [GGUF_ATTN_K] = MATRIX("attn_k", MODEL_K, GGUF_DIM_K, GGUF_DIM_D),
    [GGUF_ATTN_V] = MATRIX("attn_v", MODEL_V, GGUF_DIM_V, GGUF_DIM_D),
    [GGUF_ATTN_QKV] = MATRIX("attn_qkv", MODEL_QKV, GGUF_DIM_QKV, GGUF_DIM_D),
    [GGUF_ATTN_OUTPUT] = MATRIX("attn_output", MODEL_ATTN_OUT, GGUF_DIM_D, GGUF_DIM_OUT_IN),
    [GGUF_ATTN_Q_A] = MATRIX("attn_q_a", MODEL_Q_A, GGUF_DIM_R_Q, GGUF_DIM_D),
    [GGUF_ATTN_Q_B] = MATRIX("attn_q_b", MODEL_Q_B, GGUF_DIM_Q, GGUF_DIM_R_Q),
    [GGUF_ATTN_KV_A] = MATRIX("attn_kv_a_mqa", MODEL_KV_A, GGUF_DIM_KV_A, GGUF_DIM_D),
    [GGUF_ATTN_KV_B] = MATRIX("attn_kv_b", MODEL_KV_B, GGUF_DIM_KV_B, GGUF_DIM_R_KV),
    [GGUF_ATTN_K_B] = {"attn_k_b", GGUF_PART_PER_HEAD, MODEL_K_B, GGUF_DIM_R_KV, GGUF_DIM_K_N},
    [GGUF_ATTN_V_B] = {"attn_v_b", GGUF_PART_PER_HEAD, MODEL_V_B, GGUF_DIM_V_HEAD, GGUF_DIM_R_KV},
    [GGUF_FFN_GATE] = MATRIX("ffn_gate", MODEL_GATE, GGUF_DIM_F, GGUF_DIM_D),
    [GGUF_FFN_UP] = MATRIX("ffn_up", MODEL_UP, GGUF_DIM_F, GGUF_DIM_D),
    [GGUF_FFN_DOWN] = MATRIX("ffn_down", MODEL_DOWN, GGUF_DIM_D, GGUF_DIM_F),
    [GGUF_FFN_GATE_INP] = MATRIX("ffn_gate_inp", MODEL_ROUTER, GGUF_DIM_E, GGUF_DIM_D),
    [GGUF_FFN_GATE_EXPS] = EXPERTS("ffn_gate_exps", MODEL_EXPERT_GATE, GGUF_DIM_F_E, GGUF_DIM_D),
    [GGUF_FFN_UP_EXPS] = EXPERTS("ffn_up_exps", MODEL_EXPERT_UP, GGUF_DIM_F_E, GGUF_DIM_D),
    [GGUF_FFN_GATE_UP_EXPS] =
        EXPERTS("ffn_gate_up_exps", MODEL_EXPERT_GATE_UP_FUSED, GGUF_DIM_2F_E, GGUF_DIM_D),
    [GGUF_FFN_DOWN_EXPS] = EXPERTS("ffn_down_exps", MODEL_EXPERT_DOWN, GGUF_DIM_D, GGUF_DIM_F_E),
    [GGUF_FFN_GATE_SHEXP] = MATRIX("ffn_gate_shexp", MODEL_SHARED_GATE, GGUF_DIM_F_S, GGUF_DIM_D),
    [GGUF_FFN_UP_SHEXP] = MATRIX("ffn_up_shexp", MODEL_SHARED_UP, GGUF_DIM_F_S, GGUF_DIM_D),
    [GGUF_FFN_DOWN_SHEXP] = MATRIX("ffn_down_shexp", MODEL_SHARED_DOWN, GGUF_DIM_D, GGUF_DIM_F_S),
    [GGUF_FFN_GATE_INP_SHEXP] =
        MATRIX("ffn_gate_inp_shexp", MODEL_SHARED_ROUTER, GGUF_DIM_ONE, GGUF_DIM_D),
    [GGUF_EXP_PROBS_B] = {"exp_probs_b", GGUF_PART_ROUTER_BIAS, MODEL_ROLES, GGUF_DIM_E,
                          GGUF_DIM_ONE},
    [GGUF_ATTN_SINKS] = {"attn_sinks", GGUF_PART_VECTOR, MODEL_ROLES, GGUF_DIM_HEADS, GGUF_DIM_ONE},
    [GGUF_ATTN_NORM] = NORM("attn_norm", GGUF_DIM_D),
    [GGUF_ATTN_NORM_2] = NORM("attn_norm_2", GGUF_DIM_D),
    [GGUF_POST_ATTENTION_NORM] = NORM("post_attention_norm", GGUF_DIM_D),
    [GGUF_ATTN_OUTPUT_NORM] = NORM("attn_output_norm", GGUF_DIM_D),
    [GGUF_ATTN_SUB_NORM] = NORM("attn_sub_norm", GGUF_DIM_OUT_IN),
    [GGUF_ATTN_Q_NORM] = HEAD_NORM("attn_q_norm", GGUF_DIM_Q),
    [GGUF_ATTN_K_NORM] = HEAD_NORM("attn_k_norm", GGUF_DIM_K),
    [GGUF_ATTN_Q_A_NORM] = NORM("attn_q_a_norm", GGUF_DIM_R_Q),
    [GGUF_ATTN_KV_A_NORM] = NORM("attn_kv_a_norm", GGUF_DIM_R_KV),
    [GGUF_FFN_NORM] = NORM("ffn_norm", GGUF_DIM_D),
    [GGUF_FFN_SUB_NORM] = NORM("ffn_sub_norm", GGUF_DIM_F),
    [GGUF_POST_FFW_NORM] = NORM("post_ffw_norm", GGUF_DIM_D),
    [GGUF_LAYER_OUTPUT_NORM] = NORM("layer_output_norm", GGUF_DIM_D),
};

// Tables that belong to positions, not to what was learned.
static const char *const layer_tables[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                           "rope_factors_short.weight", "attn_rot_embd.weight",
                                           NULL};
static const char *const model_tables[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                           "rope_factors_short.weight", NULL};

const struct gguf_part *gguf_part_get(enum gguf_part_id id)
{
    return &parts[id];
}

static bool is_in(const char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, name) == 0) {
            return true;
        }
    }
    return false;
}

bool gguf_name_is_table(const char *name)
{
    return is_in(model_tables, name);
}

// Decimal digits without leading zeros, at most 6 of them; returns what follows, or NULL.
static const char *parse_number(uint32_t *out, const char *text)
{
    uint32_t value = 0;
    size_t digits = 0;
    while (digits < 7 && text[digits] >= '0' && text[digits] <= '9') {
        value = 10 * value + (uint32_t)(text[digits] - '0');
        digits++;
    }
    if (digits == 0 || digits > 6 || (digits > 1 && text[0] == '0')) {
        return NULL;
    }
    *out = value;
    return text + digits;
}

bool gguf_name_layer(uint32_t *layer, const char **rest, const char *name)
{
    if (strncmp(name, "blk.", 4) != 0) {
        return false;
    }
    const char *end = parse_number(layer, name + 4);
    if (end == NULL || *end != '.') {
        return false;
    }
    *rest = end + 1;
    return true;
}

static enum gguf_part_id find_part(const char *name, size_t length)
{
    for (unsigned i = 0; i < GGUF_PARTS; i++) {
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0) {
            return (enum gguf_part_id)i;
        }
    }
    return GGUF_PARTS;
}

// "ffn_gate.7": the expert tensors of the first mixtures, one for each expert.
static enum gguf_part_id find_expert(int64_t *expert, const char *name, size_t length)
{
    static const struct {
        const char *prefix;
        enum gguf_part_id part;
    } rows[] = {{"ffn_gate.", GGUF_FFN_GATE_EXPS},
                {"ffn_up.", GGUF_FFN_UP_EXPS},
                {"ffn_down.", GGUF_FFN_DOWN_EXPS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].prefix);
        uint32_t number = 0;
        const char *end =
            strncmp(name, rows[i].prefix, n) == 0 ? parse_number(&number, name + n) : NULL;
        if (end != NULL && end == name + length) {
            *expert = number;
            return rows[i].part;
        }
    }
    return GGUF_PARTS;
}

struct gguf_name gguf_name_parse(const char *rest)
{
    struct gguf_name out = {.kind = GGUF_NAME_UNKNOWN, .part = GGUF_PARTS, .expert = -1};
    if (is_in(layer_tables, rest)) {
        out.kind = GGUF_NAME_TABLE;
        return out;
    }
    const char *dot = strrchr(rest, '.');
    if (dot == NULL) {
        return out;
    }
    size_t length = (size_t)(dot - rest);
    out.part = find_part(rest, length);
    if (out.part == GGUF_PARTS) {
        out.part = find_expert(&out.expert, rest, length);
    }
    if (out.part == GGUF_PARTS) {
        return out;
    }
    if (strcmp(dot, ".weight") == 0 && parts[out.part].kind != GGUF_PART_ROUTER_BIAS) {
        out.kind = GGUF_NAME_WEIGHT;
    } else if (strcmp(dot, ".bias") == 0) {
        out.kind = GGUF_NAME_BIAS;
    } else if (strcmp(dot, ".scale") == 0 || strcmp(dot, ".input_scale") == 0) {
        out.kind = GGUF_NAME_TABLE;
    }
    return out;
}
