#include "tests/unit/forward_reference.h"

#include <stdlib.h>

static void set_type(struct model_block *block, enum model_role role, enum dtype_id dtype)
{
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        struct model_matrix *m = &block->matrices[i];
        if (m->role == role) {
            m->dtype = dtype;
            m->stored_bytes = m->count * dtype_matrix_bytes(dtype, m->n, m->k);
        }
    }
}

// Matrices of one product in different types: parts with their own packing share x and y. An odd
// number of outputs makes the parts' last groups overlap, an odd number of super-blocks their x
// differ in width.
static void mixed_types_agree(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    fixture_load(model, "{\"model_type\": \"qwen2\", \"num_hidden_layers\": 3, \"vocab_size\": 50, "
                        "\"hidden_size\": 256, \"num_attention_heads\": 5, \"head_dim\": 24, "
                        "\"num_key_value_heads\": 1, \"intermediate_size\": 768, "
                        "\"tie_word_embeddings\": false}");
    model->block_count = 2;
    model->blocks[1] = model->blocks[0];
    model->blocks[1].layers = 1;
    model->blocks[0].layers = 2;
    for (int role = 0; role < MODEL_ROLES; role++) {
        set_type(&model->blocks[0], (enum model_role)role, DTYPE_Q4_K);
        set_type(&model->blocks[1], (enum model_role)role, DTYPE_Q4_K);
    }
    set_type(&model->blocks[0], MODEL_ATTN_OUT, DTYPE_F16); // rows of 120
    set_type(&model->blocks[1], MODEL_ATTN_OUT, DTYPE_BF16);
    set_type(&model->blocks[1], MODEL_V, DTYPE_Q6_K);
    set_type(&model->blocks[1], MODEL_DOWN, DTYPE_Q6_K);
    set_type(&model->blocks[1], MODEL_UP, DTYPE_Q8_0);
    set_type(&model->blocks[0], MODEL_K, DTYPE_F32);
    model->head.dtype = DTYPE_Q6_K;
    model->embedding.dtype = DTYPE_Q4_K;
    for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
        struct forward_params params = fixture_params_of(model, DTYPE_STORED, LINE_F16, threads);
        params.context = 31;
        reference_check(&params, "mixed", 0.1);
        params.batch = 2;
        params.prefill = true;
        params.prompt = 33;
        reference_check(&params, "mixed", 0.1);
    }
    struct forward *forward = NULL;
    struct forward_params params = fixture_params_of(model, DTYPE_STORED, LINE_F16, 1);
    ASSERT_OK(forward_create(&forward, &params));
    assert_int_equal(forward->blocks[0].products[FORWARD_QKV].part_count, 3);
    assert_int_equal(forward->blocks[1].products[FORWARD_QKV].part_count, 2);
    assert_int_equal(forward->blocks[1].products[FORWARD_GATE_UP].part_count, 2);
    forward_destroy(forward);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_types_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
