// The points of a run, counted out by hand for Llama 3.2 1B: 16 layers, width 2048, 32 query and 8
// cached heads of 64, 8192 inner, 128256 words.
#include "profiler/run_job.h"
#include "tests/test.h"
#include "workloads/model_file.h"

#include <stdlib.h>

static struct run_request request_for(bool decode, bool prefill, const char *dtypes)
{
    struct run_request request;
    run_request_defaults(&request);
    request.decode = decode;
    request.prefill = prefill;
    run_request_finish(&request);
    ASSERT_OK(run_request_dtypes(&request, dtypes));
    return request;
}

static void plan(struct run_jobs *out, const char *name, const struct run_request *request)
{
    static struct model model;
    ASSERT_OK(model_load(&model, name));
    ASSERT_OK(run_jobs_plan(out, &model, request));
}

struct expected {
    enum model_operator op;
    unsigned layers;
    uint64_t rows, n, k;
    double flop, bytes;
};

static void assert_jobs(const struct run_job *jobs, const struct expected *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(jobs[i].op, want[i].op);
        assert_int_equal(jobs[i].layers, want[i].layers);
        assert_int_equal(jobs[i].rows, want[i].rows);
        assert_int_equal(jobs[i].n, want[i].n);
        assert_int_equal(jobs[i].k, want[i].k);
        ASSERT_CLOSE(jobs[i].flop, want[i].flop, 1e-12);
        ASSERT_CLOSE(jobs[i].bytes, want[i].bytes, 1e-12);
    }
}

static void decode_by_hand(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, false, "bf16");
    request.batch = (struct option_counts){1, {4}};
    plan(&jobs, "llama-3.2-1b", &request);
    // 513 tokens are seen by each of 32 heads, 64 products for scores and for values; the cache
    // holds 2 x 8 x 64 halves a token, of 512 tokens and the new one.
    static const struct expected want[] = {
        {MODEL_OP_QKV, 16, 4, 3072, 2048, 2.0 * 4 * 3072 * 2048, 2.0 * 3072 * 2048},
        {MODEL_OP_ATTENTION, 16, 1, 0, 0, 4.0 * 2 * 32 * 128 * 513, 4.0 * 2 * 8 * 128 * 513},
        {MODEL_OP_ATTN_OUT, 16, 4, 2048, 2048, 2.0 * 4 * 2048 * 2048, 2.0 * 2048 * 2048},
        {MODEL_OP_GATE_UP, 16, 4, 16384, 2048, 2.0 * 4 * 16384 * 2048, 2.0 * 16384 * 2048},
        {MODEL_OP_DOWN, 16, 4, 2048, 8192, 2.0 * 4 * 2048 * 8192, 2.0 * 2048 * 8192},
        {MODEL_OP_HEAD, 1, 4, 128256, 2048, 2.0 * 4 * 128256 * 2048, 2.0 * 128256 * 2048}};
    assert_int_equal(jobs.count, 6);
    assert_jobs(jobs.list, want, 6);
    assert_string_equal(jobs.skipped, "");
    // The step is its operators, the norms and one embedding row a sequence.
    double sum = 0;
    for (size_t i = 0; i < jobs.count; i++) {
        sum += jobs.list[i].layers * jobs.list[i].bytes;
        assert_int_equal(jobs.list[i].prefill, false);
        assert_int_equal(jobs.list[i].batch, 4);
    }
    assert_true(jobs.list[0].step_bytes > sum && jobs.list[0].step_bytes < 1.001 * sum);
    free(jobs.list);
}

static void prefill_by_hand(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(false, true, "f32");
    request.batch = (struct option_counts){1, {2}};
    request.prompt = (struct option_counts){1, {128}};
    plan(&jobs, "llama-3.2-1b", &request);
    // Causal: 1 + 2 + ... + 128 pairs a head. The head sees the last token of each sequence.
    static const struct expected want[] = {
        {MODEL_OP_QKV, 16, 256, 3072, 2048, 2.0 * 256 * 3072 * 2048, 4.0 * 3072 * 2048},
        {MODEL_OP_ATTENTION, 16, 128, 0, 0, 2.0 * 2 * 32 * 128 * (128 * 129 / 2),
         2.0 * 2 * 8 * 128 * 128},
        {MODEL_OP_ATTN_OUT, 16, 256, 2048, 2048, 2.0 * 256 * 2048 * 2048, 4.0 * 2048 * 2048},
        {MODEL_OP_GATE_UP, 16, 256, 16384, 2048, 2.0 * 256 * 16384 * 2048, 4.0 * 16384 * 2048},
        {MODEL_OP_DOWN, 16, 256, 2048, 8192, 2.0 * 256 * 2048 * 8192, 4.0 * 2048 * 8192},
        {MODEL_OP_HEAD, 1, 2, 128256, 2048, 2.0 * 2 * 128256 * 2048, 4.0 * 128256 * 2048}};
    assert_int_equal(jobs.count, 6);
    assert_jobs(jobs.list, want, 6);
    free(jobs.list);
}

static void every_combination_once(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, true, "bf16,f32,bf16");
    request.batch = (struct option_counts){3, {1, 4, 16}};
    request.context = (struct option_counts){2, {0, 512}};
    plan(&jobs, "llama-3.2-1b", &request);
    // Two types x (3 batches x 2 contexts of decode, one prefill of one sequence) x 6 operators.
    assert_int_equal(jobs.count, 2 * (3 * 2 + 1) * 6);
    size_t prefills = 0;
    for (size_t i = 0; i < jobs.count; i++) {
        const struct run_job *job = &jobs.list[i];
        prefills += job->prefill;
        assert_true(!job->prefill || (job->batch == 1 && job->prompt == 512 && job->context == 0));
        assert_true(job->kv_dtype == (job->op == MODEL_OP_ATTENTION ? DTYPE_F16 : DTYPE_NONE));
    }
    assert_int_equal(prefills, 2 * 6);
    free(jobs.list);
}

static void what_has_no_kernel_is_named(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, false, "bf16");
    plan(&jobs, "mixtral-8x7b", &request);
    assert_string_equal(jobs.skipped, "experts, router");
    for (size_t i = 0; i < jobs.count; i++) {
        assert_true(jobs.list[i].op != MODEL_OP_EXPERTS && jobs.list[i].op != MODEL_OP_ROUTER);
    }
    free(jobs.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_by_hand),
        cmocka_unit_test(prefill_by_hand),
        cmocka_unit_test(every_combination_once),
        cmocka_unit_test(what_has_no_kernel_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
