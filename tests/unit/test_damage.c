#include "roofline/step.h"
#include "tests/test.h"
#include "workloads/config_json.h"
#include "workloads/gguf.h"

#include <glob.h>
#include <stdlib.h>

// Every seed of the fuzzers, cut at every byte and with every byte changed: a model whose steps can
// be computed, or one printable line and no part of a model.

typedef struct status (*reader)(struct model *out, const unsigned char *bytes, size_t size);

static struct status read_gguf(struct model *out, const unsigned char *bytes, size_t size)
{
    return gguf_read_model_memory(out, bytes, size, "seed.gguf");
}

static struct status read_config(struct model *out, const unsigned char *bytes, size_t size)
{
    return config_read_model(out, (const char *)bytes, size, "seed.json", "seed");
}

static void check_steps(const struct model *model)
{
    struct model_counts counts;
    model_count(&counts, model);
    assert_true(counts.active <= counts.total && counts.linear_active <= counts.linear);
    for (int phase = STEP_DECODE; phase <= STEP_PREFILL; phase++) {
        struct step_request request = step_defaults((enum step_phase)phase);
        struct step step;
        if (status_is_ok(step_compute(&step, model, &request))) {
            assert_true(isfinite(step.sum.flop) && isfinite(step.memory_bytes));
            assert_true(step.sum.flop_executed >= step.sum.flop);
        }
    }
}

static void check_answer(const struct model *model, struct status status)
{
    if (status_is_ok(status)) {
        check_steps(model);
        return;
    }
    assert_int_equal(status.code, STATUS_INVALID);
    assert_int_equal(model->d, 0);
    assert_int_equal(model->block_count, 0);
    assert_true(strncmp(status.detail, "seed.json: ", 11) == 0 ||
                strncmp(status.detail, "'seed.gguf': ", 13) == 0);
    for (const char *c = status.detail; *c != '\0'; c++) {
        assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
}

// Copies of their own size, so that a sanitizer sees any read beyond them.
static void cut(struct model *model, reader read, const unsigned char *bytes, size_t size)
{
    for (size_t length = 0; length < size; length++) {
        unsigned char *part = malloc(length > 0 ? length : 1);
        assert_non_null(part);
        memcpy(part, bytes, length);
        struct status status = read(model, part, length);
        free(part);
        check_answer(model, status);
        assert_int_equal(status.code, STATUS_INVALID);
    }
}

static void change(struct model *model, reader read, unsigned char *bytes, size_t size)
{
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < size * sizeof masks; i++) {
        unsigned char *byte = &bytes[i / sizeof masks];
        *byte ^= masks[i % sizeof masks];
        check_answer(model, read(model, bytes, size));
        *byte ^= masks[i % sizeof masks];
    }
}

static unsigned char *load(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

// Each stride-th seed. Those that are no model (a shard without the others) are only changed.
static void damage(const char *pattern, reader read, size_t stride)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    glob_t seeds;
    assert_int_equal(glob(pattern, 0, NULL, &seeds), 0);
    unsigned whole = 0;
    for (size_t i = 0; i < seeds.gl_pathc; i += stride) {
        size_t size = 0;
        unsigned char *bytes = load(&size, seeds.gl_pathv[i]);
        struct status status = read(model, bytes, size);
        check_answer(model, status);
        if (status_is_ok(status)) {
            cut(model, read, bytes, size);
            whole++;
        }
        change(model, read, bytes, size);
        free(bytes);
    }
    assert_true(whole >= 10);
    globfree(&seeds);
    free(model);
}

static void gguf_seeds(void **state)
{
    (void)state;
    damage(TESTS_DIR "/fuzz/corpus/gguf/*", read_gguf, 1);
}

static void config_seeds(void **state)
{
    (void)state;
    damage(TESTS_DIR "/fuzz/corpus/config/*", read_config, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gguf_seeds),
                                       cmocka_unit_test(config_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
