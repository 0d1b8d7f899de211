// Experts: routes counted by hand, weights as the references norm them, products in double
// precision, distinct experts beside their expectation.
#include "roofline/step.h"
#include "tests/test.h"
#include "workloads/experts.h"
#include "workloads/router.h"

#include <omp.h>

#include <stdlib.h>

enum { THREADS = 3 };

static void choices_by_hand(void **state)
{
    (void)state;
    static const float logits[] = {1, 3, -2, 2.5F, 0};
    struct router router = {.scores = ROUTER_CHOSEN, .experts = 5, .used = 2};
    uint32_t ids[2];
    float weights[2];
    router_choose(ids, weights, &router, logits, NULL, 0);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 3);
    ASSERT_CLOSE((double)weights[0], 1 / (1 + exp(-0.5)), 1e-6);
    ASSERT_CLOSE((double)(weights[0] + weights[1]), 1, 1e-6);
    router.scores = ROUTER_ALL;
    router_choose(ids, weights, &router, logits, NULL, 4);
    assert_int_equal(ids[0], 0); // (1 + 4) mod 5
    assert_int_equal(ids[1], 2);
    double all = exp(1) + exp(3) + exp(-2) + exp(2.5) + 1;
    ASSERT_CLOSE((double)weights[1], exp(2.5) / all, 1e-6);
    // The bias decides who is chosen, and has no part in the weights.
    static const float bias[] = {0, -2, 0, 0, 2};
    router.scores = ROUTER_SIGMOID;
    router.scale = 2.5F;
    router_choose(ids, weights, &router, logits, bias, 0);
    assert_int_equal(ids[0], 4);
    assert_int_equal(ids[1], 3);
    double second = 1 / (1 + exp(-2.5));
    ASSERT_CLOSE((double)weights[0], 2.5 * 0.5 / (0.5 + second), 1e-6);
    ASSERT_CLOSE((double)weights[1], 2.5 * second / (0.5 + second), 1e-6);
}

static struct experts *make(enum line_format format, enum linear_class class_, unsigned rows,
                            bool gated)
{
    struct experts *e = NULL;
    const struct linear_params up = {.format = format,
                                     .class_ = class_,
                                     .isa = isa_detect(),
                                     .n = gated ? 192 : 96,
                                     .k = 64,
                                     .threads = THREADS};
    struct linear_params down = up;
    down.n = 64;
    down.k = 96;
    const struct experts_params params = {
        .up = up, .down = down, .experts = 7, .used = 2, .rows = rows, .gated = gated};
    ASSERT_OK(experts_create(&e, &params));
    return e;
}

static void routes_by_hand(void **state)
{
    (void)state;
    struct experts *e = make(LINE_F32, LINEAR_FMA, 4, true);
    static const uint32_t ids[] = {5, 2, 2, 6, 5, 6, 2, 5};
    static const uint32_t rows[] = {0, 1, 3, 0, 2, 3, 1, 2}; // of experts 2, 5, 6
    memcpy(e->ids, ids, sizeof ids);
    experts_route(e, 4);
    assert_int_equal(e->distinct, 3);
    assert_int_equal(e->chosen[0], 2);
    assert_int_equal(e->chosen[2], 6);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(e->row_of[i], rows[i]);
        assert_int_equal(e->row_of[e->slots[i]], i / 2);
    }
    assert_int_equal(e->first[2], 0);
    assert_int_equal(e->first[5], 3);
    assert_int_equal(e->first[6], 6);
    assert_int_equal(e->first[7], 8);
    experts_destroy(e);
}

static void run(struct experts *e, unsigned char **memory, const float *x, enum linear_mode mode)
{
    const struct experts_biases none = {NULL, NULL};
#pragma omp parallel num_threads(THREADS)
    {
        unsigned thread = (unsigned)omp_get_thread_num();
        experts_gather(e, thread, x, 64);
#pragma omp barrier
        experts_up(e, thread, memory[thread], mode);
#pragma omp barrier
        experts_activate(e, thread, &none);
#pragma omp barrier
        experts_down(e, thread, memory[thread], mode);
    }
}

// What a row gets is the mean of its two experts' outputs.
static void assert_mean(const struct experts *e)
{
    float out[64] = {0};
    experts_combine(e, out, 0, &(struct experts_biases){NULL, NULL});
    const float *a = e->down.y + e->slots[0] * e->down.form->ldy;
    const float *b = e->down.y + e->slots[1] * e->down.form->ldy;
    assert_true(fabs((double)out[3] - ((double)a[3] + (double)b[3]) / 2) < 1e-5);
}

static void check_case(enum line_format format, enum linear_class class_, unsigned rows, bool gated)
{
    struct experts *e = make(format, class_, rows, gated);
    unsigned char *memory[THREADS];
    float *x = calloc((size_t)rows * 64, sizeof *x);
    uint64_t seed = 5;
    assert_non_null(x);
    for (unsigned t = 0; t < THREADS; t++) {
        memory[t] = aligned_alloc(64, experts_thread_bytes(e));
        assert_non_null(memory[t]);
        experts_fill(e, t, memory[t], (uint64_t)t << 32);
    }
    for (size_t k = 0; k < (size_t)rows * 64; k++) {
        x[k] = line_random(&seed);
    }
    experts_route_randomly(e, rows, &seed);
    run(e, memory, x, LINEAR_MEMORY_ONLY);
    run(e, memory, x, LINEAR_COMPUTE_ONLY);
    run(e, memory, x, LINEAR_FULL);
    double error = experts_check(e, memory, 200, 7);
    assert_true(error > 0 && error <= experts_tolerance(e));
    assert_mean(e);
    for (unsigned t = 0; t < THREADS; t++) { // of the first chosen expert's first group
        memset(memory[t] + bank_offset(&e->up, e->chosen[0]), 0x3c, 1024);
    }
    assert_true(experts_check(e, memory, 200, 7) > experts_tolerance(e));
    for (unsigned t = 0; t < THREADS; t++) {
        free(memory[t]);
    }
    free(x);
    experts_destroy(e);
}

static void products_agree(void **state)
{
    (void)state;
    static const struct {
        enum line_format format;
        enum linear_class class_;
    } cases[] = {{LINE_F32, LINEAR_FMA},  {LINE_BF16, LINEAR_FMA}, {LINE_F16, LINEAR_FMA},
                 {LINE_Q8_0, LINEAR_DOT}, {LINE_Q4_0, LINEAR_DOT}, {LINE_INT8, LINEAR_DOT}};
    static const unsigned rows[] = {1, 2, 33, 65};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t r = 0; r < 4; r++) {
            check_case(cases[i].format, cases[i].class_, rows[r], r % 2 == 0);
        }
    }
}

// 2000 draws of 4 rows that go to 2 of 7: the mean is within four standard errors.
static void distinct_as_expected(void **state)
{
    (void)state;
    enum { DRAWS = 2000 };
    struct experts *e = make(LINE_F32, LINEAR_FMA, 4, true);
    uint64_t seed = 1;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        experts_route_randomly(e, 4, &seed);
        sum += e->distinct;
        squares += (double)e->distinct * e->distinct;
    }
    double mean = sum / DRAWS;
    double error = sqrt((squares / DRAWS - mean * mean) / DRAWS);
    assert_true(fabs(mean - step_distinct_experts(7, 2, 4)) < 4 * error);
    assert_true(error < 0.05);
    experts_destroy(e);
}

// So does what the turns make of one choice for all rows.
static void turns_spread_evenly(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    struct experts *e = make(LINE_F32, LINEAR_FMA, 4, true);
    double sum = 0;
    double squares = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        for (unsigned i = 0; i < 8; i++) {
            e->ids[i] = (i % 2 * 3 + router_turn(step, 9, i / 2, 7)) % 7;
        }
        experts_route(e, 4);
        sum += e->distinct;
        squares += (double)e->distinct * e->distinct;
    }
    double mean = sum / STEPS;
    double error = sqrt((squares / STEPS - mean * mean) / STEPS);
    assert_true(fabs(mean - step_distinct_experts(7, 2, 4)) < 4 * error);
    experts_destroy(e);
}

static void bad_counts_are_refused(void **state)
{
    (void)state;
    struct experts *e = NULL;
    const struct linear_params linear = {.isa = isa_detect(), .n = 16, .k = 16, .threads = 1};
    struct experts_params params = {
        .up = linear, .down = linear, .experts = 4, .used = 5, .rows = 1};
    assert_int_equal(experts_create(&e, &params).code, STATUS_INVALID);
    params.used = 2;
    params.rows = LINEAR_BATCH_MAX + 1;
    assert_int_equal(experts_create(&e, &params).code, STATUS_INVALID);
    assert_null(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_by_hand),     cmocka_unit_test(routes_by_hand),
        cmocka_unit_test(products_agree),      cmocka_unit_test(distinct_as_expected),
        cmocka_unit_test(turns_spread_evenly), cmocka_unit_test(bad_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
