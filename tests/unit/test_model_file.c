#include "tests/test.h"
#include "workloads/model_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Totals counted tensor by tensor, linears and cache values from the shapes by hand.
struct known {
    const char *name;
    uint64_t total;
    uint64_t active; // 0: = total
    uint64_t kv_values;
    bool tied;
    int line;
};

static const struct known builtins[] = {
    {"llama-2-7b", 6738415616, 0, 262144, false, __LINE__},
    {"llama-3-8b", 8030261248, 0, 65536, false, __LINE__},
    {"gpt2", 124439808, 0, 18432, true, __LINE__},
    {"qwen2.5-0.5b", 494032768, 0, 6144, true, __LINE__},
    {"mistral-7b-v0.1", 7241732096, 0, 65536, false, __LINE__},
    {"mixtral-8x7b", 46702792704, 12879925248, 65536, false, __LINE__},
    {"tinyllama-1.1b", 1100048384, 0, 11264, false, __LINE__},
    {"gemma-2b", 2506172416, 0, 9216, true, __LINE__},
    {"phi-2", 2779683840, 0, 163840, false, __LINE__},
    {"opt-125m", 125239296, 0, 18432, true, __LINE__},
    {"pythia-160m", 162322944, 0, 18432, false, __LINE__},
    {"llama-3.2-1b", 1235814400, 0, 16384, true, __LINE__},
};

static struct model *load(const char *word)
{
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    ASSERT_OK(model_load(model, word));
    return model;
}

static void builtin_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        const struct known *want = &builtins[i];
        struct model *model = load(want->name);
        struct model_counts got;
        model_count(&got, model);
        uint64_t active = want->active > 0 ? want->active : want->total;
        if (got.total != want->total || got.active != active ||
            got.kv_values_per_token != want->kv_values || model->tied != want->tied) {
            fail_msg("line %d: %s: total %llu, active %llu, KV %llu", want->line, want->name,
                     (unsigned long long)got.total, (unsigned long long)got.active,
                     (unsigned long long)got.kv_values_per_token);
        }
        free(model);
    }
}

static void linear_parameters(void **state)
{
    (void)state;
    struct model_counts counts;
    struct model *model = load("llama-2-7b");
    model_count(&counts, model);
    assert_int_equal(counts.linear, 6607077376);
    assert_int_equal(counts.linear_active, 6607077376);
    assert_int_equal(counts.embedding, 32000 * 4096);
    free(model);
    model = load("llama-3-8b");
    model_count(&counts, model);
    assert_int_equal(counts.linear, 7504658432);
    free(model);
    model = load("mixtral-8x7b");
    model_count(&counts, model);
    assert_int_equal(counts.linear_active, 12748587008);
    free(model);
}

// tests/models/totals.tsv: name, total, active, KV values, sources; the configs lie beside it or
// are built in.
static void public_models(void **state)
{
    (void)state;
    FILE *file = fopen(TESTS_DIR "/models/totals.tsv", "r");
    assert_non_null(file);
    char line[512];
    unsigned rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char name[64];
        unsigned long long total = 0;
        unsigned long long active = 0;
        unsigned long long kv_values = 0;
        if (sscanf(line, "%63[^#\t]\t%llu\t%llu\t%llu", name, &total, &active, &kv_values) != 4) {
            assert_int_equal(line[0], '#');
            continue;
        }
        char path[512];
        (void)snprintf(path, sizeof path, TESTS_DIR "/models/%s.json", name);
        struct model *model = load(access(path, F_OK) == 0 ? path : name); // or built in
        struct model_counts got;
        model_count(&got, model);
        if (got.total != total || got.active != active || got.kv_values_per_token != kv_values) {
            fail_msg("%s: total %llu, active %llu, KV %llu", name, (unsigned long long)got.total,
                     (unsigned long long)got.active, (unsigned long long)got.kv_values_per_token);
        }
        free(model);
        rows++;
    }
    (void)fclose(file);
    assert_true(rows >= 80);
}

static void refusals(void **state)
{
    (void)state;
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    struct status status = model_load(model, "no-such-model");
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "no-such-model"));
    status = model_load(model, "");
    assert_int_equal(status.code, STATUS_INVALID);
    status = model_load(model, "/dev/null");
    assert_int_equal(status.code, STATUS_INVALID);
    free(model);
}

// A folder whose config.json is a pipe, a link to itself or a folder: told, and never waited for.
static void no_file_in_the_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/lmroof-model-XXXXXX";
    char path[64];
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    for (int kind = 0; kind < 3; kind++) {
        int made = kind == 0   ? mkfifo(path, 0600)
                   : kind == 1 ? symlink("config.json", path)
                               : mkdir(path, 0700);
        assert_int_equal(made, 0);
        struct status status = model_load(model, folder);
        assert_int_equal(status.code, STATUS_INVALID);
        assert_non_null(strstr(status.detail, path));
        assert_non_null(strstr(status.detail, "accepted"));
        assert_int_equal(kind == 2 ? rmdir(path) : unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_counts),        cmocka_unit_test(linear_parameters),
        cmocka_unit_test(public_models),         cmocka_unit_test(refusals),
        cmocka_unit_test(no_file_in_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
