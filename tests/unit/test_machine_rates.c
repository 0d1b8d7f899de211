// Rates of an estimate, and how fast weights are read by products of some rows.
#include "profiler/machine_rates.h"
#include "tests/test.h"

static struct result_weight_read reads_at(const char *dtype, unsigned batch, double rate)
{
    struct result_weight_read read = {.batch = batch, .threads = 2};
    (void)snprintf(read.dtype, sizeof read.dtype, "%s", dtype);
    double samples[] = {0.9 * rate, rate, 1.1 * rate};
    read.bytes_per_s = reading_of_samples(samples, 3, BETTER_HIGHER, ORIGIN_TIMED);
    return read;
}

// A step of products of so many rows; experts are touched by a quarter of them each.
static struct step products_of(enum dtype_id dtype, double rows)
{
    const struct dtype *type = dtype_get(dtype);
    double weights = 1e6 * type->block_bytes / type->block_elements;
    struct step step = {.operator_count = 3, .rows = (uint64_t)rows, .head_rows = (uint64_t)rows};
    step.operators[0] = (struct step_cost){.op = MODEL_OP_DOWN, .flop = 2e6 * rows};
    step.operators[0].bytes.weights = weights;
    step.operators[1] = step.operators[0];
    step.operators[1].op = MODEL_OP_HEAD;
    step.operators[2] = step.operators[0]; // four times the experts, a quarter of the rows each
    step.operators[2].op = MODEL_OP_EXPERTS;
    step.operators[2].bytes.weights *= 4;
    return step;
}

static double rate_at(const struct result_machine *machine, enum dtype_id dtype, double rows,
                      enum rate_end end)
{
    const struct step step = products_of(dtype, rows);
    struct estimate_rates rates = machine_estimate_rates(machine, dtype, &step, end);
    ASSERT_CLOSE(rates.operator_bytes_per_s[MODEL_OP_ATTENTION], 0, 1e-12); // by the read roof
    ASSERT_CLOSE(rates.operator_bytes_per_s[MODEL_OP_HEAD],
                 rates.operator_bytes_per_s[MODEL_OP_DOWN], 1e-12);
    return rates.operator_bytes_per_s[MODEL_OP_HEAD];
}

static void weights_are_read_as_fast_as_measured(void **state)
{
    (void)state;
    struct result_bandwidth load = {.level = "DRAM", .kernel = "load", .threads = 2};
    load.bytes_per_s = reading_plain(50e9, ORIGIN_TIMED);
    struct result_weight_read reads[] = {reads_at("q8_0", 16, 10e9), reads_at("q8_0", 1, 40e9),
                                         reads_at("q8_0", 4, 20e9), reads_at("q4_0", 1, 60e9)};
    struct result_machine machine = {
        .bandwidth = &load, .bandwidth_count = 1, .weight_reads = reads, .weight_read_count = 4};
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 1, RATE_VALUE), 40e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 4, RATE_VALUE), 20e9, 1e-9);
    // 2 rows: a third of the way from 25 to 50 ps a byte.
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 2, RATE_VALUE), 30e9, 1e-9);
    // 8 rows: a third of the way from 50 to 100 ps.
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 8, RATE_VALUE), 15e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 512, RATE_VALUE), 10e9, 1e-9);
    const struct step many = products_of(DTYPE_Q8_0, 512);
    ASSERT_CLOSE(machine_estimate_rates(&machine, DTYPE_Q8_0, &many, RATE_VALUE)
                     .operator_flop_per_s[MODEL_OP_HEAD],
                 0, 0); // beyond what was measured: arithmetic may take longer
    const struct step few = products_of(DTYPE_Q8_0, 8);
    assert_true(isinf(machine_estimate_rates(&machine, DTYPE_Q8_0, &few, RATE_VALUE)
                          .operator_flop_per_s[MODEL_OP_HEAD]));
    ASSERT_CLOSE(machine_estimate_rates(&machine, DTYPE_Q8_0, &few, RATE_VALUE)
                     .operator_bytes_per_s[MODEL_OP_EXPERTS],
                 30e9, 1e-9); // as two rows
    reads[0].batch = 512;
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 1024, RATE_VALUE), 5e9, 1e-9); // in two goes
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q8_0, 1, RATE_LOW), 36e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_Q4_0, 3, RATE_VALUE), 60e9, 1e-9);
    ASSERT_CLOSE(rate_at(&machine, DTYPE_BF16, 1, RATE_VALUE), 0, 1e-12); // not measured
}

static struct result_part_time part_of(const char *operator_, const char *phase, unsigned batch,
                                       uint64_t tokens, double seconds)
{
    struct result_part_time part = {.batch = batch, .tokens = tokens, .threads = 2};
    (void)snprintf(part.operator_, sizeof part.operator_, "%s", operator_);
    (void)snprintf(part.phase, sizeof part.phase, "%s", phase);
    (void)snprintf(part.dtype, sizeof part.dtype, "f32");
    part.seconds = reading_plain(seconds, ORIGIN_TIMED);
    return part;
}

static struct result_part_time attention_of(const char *phase, unsigned group, unsigned width,
                                            unsigned batch, uint64_t tokens, double seconds)
{
    struct result_part_time part = part_of("attention", phase, batch, tokens, seconds);
    part.kv_heads = 8;
    part.group = group;
    part.width = width;
    (void)snprintf(part.dtype, sizeof part.dtype, "f16");
    return part;
}

// 16 units of 1 us each, and for every one of their tokens 1 ns and what the group and width add.
static double decode_seconds(double group, double width, double tokens)
{
    return 8 * (1e-6 + tokens * 1e-9 * (1 + group) * width / 64);
}

static struct step attention_step(enum step_phase phase)
{
    struct step step = {.operator_count = 3};
    step.request.phase = phase;
    step.request.kv_dtype = DTYPE_F16;
    step.attention = (struct step_attention){.scores = 40e6, .kv_vectors = 5e6, .units = 2000};
    step.operators[0] = (struct step_cost){.op = MODEL_OP_ATTENTION,
                                           .layers = 10,
                                           .flop = 4.0 * 40e6 * 96,
                                           .flop_executed = 4.0 * 50e6 * 96};
    step.operators[1] = (struct step_cost){.op = MODEL_OP_NORMS, .layers = 5, .flop_other = 4e6};
    step.operators[2] = (struct step_cost){.op = MODEL_OP_ROPE, .layers = 7, .flop_other = 3e6};
    step.norm_calls = 11;
    step.quantising = (struct step_quantising){.inputs = 13, .values = 2e6};
    return step;
}

static void attention_takes_what_its_parts_do(void **state)
{
    (void)state;
    static const unsigned groups[] = {1, 4, 16};
    struct result_part_time parts[9];
    size_t count = 0;
    for (unsigned width = 64; width <= 128; width *= 2) {
        for (size_t g = 0; g < 3; g++) {
            parts[count++] = attention_of("decode", groups[g], width, 1, 1024,
                                          decode_seconds(groups[g], width, 1024));
        }
    }
    parts[count++] = attention_of("decode", 4, 128, 8, 16, 8 * decode_seconds(4, 128, 16));
    parts[count++] = attention_of("prefill", 4, 64, 1, 512, 1e-3);
    parts[count++] = attention_of("prefill", 4, 128, 1, 512, 1.5e-3);
    struct result_machine machine = {.part_times = parts, .part_time_count = count};
    struct step step = attention_step(STEP_DECODE); // groups of 8, heads of 96 values
    struct estimate_rates rates = machine_estimate_rates(&machine, DTYPE_BF16, &step, RATE_VALUE);
    // 5e6 tokens of 9 x 1.5 ns and 2000 units; the short cache tells the unit to a few per cent.
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_ATTENTION], 5e6 * 13.5e-9 + 2e-3, 0.02);
    assert_true(isinf(rates.operator_flop_per_s[MODEL_OP_ATTENTION]));
    step = attention_step(STEP_PREFILL);
    rates = machine_estimate_rates(&machine, DTYPE_BF16, &step, RATE_VALUE);
    // Useful FLOPs of the parts: 4 x 8 x 4 x width x 512 x 513 / 2; by the line over 1 / width.
    double flop = 4.0 * 32 * 64 * 512 * 513 / 2;
    double per_flop = 0.75e-3 / flop + (1e-3 - 0.75e-3) / flop / 3;
    ASSERT_CLOSE(rates.operator_flop_per_s[MODEL_OP_ATTENTION], 50.0 / 40 / per_flop, 1e-9);
    step.attention.latent = true; // no part is like it
    rates = machine_estimate_rates(&machine, DTYPE_BF16, &step, RATE_VALUE);
    ASSERT_CLOSE(rates.operator_flop_per_s[MODEL_OP_ATTENTION], 0, 0);
}

static void elementwise_work_takes_calls_and_values(void **state)
{
    (void)state;
    struct result_part_time parts[] = {
        part_of("norms", "decode", 512, 1, 2e-6 + 511 * 2048.0 * 4 * 1e-10),
        part_of("norms", "decode", 1, 1, 2e-6), part_of("columns", "decode", 1, 1, 1e-6),
        part_of("columns", "decode", 512, 1, 1e-6 + 511 * 2048.0 * 4 * 2e-10)};
    for (size_t i = 0; i < 4; i++) {
        parts[i].width = 2048;
    }
    struct result_machine machine = {.part_times = parts, .part_time_count = 4};
    const struct step step = attention_step(STEP_DECODE);
    struct estimate_rates rates = machine_estimate_rates(&machine, DTYPE_Q8_0, &step, RATE_VALUE);
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_NORMS], 11 * 2e-6 + 4e6 * 1e-10, 1e-9);
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_ROPE], 7 * 1e-6 + 3e6 * 2e-10, 1e-9);
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_ACT_QUANT], 13 * 1e-6 + 8e6 * 2e-10, 1e-9);
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_ATTENTION], 10 * 2e-6, 1e-9);
    machine.part_time_count = 2; // without columns nothing is told
    rates = machine_estimate_rates(&machine, DTYPE_Q8_0, &step, RATE_VALUE);
    ASSERT_CLOSE(rates.operator_seconds[MODEL_OP_NORMS], 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_read_as_fast_as_measured),
        cmocka_unit_test(attention_takes_what_its_parts_do),
        cmocka_unit_test(elementwise_work_takes_calls_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
