#include "tests/test.h"
#include "workloads/attention.h"

#include <omp.h>

#include <stdlib.h>

struct fixture {
    struct attention *attention;
    unsigned char *cache[8];
    unsigned threads;
};

static void setup(struct fixture *f, const struct attention_params *params)
{
    f->threads = params->threads;
    ASSERT_OK(attention_create(&f->attention, params));
    for (unsigned t = 0; t < f->threads; t++) {
        size_t bytes = attention_thread_bytes(f->attention, 0) + 64;
        f->cache[t] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(f->cache[t]);
        line_fill(f->cache[t], bytes, 7 + t);
    }
}

static void teardown(struct fixture *f)
{
    for (unsigned t = 0; t < f->threads; t++) {
        free(f->cache[t]);
    }
    attention_destroy(f->attention);
}

static void run_all(struct fixture *f, enum linear_mode mode)
{
#pragma omp parallel num_threads((int)f->threads)
    attention_run(f->attention, (unsigned)omp_get_thread_num(), f->cache, mode);
}

static const struct {
    uint32_t removed;
    const char *name;
} isas[] = {{0, "all"}, {ISA_AVX512, "no avx512"}, {ISA_AVX512 | ISA_AVX2 | ISA_NEON, "portable"}};

static void check_params_on_all(struct attention_params params, int line)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        params.isa = isa_without(isa_detect(), isas[i].removed);
        for (int format = LINE_F32; format < LINE_FORMATS; format++) {
            bool heads = params.k_dim % 32 == 0 && params.v_dim % 32 == 0;
            if (!attention_supported((enum line_format)format, params.isa) ||
                ((params.latent || !heads) && format == LINE_Q8_0) ||
                (params.latent && format == LINE_INT8)) {
                continue;
            }
            struct fixture f = {0};
            params.format = (enum line_format)format;
            setup(&f, &params);
            run_all(&f, LINEAR_MEMORY_ONLY);
            run_all(&f, LINEAR_COMPUTE_ONLY);
            run_all(&f, LINEAR_FULL);
            double error = attention_check(f.attention, f.cache, 40);
            double tolerance = attention_tolerance(f.attention);
            if (!(error <= tolerance) || !(tolerance < 5e-4)) {
                fail_msg("line %d: isa %s format %d: error %g, tolerance %g", line, isas[i].name,
                         format, error, tolerance);
            }
            teardown(&f);
        }
    }
}

static void decode_shapes(void **state)
{
    (void)state;
    static const struct {
        unsigned batch, heads, kv_heads, k_dim, v_dim;
        uint64_t context;
        unsigned threads;
        int line;
    } cases[] = {
        {1, 1, 1, 64, 64, 0, 1, __LINE__},       {1, 4, 4, 64, 64, 1, 3, __LINE__},
        {1, 4, 1, 128, 128, 31, 2, __LINE__},    {2, 8, 2, 80, 80, 64, 3, __LINE__},
        {1, 12, 1, 96, 96, 127, 2, __LINE__},    {3, 6, 3, 64, 64, 63, 4, __LINE__},
        {1, 71, 1, 64, 64, 700, 2, __LINE__},    {1, 32, 4, 64, 64, 4097, 2, __LINE__},
        {1, 5, 1, 256, 256, 300, 3, __LINE__},   {1, 2, 2, 192, 128, 1000, 7, __LINE__},
        {1, 3, 1, 33, 17, 200, 2, __LINE__},     {5, 7, 7, 72, 72, 65, 8, __LINE__},
        {1, 8, 1, 128, 128, 12000, 5, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attention_params params = {.batch = cases[i].batch,
                                          .heads = cases[i].heads,
                                          .kv_heads = cases[i].kv_heads,
                                          .k_dim = cases[i].k_dim,
                                          .v_dim = cases[i].v_dim,
                                          .context = cases[i].context,
                                          .rows = 1,
                                          .threads = cases[i].threads,
                                          .prefetch_bytes = 4096};
        check_params_on_all(params, cases[i].line);
    }
}

static void prefill_shapes(void **state)
{
    (void)state;
    static const struct {
        unsigned batch, heads, kv_heads, dim;
        uint64_t context, rows;
        unsigned threads;
        int line;
    } cases[] = {
        {1, 1, 1, 64, 0, 1, 1, __LINE__},    {1, 4, 2, 64, 0, 65, 2, __LINE__},
        {2, 3, 1, 80, 0, 130, 3, __LINE__},  {1, 8, 8, 128, 0, 97, 2, __LINE__},
        {1, 5, 1, 64, 100, 70, 2, __LINE__}, {1, 71, 1, 64, 0, 20, 2, __LINE__},
        {1, 2, 1, 256, 63, 66, 8, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attention_params params = {.batch = cases[i].batch,
                                          .heads = cases[i].heads,
                                          .kv_heads = cases[i].kv_heads,
                                          .k_dim = cases[i].dim,
                                          .v_dim = cases[i].dim,
                                          .context = cases[i].context,
                                          .rows = cases[i].rows,
                                          .prefill = true,
                                          .threads = cases[i].threads};
        check_params_on_all(params, cases[i].line);
    }
}

// A latent cache: the values are the first of the keys; awkward ranks, and DeepSeek's own.
static void latent_shapes(void **state)
{
    (void)state;
    static const struct {
        unsigned batch, heads, k_dim, v_dim, scale_dim;
        uint64_t context;
        unsigned threads;
        int line;
    } cases[] = {
        {1, 16, 576, 512, 192, 300, 2, __LINE__}, {1, 128, 576, 512, 192, 130, 3, __LINE__},
        {2, 5, 40, 32, 24, 0, 2, __LINE__},       {1, 1, 33, 17, 33, 64, 3, __LINE__},
        {3, 13, 31, 31, 0, 129, 4, __LINE__},     {1, 7, 288, 256, 96, 4097, 2, __LINE__},
        {1, 3, 17, 1, 0, 31, 1, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attention_params params = {.batch = cases[i].batch,
                                          .heads = cases[i].heads,
                                          .kv_heads = 1,
                                          .k_dim = cases[i].k_dim,
                                          .v_dim = cases[i].v_dim,
                                          .scale_dim = cases[i].scale_dim,
                                          .latent = true,
                                          .context = cases[i].context,
                                          .rows = 1,
                                          .threads = cases[i].threads,
                                          .prefetch_bytes = 1024};
        check_params_on_all(params, cases[i].line);
    }
}

// A latent token takes k_dim values, once.
static void latent_cache_holds_keys_alone(void **state)
{
    (void)state;
    struct attention *a = NULL;
    struct attention_params params = {.format = LINE_F16,
                                      .isa = isa_detect(),
                                      .batch = 2,
                                      .heads = 16,
                                      .kv_heads = 1,
                                      .k_dim = 576,
                                      .v_dim = 512,
                                      .latent = true,
                                      .context = 127,
                                      .rows = 1,
                                      .threads = 2};
    ASSERT_OK(attention_create(&a, &params));
    assert_int_equal(attention_stored_bytes(a), 2 * 128 * 576 * 2);
    attention_destroy(a);
    params.prefill = true;
    assert_int_equal(attention_create(&a, &params).code, STATUS_INVALID);
    params.prefill = false;
    params.v_dim = 577;
    assert_int_equal(attention_create(&a, &params).code, STATUS_INVALID);
}

// What is measured in somebody's memory leaves it as it is.
static void frozen_caches_stay(void **state)
{
    (void)state;
    struct attention_params params = {.format = LINE_F16,
                                      .isa = isa_detect(),
                                      .batch = 2,
                                      .heads = 4,
                                      .kv_heads = 2,
                                      .k_dim = 64,
                                      .v_dim = 64,
                                      .context = 100,
                                      .rows = 1,
                                      .threads = 2};
    for (int frozen = 0; frozen < 2; frozen++) {
        struct fixture f = {0};
        bool same = true;
        params.frozen = frozen != 0;
        setup(&f, &params);
        size_t bytes = attention_thread_bytes(f.attention, 0);
        unsigned char *before = malloc(2 * bytes);
        assert_non_null(before);
        for (unsigned t = 0; t < f.threads; t++) {
            memcpy(before + t * bytes, f.cache[t], bytes);
        }
        run_all(&f, LINEAR_FULL);
        for (unsigned t = 0; t < f.threads; t++) {
            same = same && memcmp(before + t * bytes, f.cache[t], bytes) == 0;
        }
        assert_int_equal(same, params.frozen);
        free(before);
        teardown(&f);
    }
}

// Windows shorter and longer than pages, chunks, and sinks in both phases.
static void windows_and_sinks(void **state)
{
    (void)state;
    static const struct {
        uint64_t context, rows, window;
        bool chunked, sinks;
        int line;
    } cases[] = {
        {0, 200, 1, false, false, __LINE__},  {0, 200, 31, false, true, __LINE__},
        {0, 300, 64, false, false, __LINE__}, {0, 300, 65, false, true, __LINE__},
        {0, 97, 128, false, false, __LINE__}, {0, 330, 100, true, false, __LINE__},
        {70, 80, 64, false, true, __LINE__},  {0, 130, 0, false, true, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attention_params params = {.batch = 2,
                                          .heads = 6,
                                          .kv_heads = 2,
                                          .k_dim = 64,
                                          .v_dim = 48,
                                          .context = cases[i].context,
                                          .rows = cases[i].rows,
                                          .window = cases[i].window,
                                          .chunked = cases[i].chunked,
                                          .sinks = cases[i].sinks,
                                          .prefill = true,
                                          .threads = 3};
        check_params_on_all(params, cases[i].line);
        params.prefill = false;
        params.rows = 1;
        params.context = cases[i].window;
        check_params_on_all(params, cases[i].line);
    }
}

// Pages that no row of a tile sees are not computed.
static void windows_skip_pages(void **state)
{
    (void)state;
    struct attention_params params = {.format = LINE_F32,
                                      .isa = isa_detect(),
                                      .batch = 1,
                                      .heads = 1,
                                      .kv_heads = 1,
                                      .k_dim = 16,
                                      .v_dim = 16,
                                      .rows = 6400,
                                      .prefill = true,
                                      .threads = 1};
    struct attention *all = NULL;
    struct attention *windowed = NULL;
    ASSERT_OK(attention_create(&all, &params));
    params.window = 64;
    ASSERT_OK(attention_create(&windowed, &params));
    // 50.5 pages a row on average, and two less a little.
    ASSERT_CLOSE(attention_flop_executed(all), 2.0 * 64 * 32 * 6400 * 50.5, 1e-12);
    ASSERT_CLOSE(attention_flop_executed(windowed), 2.0 * 64 * 32 * 6400 * 2, 0.02);
    attention_destroy(all);
    attention_destroy(windowed);
}

// Scores of opposite signs and large size: the maximum moves between pages.
static void large_scores_do_not_overflow(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct attention_params params = {.format = LINE_F32,
                                      .isa = isa_detect(),
                                      .batch = 1,
                                      .heads = 2,
                                      .kv_heads = 1,
                                      .k_dim = 64,
                                      .v_dim = 64,
                                      .context = 400,
                                      .rows = 1,
                                      .threads = 2};
    setup(&f, &params);
    for (unsigned t = 0; t < 2; t++) {
        float *values = (float *)(void *)f.cache[t];
        for (size_t i = 0; i < attention_thread_bytes(f.attention, t) / 4; i++) {
            values[i] *= 60; // scores of several hundred
        }
    }
    run_all(&f, LINEAR_FULL);
    assert_true(attention_check(f.attention, f.cache, 2) < 1e-3);
    teardown(&f);
}

static void check_sees_a_wrong_cache(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct attention_params params = {.format = LINE_F16,
                                      .isa = isa_detect(),
                                      .batch = 1,
                                      .heads = 4,
                                      .kv_heads = 1,
                                      .k_dim = 64,
                                      .v_dim = 64,
                                      .context = 100,
                                      .rows = 1,
                                      .threads = 1};
    setup(&f, &params);
    run_all(&f, LINEAR_FULL);
    assert_true(attention_check(f.attention, f.cache, 4) < attention_tolerance(f.attention));
    f.cache[0][1] ^= 0x80; // the sign of K[0, 0]
    assert_true(attention_check(f.attention, f.cache, 4) > attention_tolerance(f.attention));
    teardown(&f);
}

static void bad_params_are_refused(void **state)
{
    (void)state;
    struct attention *attention = NULL;
    struct attention_params params = {.batch = 1,
                                      .heads = 5,
                                      .kv_heads = 2, // does not divide
                                      .k_dim = 64,
                                      .v_dim = 64,
                                      .rows = 1,
                                      .threads = 1};
    assert_int_equal(attention_create(&attention, &params).code, STATUS_INVALID);
    params.kv_heads = 5;
    params.k_dim = ATTENTION_DIM_MAX + 1;
    assert_int_equal(attention_create(&attention, &params).code, STATUS_INVALID);
    assert_null(attention);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_shapes),
        cmocka_unit_test(prefill_shapes),
        cmocka_unit_test(latent_shapes),
        cmocka_unit_test(latent_cache_holds_keys_alone),
        cmocka_unit_test(frozen_caches_stay),
        cmocka_unit_test(windows_and_sinks),
        cmocka_unit_test(windows_skip_pages),
        cmocka_unit_test(large_scores_do_not_overflow),
        cmocka_unit_test(check_sees_a_wrong_cache),
        cmocka_unit_test(bad_params_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
