#include "roofline/step.h"
#include "tests/gguf/writer.h"
#include "tests/test.h"
#include "workloads/gguf.h"

#include <stdlib.h>

static struct model *new_model(void)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    return model;
}

static struct status read_writer(struct model *model, const struct writer *writer)
{
    return gguf_read_model_memory(model, writer->bytes, writer->size, "by-hand.gguf");
}

// Worked by hand, in bytes a row: q4_0 of 64 is 2 blocks of 18 = 36; q8_0 of 64 2 x 34 = 68;
// f16 of 64 128; q5_0 of 96 3 x 22 = 66; q8_0 of 96 3 x 34 = 102.
//   layer 0: q 36x64 + k 36x32 + v 68x32 + out 36x64 + gate, up 2x36x96 + down 66x64
//            + 2 norms of 64 f32 = 2304+1152+2176+2304+6912+4224+512 = 19584
//   layer 1: v 128x32 and down 102x64 instead: 2304+1152+4096+2304+6912+6528+512 = 23808
//   final norm 256, head 128x40 = 5120, embedding 68x40 = 2720, rope_freqs 8x4 = 32
//   stored: 19584 + 23808 + 256 + 5120 + 2720 + 32 = 51520
// Parameters: 64x64 + 2x64x32 + 64x64 + 3x64x96 + 2x64 = 30848 a layer; 2x30848 + 2x40x64 + 64.
static void counts_by_hand(const struct model *model)
{
    struct model_counts counts;
    model_count(&counts, model);
    assert_int_equal(counts.total, 66880);
    assert_int_equal(counts.active, 66880);
    assert_int_equal(counts.linear, 64000);
    assert_int_equal(counts.embedding, 2560);
    assert_int_equal(counts.mtp, 0);
    assert_int_equal(counts.layers, 2);
    assert_int_equal(counts.kv_values_per_token, 2 * 2 * (16 + 16));
    assert_int_equal(model_weight_bytes(model, DTYPE_STORED), 51520);
    assert_int_equal(model->lookup_bytes, 32);
    assert_int_equal(model->block_count, 2);
    assert_int_equal(model->trained_context, 512);
    assert_string_equal(model->name, "by-hand");
    assert_string_equal(model->family, "llama");
    assert_int_equal(model->dtype, DTYPE_STORED);
    assert_false(model->tied);
}

// Batch 3, 100 tokens cached, f16 cache.
//   weights 19584 + 23808 + 256 + 5120 + 3 embedding rows of 68 = 48972
//   kv_read 3 x 2 layers x 2 heads x 32 values x 100 x 2 B = 76800, kv_write the same for 1 = 768
//   activations (f32, q k v and gate up share their input): 3 rows x 4 B x
//     [2 layers x ((64+64+32+32) + (64+64) + (64+96+96) + (96+64)) + 64 + 40] = 18912
//   flop 2 x 3 x 64000 + 3 x 2 layers x 4 heads x 2 x 101 x (16+16) = 384000 + 155136
static void step_by_hand(const struct model *model)
{
    struct step_request request = step_defaults(STEP_DECODE);
    request.batch = 3;
    request.context = 100;
    struct step step;
    ASSERT_OK(step_compute(&step, model, &request));
    const struct step_bytes *bytes = &step.sum.bytes;
    ASSERT_CLOSE(bytes->weights, 48972, 1e-15);
    ASSERT_CLOSE(bytes->kv_read, 76800, 1e-15);
    ASSERT_CLOSE(bytes->kv_write, 768, 1e-15);
    ASSERT_CLOSE(bytes->activations, 18912, 1e-15);
    ASSERT_CLOSE(bytes->dram_lower_bound, 126540, 1e-15);
    ASSERT_CLOSE(bytes->requested, 145452, 1e-15);
    ASSERT_CLOSE(step.sum.flop, 539136, 1e-15);
    ASSERT_CLOSE(step.sum.flop_per_byte, 539136.0 / 126540.0, 1e-15);
    ASSERT_CLOSE(step.weight_bytes, 51520, 1e-15);
    ASSERT_CLOSE(step_find(&step, MODEL_OP_QKV)->bytes.weights, 2304 * 2 + 1152 * 2 + 2176 + 4096,
                 1e-15);
    ASSERT_CLOSE(step_find(&step, MODEL_OP_DOWN)->bytes.weights, 4224 + 6528, 1e-15);
    ASSERT_CLOSE(step_find(&step, MODEL_OP_NORMS)->bytes.weights, 2 * 512 + 256 + 3 * 68, 1e-15);
    ASSERT_CLOSE(step_find(&step, MODEL_OP_HEAD)->bytes.weights, 5120, 1e-15);
}

static void every_byte_of_a_file_by_hand(void **state)
{
    (void)state;
    static const struct {
        unsigned version;
        bool big_endian;
    } cases[] = {{3, false}, {3, true}, {2, false}, {2, true}};
    struct model *model = new_model();
    struct writer *writer = malloc(sizeof *writer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_small(writer, cases[i].version, cases[i].big_endian);
        ASSERT_OK(read_writer(model, writer));
        counts_by_hand(model);
        step_by_hand(model);
    }
    free(writer);
    free(model);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct model *model = new_model();
    struct writer *writer = malloc(sizeof *writer);
    write_small(writer, 3, false);
    for (size_t size = 0; size < writer->size; size++) {
        // A block of its own size, so that a sanitizer sees any read beyond it.
        unsigned char *bytes = malloc(size > 0 ? size : 1);
        memcpy(bytes, writer->bytes, size);
        struct status status = gguf_read_model_memory(model, bytes, size, "cut.gguf");
        free(bytes);
        if (status.code != STATUS_INVALID) {
            fail_msg("%zu of %zu bytes: code %d", size, writer->size, (int)status.code);
        }
    }
    free(writer);
    free(model);
}

// Any byte may be anything: the answer is a model or one INVALID line without control characters.
static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    struct model *model = new_model();
    struct writer *writer = malloc(sizeof *writer);
    write_small(writer, 3, false);
    for (size_t i = 0; i < writer->size * sizeof masks; i++) {
        unsigned char *byte = &writer->bytes[i / sizeof masks];
        unsigned char mask = masks[i % sizeof masks];
        *byte ^= mask;
        struct status status = read_writer(model, writer);
        *byte ^= mask;
        if (status.code != STATUS_OK && status.code != STATUS_INVALID) {
            fail_msg("byte %zu: %s", i / sizeof masks, status.detail);
        }
        for (const char *c = status.detail; *c != '\0'; c++) {
            assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
        }
    }
    free(writer);
    free(model);
}

static void integers_of_any_type(void **state)
{
    (void)state;
    static const enum gguf_value_type integer_types[] = {GGUF_UINT8,  GGUF_INT8,   GGUF_UINT16,
                                                         GGUF_INT16,  GGUF_UINT32, GGUF_INT32,
                                                         GGUF_UINT64, GGUF_INT64};
    struct model *model = new_model();
    struct writer *writer = malloc(sizeof *writer);
    for (size_t i = 0; i < sizeof integer_types / sizeof *integer_types; i++) {
        memset(writer, 0, sizeof *writer);
        put_header(writer, 3, TENSORS, VALUES + 1);
        put_values(writer);
        put_int(writer, "llama.attention.key_length", integer_types[i], 16);
        put_tensors(writer);
        ASSERT_OK(read_writer(model, writer));
        counts_by_hand(model);
    }
    free(writer);
    free(model);
}

static void without_tensors_only_the_shape_is_known(void **state)
{
    (void)state;
    struct model *model = new_model();
    struct writer *writer = calloc(1, sizeof *writer);
    put_header(writer, 3, 0, VALUES);
    put_values(writer);
    ASSERT_OK(read_writer(model, writer));
    assert_true(model->shape_only);
    struct model_counts counts;
    model_count(&counts, model);
    assert_int_equal(counts.kv_values_per_token, 128);
    assert_int_equal(counts.layers, 2);
    struct step_request request = step_defaults(STEP_DECODE);
    struct step step;
    assert_int_equal(step_compute(&step, model, &request).code, STATUS_INVALID);
    free(writer);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_file_by_hand),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(integers_of_any_type),
        cmocka_unit_test(without_tensors_only_the_shape_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
