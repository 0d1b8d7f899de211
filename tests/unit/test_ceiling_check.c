#include "tests/test.h"
#include "workloads/ceiling_check.h"

#include <signal.h>

static void every_stream_does_what_it_says(void **state)
{
    (void)state;
    const struct stream_kernel *kernels[CEILING_KERNELS_MAX];
    size_t count = stream_kernels_find(kernels, CEILING_KERNELS_MAX, NULL, isa_detect());
    assert_true(count >= 17);
    for (size_t i = 0; i < count; i++) {
        ASSERT_OK(stream_kernel_check(kernels[i]));
    }
}

static void every_chain_does_what_it_says(void **state)
{
    (void)state;
    const struct compute_kernel *kernels[CEILING_KERNELS_MAX];
    struct isa_set isa = isa_detect();
    size_t count = compute_kernels_find(kernels, CEILING_KERNELS_MAX, NULL, isa);
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++) {
        ASSERT_OK(compute_kernel_check(kernels[i], isa.sve_bytes));
    }
}

static void skips_work(struct stream_slice *slice)
{
    (void)slice;
}

static void a_lazy_stream_is_found_out(void **state)
{
    (void)state;
    const struct stream_kernel *kernels[CEILING_KERNELS_MAX];
    size_t count = stream_kernels_find(kernels, CEILING_KERNELS_MAX, NULL, isa_detect());
    for (size_t i = 0; i < count; i++) {
        struct stream_kernel lazy = *kernels[i];
        lazy.run = skips_work;
        assert_int_equal(stream_kernel_check(&lazy).code, STATUS_MISMATCH);
    }
}

static const struct compute_kernel *first_f32(void)
{
    const struct compute_kernel *kernels[CEILING_KERNELS_MAX];
    assert_true(compute_kernels_find(kernels, CEILING_KERNELS_MAX, "f32", isa_detect()) > 0);
    return kernels[0];
}

static void half_the_instructions_are_found_out(void **state)
{
    (void)state;
    struct compute_kernel wrong = *first_f32();
    wrong.instructions *= 2;
    assert_int_equal(compute_kernel_check(&wrong, 0).code, STATUS_MISMATCH);
}

static void dies(struct compute_state *state, uint64_t iterations)
{
    (void)state;
    (void)iterations;
    (void)raise(SIGILL);
}

static void an_illegal_instruction_fails_only_itself(void **state)
{
    (void)state;
    struct compute_kernel good = *first_f32();
    struct compute_kernel bad = good;
    bad.run = dies;
    const struct compute_kernel *kernels[] = {&good, &bad, &good, &bad};
    bool passed[4];
    ASSERT_OK(compute_kernels_verify(passed, kernels, 4, 0));
    assert_true(passed[0]);
    assert_false(passed[1]);
    assert_true(passed[2]);
    assert_false(passed[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_does_what_it_says),
        cmocka_unit_test(every_chain_does_what_it_says),
        cmocka_unit_test(a_lazy_stream_is_found_out),
        cmocka_unit_test(half_the_instructions_are_found_out),
        cmocka_unit_test(an_illegal_instruction_fails_only_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
