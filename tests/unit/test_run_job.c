// The points of a run, counted out by hand for Llama 3.2 1B: 16 layers, width 2048, 32 query and 8
// cached heads of 64, 8192 inner, 128256 words.
#include "profiler/run_job.h"
#include "roofline/step.h"
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

// Every product's input once for its length: three of the width a layer and the head's, one of the
// MLP's. A prefill's head sees fewer rows.
static void quantising_by_hand(void **state)
{
    (void)state;
    for (int prefill = 0; prefill < 2; prefill++) {
        struct run_jobs jobs;
        struct run_request request = request_for(prefill == 0, prefill == 1, "q4_0");
        const uint64_t rows = prefill ? 2 * 128 : 2;
        request.batch = (struct option_counts){1, {2}};
        request.prompt = (struct option_counts){1, {128}};
        plan(&jobs, "llama-3.2-1b", &request);
        // Four operations a value; four bytes in, a value and a half word of eight in 32 out.
        const struct expected want[] = {
            {MODEL_OP_ACT_QUANT, prefill ? 48 : 49, rows, 2048, 2048, 4.0 * (double)rows * 2048,
             5.5 * (double)rows * 2048},
            {MODEL_OP_ACT_QUANT, 16, rows, 8192, 8192, 4.0 * (double)rows * 8192,
             5.5 * (double)rows * 8192},
            {MODEL_OP_ACT_QUANT, 1, 2, 2048, 2048, 4.0 * 2 * 2048, 5.5 * 2 * 2048}};
        assert_int_equal(jobs.count, prefill ? 9 : 8);
        assert_jobs(jobs.list + 6, want, jobs.count - 6);
        for (size_t i = 6; i < jobs.count; i++) {
            assert_int_equal(jobs.list[i].variant, i - 6);
            assert_true(!run_job_is_integer(&jobs.list[i]));
        }
        free(jobs.list);
    }
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

static const struct run_job *find_job(const struct run_jobs *jobs, enum model_operator op,
                                      unsigned variant)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->list[i].op == op && jobs->list[i].variant == variant) {
            return &jobs->list[i];
        }
    }
    fail_msg("no job of operator %d, variant %u", (int)op, variant);
    abort(); // not reached: fail_msg() leaves the test
}

// The points, each times its layers, are the step less norms and embedding rows.
static void assert_sum(const struct run_jobs *jobs, const char *name, bool prefill, unsigned batch)
{
    static struct model model;
    struct step step;
    struct step_request wanted = step_defaults(prefill ? STEP_PREFILL : STEP_DECODE);
    double flop = 0;
    double bytes = 0;
    ASSERT_OK(model_load(&model, name));
    wanted.dtype = DTYPE_BF16;
    wanted.batch = batch;
    ASSERT_OK(step_compute(&step, &model, &wanted));
    for (size_t i = 0; i < jobs->count; i++) {
        flop += jobs->list[i].layers * jobs->list[i].flop;
        bytes += jobs->list[i].layers * jobs->list[i].bytes;
    }
    bytes += step_find(&step, MODEL_OP_NORMS)->bytes.dram_lower_bound;
    ASSERT_CLOSE(flop, step.sum.flop, 1e-9);
    ASSERT_CLOSE(bytes, step.sum.bytes.dram_lower_bound, 1e-6);
}

// Mixtral 8x7B: 32 layers of 8 experts of 14336, two a token, d 4096.
static void experts_by_hand(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, false, "bf16");
    request.batch = (struct option_counts){1, {4}};
    plan(&jobs, "mixtral-8x7b", &request);
    const struct run_job *router = find_job(&jobs, MODEL_OP_ROUTER, 0);
    assert_int_equal(router->n, 8);
    assert_int_equal(router->k, 4096);
    const struct run_job *experts = find_job(&jobs, MODEL_OP_EXPERTS, 0);
    assert_int_equal(experts->layers, 32);
    ASSERT_CLOSE(experts->flop, 4.0 * 2 * 6 * 4096 * 14336, 1e-12);
    double one = 2.0 * 3 * 4096 * 14336;
    ASSERT_CLOSE(experts->instance_bytes, 8 * one, 1e-12);
    ASSERT_CLOSE(experts->bytes, 8 * (1 - pow(0.75, 4)) * one, 1e-12);
    assert_sum(&jobs, "mixtral-8x7b", false, 4);
    free(jobs.list);
}

// DeepSeek-V3: 61 layers, three of them dense, 128 heads of 128 + 64, ranks 1536 and 512.
static void latent_by_hand(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, false, "bf16");
    plan(&jobs, "deepseek-v3", &request);
    static const uint64_t want[][3] = {
        {1536 + 576, 7168, 0}, {128 * 192, 1536, 0}, {512, 128, 128}, {128, 512, 128}};
    for (unsigned i = 0; i < 4; i++) {
        const struct run_job *job = find_job(&jobs, MODEL_OP_QKV, i);
        assert_int_equal(job->layers, 61);
        assert_int_equal(job->n, want[i][0]);
        assert_int_equal(job->k, want[i][1]);
        assert_int_equal(job->heads, want[i][2]);
    }
    const struct run_job *attention = find_job(&jobs, MODEL_OP_ATTENTION, 0);
    assert_true(attention->latent);
    assert_int_equal(attention->attention.kv_heads, 1);
    assert_int_equal(attention->attention.k_dim, 576);
    assert_int_equal(attention->attention.v_dim, 512);
    assert_int_equal(attention->scale_dim, 192);
    ASSERT_CLOSE(attention->flop, 2.0 * 128 * (576 + 512) * 513, 1e-12);
    ASSERT_CLOSE(attention->bytes, 2.0 * 576 * 513, 1e-12);
    assert_int_equal(find_job(&jobs, MODEL_OP_GATE_UP, 0)->layers, 3);
    assert_int_equal(find_job(&jobs, MODEL_OP_GATE_UP, 1)->layers, 58); // the shared expert
    assert_sum(&jobs, "deepseek-v3", false, 1);
    free(jobs.list);
    request = request_for(false, true, "bf16");
    plan(&jobs, "deepseek-v3", &request);
    attention = find_job(&jobs, MODEL_OP_ATTENTION, 0);
    assert_true(!attention->latent);
    ASSERT_CLOSE(attention->bytes, 2.0 * 576 * 512, 1e-12);
    ASSERT_CLOSE(attention->instance_bytes, 2.0 * 128 * (192 + 128) * 512, 1e-12);
    assert_sum(&jobs, "deepseek-v3", true, 1);
    free(jobs.list);
}

// gpt-oss-20b: half of the 24 layers see 128 tokens.
static void windows_apart(void **state)
{
    (void)state;
    struct run_jobs jobs;
    struct run_request request = request_for(true, false, "bf16");
    plan(&jobs, "gpt-oss-20b", &request);
    const struct run_job *windowed = find_job(&jobs, MODEL_OP_ATTENTION, 0);
    const struct run_job *full = find_job(&jobs, MODEL_OP_ATTENTION, 1);
    assert_int_equal(windowed->attention.window, 128);
    assert_int_equal(full->attention.window, 0);
    assert_int_equal(windowed->layers, 12);
    assert_true(windowed->sinks && full->sinks);
    ASSERT_CLOSE(windowed->flop * 513, full->flop * 128, 1e-12);
    ASSERT_CLOSE(windowed->bytes * 513, full->bytes * 128, 1e-12);
    free(jobs.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_by_hand),     cmocka_unit_test(prefill_by_hand),
        cmocka_unit_test(quantising_by_hand), cmocka_unit_test(every_combination_once),
        cmocka_unit_test(experts_by_hand),    cmocka_unit_test(latent_by_hand),
        cmocka_unit_test(windows_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
