#include "tests/test.h"
#include "workloads/known_work.h"

#include <time.h>

static void amounts_are_of_the_kernels(void **state)
{
    (void)state;
    const struct isa_set isa = {.features = UINT32_MAX, .sve_bytes = 32};
    const struct {
        enum known_work work;
        double flop_per_instruction;
    } cases[] = {
#ifdef __x86_64__
        {KNOWN_F64_SCALAR, 2}, {KNOWN_F64_128, 4},  {KNOWN_F64_256, 8},   {KNOWN_F64_512, 16},
        {KNOWN_F32_SCALAR, 2}, {KNOWN_F32_128, 8},  {KNOWN_F32_256, 16},  {KNOWN_F32_512, 32},
        {KNOWN_F16_SCALAR, 2}, {KNOWN_F16_512, 64}, {KNOWN_BF16_128, 16}, {KNOWN_BF16_512, 64},
#else
        {KNOWN_F64_SCALAR, 2}, {KNOWN_F64_128, 4},  {KNOWN_F32_128, 8},
        {KNOWN_F16_128, 16},   {KNOWN_F32_SVE, 16}, {KNOWN_F64_SVE, 8},
#endif
        {KNOWN_LOOP, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct known_amount amount = known_work_amount(cases[i].work, isa, 1000, NULL);
        ASSERT_CLOSE(amount.flop, 8000 * cases[i].flop_per_instruction, 0);
        // eight of the kernel, counting down, branching; vzeroupper once at most
        assert_true(amount.instructions >= 10000 && amount.instructions <= 10001);
        assert_true(strlen(known_work_name(cases[i].work)) <= 15);
    }
}

// Every kernel this CPU has is executed, so that an encoding the CPU refuses cannot hide.
static void kernels_run_here(void **state)
{
    (void)state;
    struct isa_set isa = isa_detect();
    struct known_buffer buffer;
    ASSERT_OK(known_buffer_create(&buffer, 1 << 16));
    size_t ran = 0;
    for (unsigned work = 0; work < KNOWN_WORK_COUNT; work++) {
        if (known_work_runs((enum known_work)work, isa)) {
            known_work_prepare((enum known_work)work, &buffer);
            known_work_run((enum known_work)work, 1000, &buffer);
            ran++;
        }
    }
    known_buffer_free(&buffer);
    assert_true(ran >= 6);
    assert_true(known_work_runs(KNOWN_LOOP, (struct isa_set){.features = 0}));
    assert_false(known_work_runs(KNOWN_F32_512, (struct isa_set){.features = 0}));
}

static void memory_kernels_know_their_bytes(void **state)
{
    (void)state;
    struct known_buffer buffer;
    ASSERT_OK(known_buffer_create(&buffer, 1000));
    assert_int_equal(buffer.size, 1024);
    struct isa_set isa = {.features = 0};
    ASSERT_CLOSE(known_work_amount(KNOWN_READ, isa, 1, &buffer).read_bytes, 1024, 0);
    ASSERT_CLOSE(known_work_amount(KNOWN_WRITE, isa, 1, &buffer).write_bytes, 1024, 0);
    known_buffer_free(&buffer);
}

// A longer loop takes longer: the work is done and not thrown away by the compiler.
static void work_is_done(void **state)
{
    (void)state;
    clock_t start = clock();
    known_work_run(KNOWN_CHAIN, 2000000, NULL); // 16 M dependent multiplications: >= 8 ms at 6 GHz
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_true(seconds > 0.002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_of_the_kernels),
        cmocka_unit_test(kernels_run_here),
        cmocka_unit_test(memory_kernels_know_their_bytes),
        cmocka_unit_test(work_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
