#include "roofline/parallel.h"
#include "roofline/step.h"
#include "tests/test.h"
#include "workloads/model_file.h"

static struct model *load(const char *name)
{
    static struct model model; // too large for a stack
    ASSERT_OK(model_load(&model, name));
    return &model;
}

// The parts of all ranks are the whole: matrices, cache, and their FLOPs; the head is padded.
static void shards_add_up(void **state)
{
    (void)state;
    static struct model shard;
    static const unsigned counts[] = {1, 2, 4, 8};
    struct model *model = load("llama-3.2-1b");
    struct step_request request = step_defaults(STEP_DECODE);
    struct step whole;
    ASSERT_OK(step_compute(&whole, model, &request));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct step part;
        ASSERT_OK(parallel_shard(&shard, model, counts[i]));
        ASSERT_OK(model_check(&shard));
        ASSERT_OK(step_compute(&part, &shard, &request));
        static const enum model_operator ops[] = {MODEL_OP_QKV,      MODEL_OP_ATTENTION,
                                                  MODEL_OP_ATTN_OUT, MODEL_OP_GATE_UP,
                                                  MODEL_OP_DOWN,     MODEL_OP_HEAD};
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            const struct step_cost *a = step_find(&whole, ops[o]);
            const struct step_cost *b = step_find(&part, ops[o]);
            ASSERT_CLOSE(counts[i] * b->flop, a->flop, 1e-12);
            ASSERT_CLOSE(counts[i] * b->bytes.dram_lower_bound, a->bytes.dram_lower_bound, 1e-12);
        }
    }
    assert_int_equal(parallel_reduces(16), 32);
    assert_int_equal(parallel_reduce_bytes(model, 4), 4 * 2048 * 4);
}

static void heads_that_do_not_divide_are_an_error(void **state)
{
    (void)state;
    static struct model shard;
    struct status status = parallel_shard(&shard, load("llama-3.2-1b"), 3);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "32 heads, 8 key-value heads"));
    assert_non_null(strstr(status.detail, "accepted: 1, 2, 4, 8 ranks"));
    status = parallel_shard(&shard, load("gemma-2b"), 2); // one key-value head
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "accepted: 1 ranks"));
    assert_int_equal(parallel_shard(&shard, load("mixtral-8x7b"), 2).code, STATUS_UNAVAILABLE);
    assert_int_equal(parallel_shard(&shard, load("deepseek-v3"), 2).code, STATUS_UNAVAILABLE);
    // 8960 / 2 / 32 is whole; blocks of 256 are not.
    struct model *model = load("llama-2-7b");
    model_set_dtype(model, DTYPE_Q4_K);
    ASSERT_OK(parallel_shard(&shard, model, 1));
    status = parallel_shard(&shard, model, 2); // 11008 / 2 = 21.5 x 256
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "5504"));
}

static void odd_vocabularies_are_padded(void **state)
{
    (void)state;
    static struct model shard;
    ASSERT_OK(parallel_shard(&shard, load("gpt2"), 2));
    assert_int_equal(shard.head.n, 25129); // (50257 + 1) / 2
}

// Two ranks, two segments, by hand.
static void time_is_split(void **state)
{
    (void)state;
    const double times[] = {4, 4, 3, 1,  // rank 0: work, then all-reduces with waiting
                            6, 2, 1, 3}; // rank 1
    struct parallel_shares shares;
    parallel_split(&shares, times, 2, 2);
    ASSERT_CLOSE(shares.work_seconds, 5 + 3, 1e-15);
    ASSERT_CLOSE(shares.imbalance_seconds, 1 + 1, 1e-15);
    ASSERT_CLOSE(shares.network_seconds, 1 + 1, 1e-15);
    ASSERT_CLOSE(shares.seconds, 12, 1e-15);
    assert_int_equal(parallel_verdict(&shares, 2, 1), PARALLEL_MEMORY);
    assert_int_equal(parallel_verdict(&shares, 1, 2), PARALLEL_COMPUTE);
    shares.network_seconds = 9;
    assert_int_equal(parallel_verdict(&shares, 2, 1), PARALLEL_NETWORK);
    shares.imbalance_seconds = 10;
    assert_int_equal(parallel_verdict(&shares, 2, 1), PARALLEL_IMBALANCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_add_up),
        cmocka_unit_test(heads_that_do_not_divide_are_an_error),
        cmocka_unit_test(odd_vocabularies_are_padded),
        cmocka_unit_test(time_is_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
