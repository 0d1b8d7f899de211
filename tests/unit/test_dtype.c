#include "roofline/dtype.h"
#include "tests/test.h"

// Bytes of 1024 rows of 2048 elements, by the block sizes of ggml.
static void matrix_bytes(void **state)
{
    (void)state;
    static const struct {
        enum dtype_id id;
        double bits; // per weight
    } cases[] = {
        {DTYPE_F32, 32},       {DTYPE_F16, 16},
        {DTYPE_BF16, 16},      {DTYPE_Q8_0, 8.5},
        {DTYPE_Q4_0, 4.5},     {DTYPE_Q4_1, 5},
        {DTYPE_Q5_0, 5.5},     {DTYPE_Q5_1, 6},
        {DTYPE_Q4_K, 4.5},     {DTYPE_Q5_K, 5.5},
        {DTYPE_Q6_K, 6.5625},  {DTYPE_Q3_K, 3.4375},
        {DTYPE_Q2_K, 2.625},   {DTYPE_IQ4_XS, 4.25},
        {DTYPE_MXFP4, 4.25},   {DTYPE_NVFP4, 4.5},
        {DTYPE_Q1_0, 1.125},   {DTYPE_Q2_0, 2.25},
        {DTYPE_TQ1_0, 1.6875}, {DTYPE_INT8, 8 + 32.0 / 2048},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_CLOSE((double)dtype_matrix_bytes(cases[i].id, 1024, 2048),
                     1024.0 * 2048 * cases[i].bits / 8, 0);
    }
}

// A row that is no whole number of blocks gets another type, as in llama.cpp.
static void fallbacks(void **state)
{
    (void)state;
    assert_int_equal(dtype_for_row(DTYPE_Q4_K, 512), DTYPE_Q4_K);
    assert_int_equal(dtype_for_row(DTYPE_Q4_K, 896), DTYPE_Q5_0);
    assert_int_equal(dtype_for_row(DTYPE_Q6_K, 896), DTYPE_Q8_0);
    assert_int_equal(dtype_for_row(DTYPE_Q6_K, 100), DTYPE_F16);
    assert_int_equal(dtype_matrix_bytes(DTYPE_Q4_K, 1, 896), 896 / 32 * 22);
    for (int id = 0; id < DTYPE_COUNT; id++) {
        assert_true(dtype_fits(dtype_for_row((enum dtype_id)id, 7), 7)); // and it ends
    }
}

static void names_and_ids(void **state)
{
    (void)state;
    assert_int_equal(dtype_find("bf16"), DTYPE_BF16);
    assert_int_equal(dtype_find("bfloat16"), DTYPE_BF16);
    assert_int_equal(dtype_find("torch.float16"), DTYPE_F16);
    assert_int_equal(dtype_find("q4_k_m"), DTYPE_NONE); // a recipe, not a type
    assert_int_equal(dtype_find(""), DTYPE_NONE);
    assert_string_equal(dtype_name(DTYPE_STORED), "stored");
    assert_int_equal(dtype_from_ggml(12), DTYPE_Q4_K);
    assert_int_equal(dtype_from_ggml(4), DTYPE_NONE); // removed from ggml
    assert_int_equal(dtype_from_ggml(UINT64_MAX), DTYPE_NONE);
    for (int id = 0; id < DTYPE_COUNT; id++) {
        const struct dtype *type = dtype_get((enum dtype_id)id);
        assert_int_equal(dtype_find(type->name), id);
        if (type->ggml_type >= 0) {
            assert_int_equal(dtype_from_ggml((uint64_t)type->ggml_type), id);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_bytes),
        cmocka_unit_test(fallbacks),
        cmocka_unit_test(names_and_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
