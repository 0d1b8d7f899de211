#include "roofline/dtype.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

// One row per type. Blocks: ggml, src/ggml-common.h. Fallbacks: llama.cpp,
// src/llama-quant.cpp, tensor_type_fallback(): a K-quant row that is no multiple of 256 becomes a
// 32-element type, and what does not divide by 32 either becomes f16.
static const struct dtype table[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 1, 4, 0, 0, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_F32},
    [DTYPE_F16] = {"f16", 1, 2, 0, 1, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_BF16] = {"bf16", 1, 2, 0, 30, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_BF16},
    [DTYPE_F64] = {"f64", 1, 8, 0, 28, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_F64},
    [DTYPE_F8_E4M3] = {"f8_e4m3", 1, 1, 0, -1, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_F8_E4M3},
    [DTYPE_F8_E5M2] = {"f8_e5m2", 1, 1, 0, -1, DTYPE_FLOAT, DTYPE_WEIGHTS, DTYPE_F8_E5M2},
    [DTYPE_INT8] = {"int8", 1, 1, 4, -1, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_INT8},
    [DTYPE_INT4_G128] = {"int4_g128", 128, 66, 0, -1, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q4_0] = {"q4_0", 32, 18, 0, 2, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q4_1] = {"q4_1", 32, 20, 0, 3, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q5_0] = {"q5_0", 32, 22, 0, 6, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q5_1] = {"q5_1", 32, 24, 0, 7, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q8_0] = {"q8_0", 32, 34, 0, 8, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q8_1] = {"q8_1", 32, 36, 0, 9, DTYPE_INT, DTYPE_ACTIVATIONS, DTYPE_F16},
    [DTYPE_Q2_K] = {"q2_k", 256, 84, 0, 10, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_Q3_K] = {"q3_k", 256, 110, 0, 11, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_Q4_K] = {"q4_k", 256, 144, 0, 12, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_Q5_0},
    [DTYPE_Q5_K] = {"q5_k", 256, 176, 0, 13, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_Q5_1},
    [DTYPE_Q6_K] = {"q6_k", 256, 210, 0, 14, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_Q8_0},
    [DTYPE_Q8_K] = {"q8_k", 256, 292, 0, 15, DTYPE_INT, DTYPE_ACTIVATIONS, DTYPE_F16},
    [DTYPE_IQ2_XXS] = {"iq2_xxs", 256, 66, 0, 16, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ2_XS] = {"iq2_xs", 256, 74, 0, 17, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ2_S] = {"iq2_s", 256, 82, 0, 22, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ3_XXS] = {"iq3_xxs", 256, 98, 0, 18, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ3_S] = {"iq3_s", 256, 110, 0, 21, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ1_S] = {"iq1_s", 256, 50, 0, 19, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ1_M] = {"iq1_m", 256, 56, 0, 29, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_IQ4_NL] = {"iq4_nl", 32, 18, 0, 20, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_IQ4_XS] = {"iq4_xs", 256, 136, 0, 23, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_IQ4_NL},
    [DTYPE_I8] = {"i8", 1, 1, 0, 24, DTYPE_INT, DTYPE_TABLES, DTYPE_I8},
    [DTYPE_I16] = {"i16", 1, 2, 0, 25, DTYPE_INT, DTYPE_TABLES, DTYPE_I16},
    [DTYPE_I32] = {"i32", 1, 4, 0, 26, DTYPE_INT, DTYPE_TABLES, DTYPE_I32},
    [DTYPE_I64] = {"i64", 1, 8, 0, 27, DTYPE_INT, DTYPE_TABLES, DTYPE_I64},
    [DTYPE_TQ1_0] = {"tq1_0", 256, 54, 0, 34, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_Q4_0},
    [DTYPE_TQ2_0] = {"tq2_0", 256, 66, 0, 35, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_Q4_0},
    [DTYPE_MXFP4] = {"mxfp4", 32, 17, 0, 39, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_NVFP4] = {"nvfp4", 64, 36, 0, 40, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q1_0] = {"q1_0", 128, 18, 0, 41, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
    [DTYPE_Q2_0] = {"q2_0", 64, 18, 0, 42, DTYPE_INT, DTYPE_WEIGHTS, DTYPE_F16},
};

const struct dtype *dtype_get(enum dtype_id id)
{
    assert(id < DTYPE_COUNT);
    return &table[id];
}

const char *dtype_name(enum dtype_id id)
{
    if (id == DTYPE_STORED) {
        return "stored";
    }
    return id < DTYPE_COUNT ? table[id].name : "none";
}

// The names that torch gives its dtypes (torch.dtype, "torch_dtype" of Hugging Face configs).
static const struct {
    const char *name;
    enum dtype_id id;
} torch_names[] = {
    {"float32", DTYPE_F32},
    {"float", DTYPE_F32},
    {"float16", DTYPE_F16},
    {"half", DTYPE_F16},
    {"bfloat16", DTYPE_BF16},
    {"float64", DTYPE_F64},
    {"double", DTYPE_F64},
    {"fp32", DTYPE_F32},
    {"fp16", DTYPE_F16},
    {"float8_e4m3fn", DTYPE_F8_E4M3},
    {"float8_e5m2", DTYPE_F8_E5M2},
};

enum dtype_id dtype_find(const char *name)
{
    for (int id = 0; id < DTYPE_COUNT; id++) {
        if (strcmp(table[id].name, name) == 0) {
            return (enum dtype_id)id;
        }
    }
    const char *bare = strncmp(name, "torch.", 6) == 0 ? name + 6 : name;
    for (size_t i = 0; i < sizeof torch_names / sizeof *torch_names; i++) {
        if (strcmp(torch_names[i].name, bare) == 0) {
            return torch_names[i].id;
        }
    }
    return DTYPE_NONE;
}

enum dtype_id dtype_find_recipe(const char *name)
{
    return strcmp(name, dtype_name(DTYPE_STORED)) == 0 ? DTYPE_STORED : dtype_find(name);
}

enum dtype_id dtype_from_ggml(uint64_t ggml_type)
{
    for (int id = 0; id < DTYPE_COUNT; id++) {
        if (table[id].ggml_type >= 0 && (uint64_t)table[id].ggml_type == ggml_type) {
            return (enum dtype_id)id;
        }
    }
    return DTYPE_NONE;
}

bool dtype_fits(enum dtype_id id, uint64_t k)
{
    return k % dtype_get(id)->block_elements == 0;
}

enum dtype_id dtype_for_row(enum dtype_id id, uint64_t k)
{
    while (!dtype_fits(id, k)) {
        id = table[id].fallback; // ends at f16, whose block is one element
    }
    return id;
}

uint64_t dtype_matrix_bytes(enum dtype_id id, uint64_t rows, uint64_t k)
{
    const struct dtype *type = dtype_get(dtype_for_row(id, k));
    return rows * (k / type->block_elements * type->block_bytes + type->row_bytes);
}
