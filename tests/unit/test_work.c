// Quantising as work of its own: right for every format, thread count and chunk, and its check sees
// what was not quantised.
#include "tests/test.h"
#include "workloads/isa.h"
#include "workloads/work.h"

#include <math.h>

enum { THREADS_MAX = 3, K = 608 };

static struct work *create(enum line_format format, unsigned threads, uint64_t rows)
{
    struct work *work = NULL;
    const struct linear_params params = {
        .format = format, .class_ = LINEAR_DOT, .isa = isa_detect(), .k = K, .threads = threads};
    ASSERT_OK(work_quantise(&work, &params, rows));
    return work;
}

static void run(struct work *work, unsigned threads, enum linear_mode mode)
{
    unsigned char *memory[THREADS_MAX] = {NULL}; // nothing of an instance is read
#pragma omp parallel num_threads((int)threads)
    {
        unsigned thread = 0;
#pragma omp for schedule(static, 1)
        for (unsigned i = 0; i < threads; i++) {
            thread = i;
        }
        work_run(work, thread, memory, mode);
    }
}

static void is_checked(void **state)
{
    (void)state;
    static const uint64_t rows[] = {1, 5, 13, LINEAR_BATCH_MAX + 3};
    unsigned char *memory[THREADS_MAX] = {NULL};
    for (int format = 0; format < LINE_FORMATS; format++) {
        bool blocks = line_is_blocks((enum line_format)format);
        for (size_t i = 0; blocks && i < sizeof rows / sizeof *rows; i++) {
            unsigned threads = 1 + (unsigned)i % THREADS_MAX;
            if (K % line_layout((enum line_format)format)->multiple_ks != 0) {
                continue;
            }
            struct work *work = create((enum line_format)format, threads, rows[i]);
            run(work, threads, LINEAR_COMPUTE_ONLY); // one unit of a thread's many
            assert_true(work_check(work, memory, 1) > work_tolerance(work));
            run(work, threads, LINEAR_FULL);
            double error = work_check(work, memory, 1);
            assert_true(error <= work_tolerance(work) && error > 0.1 * work_tolerance(work));
            run(work, threads, LINEAR_MEMORY_ONLY);
            ASSERT_CLOSE(work_check(work, memory, 1), error, 1e-15);
            ASSERT_CLOSE(work_flop_executed(work), 4.0 * (double)rows[i] * K, 1e-12);
            assert_true(work_stored_bytes(work) > 0 && work_thread_bytes(work) == LINE_BYTES);
            work_destroy(work);
        }
    }
    ASSERT_CLOSE(work_quantise_bytes(3, 64), 3 * 64 * 5.5, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
