#include "tests/test.h"
#include "workloads/linear.h"

#include <omp.h>

#include <stdlib.h>

// The kernels of every format, class and ISA that this CPU can execute, against the double
// reference, at shapes and thread counts that no loop divides evenly.

struct fixture {
    struct linear *linear;
    unsigned char *weights[8];
    unsigned threads;
};

static void run_all(struct fixture *f, enum linear_mode mode)
{
#pragma omp parallel num_threads((int)f->threads)
    {
        unsigned thread = (unsigned)omp_get_thread_num();
        linear_run(f->linear, thread, f->weights[thread], mode);
    }
}

// Values of every format; the integers of blocks take any, which line_fill()'s do not.
static void fill_any(unsigned char *weights, size_t bytes, enum line_format format, uint64_t k,
                     uint64_t seed)
{
    const struct line_layout *layout = line_layout(format);
    size_t group_lines = line_count(format, k);
    uint64_t state = seed;
    line_fill(weights, bytes, seed);
    for (size_t i = 0; i < bytes && layout->bits > 0; i++) {
        size_t line = i / LINE_BYTES % group_lines;
        bool scales = line < layout->head_lines ||
                      (layout->head_lines == 0 && line % layout->unit_lines == 0);
        if (!scales) {
            weights[i] = (unsigned char)((double)line_random(&state) * 128 + 128);
        }
    }
}

static double error_of(const struct linear_params *params, double *tolerance)
{
    struct fixture f = {.threads = params->threads};
    ASSERT_OK(linear_create(&f.linear, params));
    for (unsigned t = 0; t < params->threads; t++) {
        size_t bytes = linear_thread_bytes(f.linear, 0);
        f.weights[t] = aligned_alloc(64, bytes + 64);
        assert_non_null(f.weights[t]);
        fill_any(f.weights[t], bytes, params->format, params->k, 100 + t);
    }
    run_all(&f, LINEAR_MEMORY_ONLY);
    run_all(&f, LINEAR_COMPUTE_ONLY);
    run_all(&f, LINEAR_FULL);
    double error = linear_check(f.linear, (const unsigned char *const *)f.weights, params->n);
    *tolerance = linear_tolerance(f.linear);
    for (unsigned t = 0; t < params->threads; t++) {
        free(f.weights[t]);
    }
    linear_destroy(f.linear);
    return error;
}

static const struct {
    uint32_t removed;
    const char *name;
} isas[] = {{0, "all"},
            {ISA_NEON_I8MM, "no neon_i8mm"},
            {ISA_NEON_I8MM | ISA_SVE, "no sve"},
            {ISA_AVX512 | ISA_AVX512_BF16, "no avx512"},
            {ISA_AVX512 | ISA_AVX512_BF16 | ISA_AVX512_VNNI, "no avx512_vnni"},
            {ISA_AVX512 | ISA_AVX512_BF16 | ISA_AVX512_VNNI | ISA_AVX_VNNI, "no vnni"},
            {ISA_AVX512 | ISA_AVX512_BF16 | ISA_AVX2 | ISA_NEON | ISA_SVE, "portable"}};

// The next whole number of blocks above k: odd and even ones occur.
static uint64_t fitting(enum line_format format, uint64_t k)
{
    unsigned multiple = line_layout(format)->multiple_ks;
    return (k + multiple - 1) / multiple * multiple;
}

static void check_shape(uint64_t n, uint64_t k, unsigned batch, unsigned threads, size_t prefetch)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        struct linear_params params = {.n = n, .batch = batch, .threads = threads};
        params.isa = isa_without(isa_detect(), isas[i].removed);
        if (i > 0 &&
            params.isa.features == isa_without(isa_detect(), isas[i - 1].removed).features) {
            continue; // this CPU has none of them
        }
        params.prefetch_bytes = prefetch;
        for (int format = LINE_F32; format < LINE_FORMATS; format++) {
            params.k = fitting((enum line_format)format, k);
            for (int class_ = LINEAR_FMA; class_ <= LINEAR_DOT; class_++) {
                params.format = (enum line_format)format;
                params.class_ = (enum linear_class)class_;
                if (!linear_supported(params.format, params.class_, params.isa)) {
                    continue;
                }
                double tolerance = 0;
                double error = error_of(&params, &tolerance);
                if (!(error <= tolerance) || !(tolerance < 1e-4)) {
                    fail_msg("n %u k %u batch %u threads %u format %d class %d isa %s: error %g, "
                             "tolerance %g",
                             (unsigned)n, (unsigned)params.k, batch, threads, format, class_,
                             isas[i].name, error, tolerance);
                }
            }
        }
    }
}

static void every_batch(void **state)
{
    (void)state;
    for (unsigned batch = 1; batch <= 65; batch++) {
        check_shape(49, 259, batch, 2, batch % 2 == 0 ? 4096 : 0);
    }
}

static void awkward_shapes(void **state)
{
    (void)state;
    static const struct {
        uint64_t n, k;
        unsigned batch, threads;
    } shapes[] = {{1, 1, 1, 1},      {1, 1, 13, 3},    {16, 2, 5, 1},   {17, 127, 4, 2},
                  {33, 128, 12, 1},  {33, 129, 24, 3}, {15, 257, 7, 4}, {49, 1000, 1, 3},
                  {200, 1023, 2, 7}, {5, 3, 512, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_shape(shapes[i].n, shapes[i].k, shapes[i].batch, shapes[i].threads, 2048);
    }
}

static void check_sees_a_wrong_weight(enum line_format format, enum linear_class class_,
                                      unsigned char flip)
{
    struct linear_params params = {.format = format,
                                   .class_ = class_,
                                   .isa = isa_detect(),
                                   .n = 32,
                                   .k = 512,
                                   .batch = 3,
                                   .threads = 1};
    if (!linear_supported(format, class_, params.isa)) {
        return;
    }
    struct fixture f = {.threads = 1};
    ASSERT_OK(linear_create(&f.linear, &params));
    size_t bytes = linear_thread_bytes(f.linear, 0);
    f.weights[0] = aligned_alloc(64, bytes);
    assert_non_null(f.weights[0]);
    line_fill(f.weights[0], bytes, 1);
    run_all(&f, LINEAR_FULL);
    const unsigned char *const *weights = (const unsigned char *const *)f.weights;
    assert_true(linear_check(f.linear, weights, 32) < linear_tolerance(f.linear));
    f.weights[0][bytes - 1] ^= flip; // of W[31, 511]
    assert_true(linear_check(f.linear, weights, 32) > linear_tolerance(f.linear));
    free(f.weights[0]);
    linear_destroy(f.linear);
}

static void a_wrong_weight_is_seen(void **state)
{
    (void)state;
    check_sees_a_wrong_weight(LINE_BF16, LINEAR_FMA, 0x80);
    for (int format = LINE_Q8_0; format < LINE_FORMATS; format++) {
        check_sees_a_wrong_weight((enum line_format)format, LINEAR_DOT, 0x40);
    }
}

static void bad_params_are_refused(void **state)
{
    (void)state;
    struct linear *linear = NULL;
    struct linear_params params = {.n = 0, .k = 1, .batch = 1, .threads = 1};
    assert_int_equal(linear_create(&linear, &params).code, STATUS_INVALID);
    params.n = 1;
    params.batch = LINEAR_BATCH_MAX + 1;
    assert_int_equal(linear_create(&linear, &params).code, STATUS_INVALID);
    params.batch = 1;
    params.class_ = LINEAR_DOT; // f32 has no dot class
    assert_int_equal(linear_create(&linear, &params).code, STATUS_UNAVAILABLE);
    params.format = LINE_Q8_0;
    params.k = 33; // a block and a bit
    assert_int_equal(linear_create(&linear, &params).code, STATUS_INVALID);
    params.format = LINE_Q4_K;
    params.k = 128; // half a super-block
    assert_int_equal(linear_create(&linear, &params).code, STATUS_INVALID);
    assert_null(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_batch),
        cmocka_unit_test(awkward_shapes),
        cmocka_unit_test(a_wrong_weight_is_seen),
        cmocka_unit_test(bad_params_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
