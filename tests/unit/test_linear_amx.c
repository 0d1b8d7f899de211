#include "tests/test.h"
#include "workloads/line_rows.h"
#include "workloads/linear.h"
#include "workloads/linear_plan.h"
#include "workloads/linear_trial.h"
#include "workloads/simd/amx.h"

#include <omp.h>

#include <stdlib.h>

// The AMX kernels against the double reference, their tiles being C (amx_model.h): what remains to
// be seen on a CPU that has them is that its instructions do the same. Elsewhere the vectors of
// AVX-512 are real.

static struct isa_set with_tiles(void)
{
    struct isa_set isa = isa_detect();
    isa.features |= ISA_AMX_TILE | ISA_AMX_INT8 | ISA_AMX_BF16;
    return isa;
}

static bool has_vectors(void)
{
    return isa_has(isa_detect(), ISA_AVX512 | ISA_AVX512_VNNI);
}

static void run_all(struct linear *linear, unsigned char *const *weights, unsigned threads,
                    enum linear_mode mode)
{
    (void)threads; // a compiler without OpenMP sees no use
#pragma omp parallel num_threads((int)threads)
    {
        unsigned thread = (unsigned)omp_get_thread_num();
        linear_run(linear, thread, weights[thread], mode);
    }
}

static void fill(unsigned char *weights, size_t bytes, const struct linear_params *params)
{
    size_t group_bytes = line_count(params->format, params->k) * LINE_BYTES;
    for (size_t at = 0; at < bytes; at += group_bytes) {
        line_fill_weights(params->format, weights + at, group_bytes, 1, at);
    }
}

static void check(const struct linear_params *params, const char *class_name)
{
    enum { THREADS = 3 };
    struct linear *linear = NULL;
    unsigned char *weights[THREADS] = {NULL};
    assert_true(params->threads <= THREADS);
    ASSERT_OK(linear_create(&linear, params));
    assert_string_equal(linear_class_name(linear), class_name);
    size_t bytes = linear_thread_bytes(linear, 0);
    for (unsigned t = 0; t < params->threads; t++) {
        weights[t] = aligned_alloc(64, bytes + 64);
        assert_non_null(weights[t]);
        fill(weights[t], bytes, params);
    }
    run_all(linear, weights, params->threads, LINEAR_MEMORY_ONLY);
    run_all(linear, weights, params->threads, LINEAR_COMPUTE_ONLY);
    run_all(linear, weights, params->threads, LINEAR_FULL);
    double error = linear_check(linear, (const unsigned char *const *)weights, params->n);
    if (!(error <= linear_tolerance(linear))) {
        fail_msg("%s n %u k %u batch %u: error %g, tolerance %g", line_layout(params->format)->name,
                 (unsigned)params->n, (unsigned)params->k, params->batch, error,
                 linear_tolerance(linear));
    }
    for (unsigned t = 0; t < params->threads; t++) {
        free(weights[t]);
    }
    linear_destroy(linear);
}

static void check_k(enum line_format format, uint64_t k, const char *class_name)
{
    static const unsigned batches[] = {2, 3, 5, 16, 17, 33, 65};
    unsigned multiple = line_layout(format)->multiple_ks;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const struct linear_params params = {.format = format,
                                             .class_ = LINEAR_DOT,
                                             .isa = with_tiles(),
                                             .n = i % 2 == 0 ? 49 : 83,
                                             .k = (k + multiple - 1) / multiple * multiple,
                                             .batch = batches[i],
                                             .threads = 1 + (unsigned)i % 3,
                                             .prefetch_bytes = i % 2 == 0 ? 4096 : 0};
        check(&params, class_name);
    }
}

static void bf16(void **state)
{
    (void)state;
    // Fewer k than a tile's, whole tiles, odd and even ones, pieces and what is left of them.
    static const uint64_t ks[] = {1, 31, 32, 33, 96, 256, 259, 577};
    if (!has_vectors()) {
        skip();
    }
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        check_k(LINE_BF16, ks[i], "amx_bf16/tdpbf16ps/f32");
    }
}

static void blocks(void **state)
{
    (void)state;
    static const uint64_t ks[] = {1, 64, 259, 545};
    if (!has_vectors()) {
        skip();
    }
    for (int format = LINE_Q8_0; format < LINE_FORMATS; format++) {
        bool halves = format == LINE_Q6_K; // has no kernel of tiles
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            check_k((enum line_format)format, ks[i],
                    halves ? "avx512_vnni/vpdpbusd/i32" : "amx_int8/tdpbsud/i32");
        }
    }
}

// A view takes fewer and more rows than its form.
static void views(void **state)
{
    (void)state;
    enum { ROWS = 64, N = 32, K = 512 };
    struct linear *form = NULL;
    static float x[ROWS * K] __attribute__((aligned(64)));
    static float y[ROWS * N] __attribute__((aligned(64)));
    static unsigned char packed[sizeof x] __attribute__((aligned(64)));
    const struct linear_params params = {.format = LINE_INT8,
                                         .class_ = LINEAR_DOT,
                                         .isa = with_tiles(),
                                         .n = N,
                                         .k = K,
                                         .batch = 16,
                                         .threads = 1};
    uint64_t random = 5;
    if (!has_vectors()) {
        skip();
    }
    ASSERT_OK(linear_create(&form, &params));
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        x[i] = line_random(&random);
    }
    unsigned char *stored = aligned_alloc(64, linear_thread_bytes(form, 0));
    assert_non_null(stored);
    fill(stored, linear_thread_bytes(form, 0), &params);
    const unsigned char *const parts[] = {stored};
    for (unsigned rows = 1; rows <= ROWS; rows += 7) {
        struct linear view;
        linear_view(&view, form, rows, x, packed, y);
        linear_run(&view, 0, stored, LINEAR_FULL);
        assert_true(linear_check(&view, parts, N) <= linear_tolerance(&view));
    }
    free(stored);
    linear_destroy(form);
}

static void one_row_takes_vectors(void **state)
{
    (void)state;
    struct linear *linear = NULL;
    const struct linear_params params = {.format = LINE_Q8_0,
                                         .class_ = LINEAR_DOT,
                                         .isa = with_tiles(),
                                         .n = 16,
                                         .k = 64,
                                         .batch = 1,
                                         .threads = 1};
    if (!has_vectors()) {
        skip();
    }
    ASSERT_OK(linear_create(&linear, &params));
    assert_string_equal(linear_class_name(linear), "avx512_vnni/vpdpbusd/i32");
    linear_destroy(linear);
}

static void a_trial_refuses_wrong_tiles(void **state)
{
    (void)state;
    if (!has_vectors()) {
        skip();
    }
    assert_int_equal(linear_trial(with_tiles()).features, with_tiles().features);
    amx_model()->wrong = true;
    struct isa_set left = linear_trial(with_tiles());
    amx_model()->wrong = false;
    assert_int_equal(left.features,
                     isa_without(with_tiles(), ISA_AMX_INT8 | ISA_AMX_BF16).features);
    assert_int_equal(linear_trial(isa_detect()).features, isa_detect().features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bf16),
        cmocka_unit_test(blocks),
        cmocka_unit_test(views),
        cmocka_unit_test(one_row_takes_vectors),
        cmocka_unit_test(a_trial_refuses_wrong_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
