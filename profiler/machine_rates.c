#include "profiler/machine_rates.h"

#include "workloads/linear.h"

#include <math.h>
#include <string.h>

static bool counts(const struct result_compute *roof)
{
    return reading_is_present(&roof->flop_per_s) && roof->flop_per_s.value > 0 &&
           (roof->verified || roof->flop_per_s.origin == ORIGIN_DATASHEET);
}

const struct result_bandwidth *machine_read_roof(const struct result_machine *machine)
{
    const struct result_bandwidth *best = NULL;
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *roof = &machine->bandwidth[i];
        if (strcmp(roof->level, "DRAM") == 0 && strcmp(roof->kernel, "load") == 0 &&
            reading_is_present(&roof->bytes_per_s) && roof->bytes_per_s.value > 0 &&
            (best == NULL || roof->bytes_per_s.value > best->bytes_per_s.value)) {
            best = roof;
        }
    }
    return best;
}

static const struct result_compute *faster(const struct result_compute *a,
                                           const struct result_compute *b)
{
    return a == NULL || (b != NULL && b->flop_per_s.value > a->flop_per_s.value) ? b : a;
}

const struct result_compute *machine_compute_roof(const struct result_machine *machine,
                                                  const char *kind, const char *dtype)
{
    const struct result_compute *best = NULL;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *roof = &machine->compute[i];
        if (strcmp(roof->kind, kind) == 0 && strcmp(roof->dtype, dtype) == 0 && counts(roof)) {
            best = faster(best, roof);
        }
    }
    return best;
}

static bool is_block_format(enum dtype_id weights)
{
    return weights >= DTYPE_COUNT || dtype_get(weights)->kind == DTYPE_INT;
}

const struct result_compute *machine_peak(const struct result_machine *machine,
                                          enum dtype_id weights)
{
    if (weights == DTYPE_F64) {
        return machine_compute_roof(machine, "fma", "f64");
    }
    const bool block = is_block_format(weights);
    const struct {
        const char *dtype;
        bool lossless;
    } ways[] = {{"f32", true},
                {"f16", block || weights == DTYPE_F16},
                {"bf16", block || weights == DTYPE_BF16},
                {"int8", block}};
    const struct result_compute *best =
        machine_compute_roof(machine, "kernel", dtype_name(weights));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].lossless) {
            best = faster(best, machine_compute_roof(machine, "fma", ways[i].dtype));
            best = faster(best, machine_compute_roof(machine, "gemm", ways[i].dtype));
        }
    }
    return best;
}

double machine_rate_end(const struct reading *reading, enum rate_end end)
{
    double edge = end == RATE_LOW ? reading->ci95_low : reading->ci95_high;
    return end == RATE_VALUE || !isfinite(edge) || !(edge > 0) ? reading->value : edge;
}

static double rate_of(const struct result_compute *roof, enum rate_end end)
{
    return roof == NULL ? 0 : machine_rate_end(&roof->flop_per_s, end);
}

struct estimate_rates machine_bound_rates(const struct result_machine *machine,
                                          enum dtype_id weights, enum rate_end end)
{
    const struct result_bandwidth *read = machine_read_roof(machine);
    return (struct estimate_rates){
        .flop_per_s = rate_of(machine_peak(machine, weights), end),
        .bytes_per_s = read == NULL ? 0 : machine_rate_end(&read->bytes_per_s, end),
    };
}

// The measured batch next to `rows`: the largest not above it, or the smallest not below. NULL if
// there is none.
static const struct result_weight_read *neighbour(const struct result_machine *machine,
                                                  const char *dtype, double rows, bool below)
{
    const struct result_weight_read *found = NULL;
    for (size_t i = 0; i < machine->weight_read_count; i++) {
        const struct result_weight_read *read = &machine->weight_reads[i];
        bool side = below ? read->batch <= rows : read->batch >= rows;
        bool nearer =
            found == NULL || (below ? read->batch > found->batch : read->batch < found->batch);
        if (strcmp(read->dtype, dtype) == 0 && side && nearer &&
            reading_is_present(&read->bytes_per_s) && read->bytes_per_s.value > 0) {
            found = read;
        }
    }
    return found;
}

// Bytes of weights a second in products of so many rows; 0 if it was not measured. *whole: all that
// a product does is in it; else rows are beyond the measured ones, and arithmetic may take longer.
static double weight_rate(bool *whole, const struct result_machine *machine, const char *dtype,
                          double rows, enum rate_end end)
{
    const struct result_weight_read *a = neighbour(machine, dtype, rows, true);
    const struct result_weight_read *b = neighbour(machine, dtype, rows, false);
    *whole = b != NULL || (a != NULL && a->batch >= LINEAR_BATCH_MAX);
    if (a == NULL && b == NULL) {
        return 0;
    }
    a = a == NULL ? b : a;
    double low = 1 / machine_rate_end(&a->bytes_per_s, end);
    if (b == NULL) { // as many chunks as it takes
        return *whole ? a->batch / (rows * low) : 1 / low;
    }
    double high = 1 / machine_rate_end(&b->bytes_per_s, end);
    double part = a->batch == b->batch ? 0 : (rows - a->batch) / (b->batch - a->batch);
    return 1 / (low + part * (high - low));
}

// Rows that an operator's weights are multiplied with; of experts, on average over those touched.
static double rows_of(const struct step *step, const struct step_cost *cost, enum dtype_id weights)
{
    const struct dtype *dtype = dtype_get(weights);
    double bytes = (double)dtype->block_bytes / dtype->block_elements;
    if (cost->op == MODEL_OP_EXPERTS) {
        return fmax(1, cost->flop * bytes / (2 * cost->bytes.weights));
    }
    return (double)(cost->op == MODEL_OP_HEAD ? step->head_rows : step->rows);
}

static void set_products(struct estimate_rates *out, const struct result_machine *machine,
                         enum dtype_id weights, const struct step *step, enum rate_end end)
{
    for (size_t i = 0; i < step->operator_count && weights < DTYPE_COUNT; i++) {
        const struct step_cost *cost = &step->operators[i];
        if (estimate_reads_weights(cost->op) && cost->bytes.weights > 0) {
            bool whole = false;
            out->operator_bytes_per_s[cost->op] = weight_rate(&whole, machine, dtype_name(weights),
                                                              rows_of(step, cost, weights), end);
            out->operator_flop_per_s[cost->op] = whole ? (double)INFINITY : 0;
        }
    }
}

/** Which of the measured times is wanted; a 0 is any. */
struct wanted_part {
    const char *operator_;
    const char *phase;
    const char *dtype;
    unsigned batch;
    unsigned group;
    unsigned width;
    bool shortest; // of those that differ in tokens alone
};

static const struct result_part_time *find_part(const struct result_machine *machine,
                                                const struct wanted_part *wanted)
{
    const struct result_part_time *found = NULL;
    for (size_t i = 0; i < machine->part_time_count; i++) {
        const struct result_part_time *part = &machine->part_times[i];
        bool fits = strcmp(part->operator_, wanted->operator_) == 0 &&
                    strcmp(part->phase, wanted->phase) == 0 &&
                    strcmp(part->dtype, wanted->dtype) == 0 &&
                    (wanted->batch == 0 || part->batch == wanted->batch) &&
                    (wanted->group == 0 || part->group == wanted->group) &&
                    (wanted->width == 0 || part->width == wanted->width) &&
                    reading_is_present(&part->seconds) && part->seconds.value > 0;
        bool better = found == NULL || (wanted->shortest ? part->tokens < found->tokens
                                                         : part->tokens > found->tokens);
        found = fits && better ? part : found;
    }
    return found;
}

// The slow end of a rate is the long end of a time.
static double time_end(const struct reading *seconds, enum rate_end end)
{
    return machine_rate_end(seconds, end == RATE_LOW    ? RATE_HIGH
                                     : end == RATE_HIGH ? RATE_LOW
                                                        : RATE_VALUE);
}

// The line through (x0, y0) and (x1, y1) at x.
static double line_at(double x, double x0, double y0, double x1, double y1)
{
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/** Attention of decode: a sequence's KV head takes unit_seconds, and each of its visible tokens
 *  token_seconds. */
struct attention_times {
    double unit_seconds;
    double token_seconds;
};

// Seconds of a (sequence, KV head) in its longest measured cache; NaN if it was not measured.
static double unit_time(const struct result_machine *machine, const struct wanted_part *wanted,
                        enum rate_end end, double *tokens)
{
    const struct result_part_time *part = find_part(machine, wanted);
    if (part == NULL) {
        return (double)NAN;
    }
    *tokens = (double)part->tokens;
    return time_end(&part->seconds, end) / ((double)part->batch * part->kv_heads);
}

// By the group of query heads and their width; groups beyond the measured ones in proportion.
static double long_time(const struct result_machine *machine, struct wanted_part wanted,
                        double group, double width, enum rate_end end, double *tokens)
{
    static const unsigned groups[] = {1, 4, 16};
    size_t g = group <= groups[1] ? 0 : 1;
    double at[2];
    for (unsigned i = 0; i < 2; i++) {
        wanted.width = i == 0 ? 64 : 128;
        wanted.group = groups[g];
        double low = unit_time(machine, &wanted, end, tokens);
        wanted.group = groups[g + 1];
        at[i] =
            line_at(group, groups[g], low, groups[g + 1], unit_time(machine, &wanted, end, tokens));
    }
    return fmax(line_at(width, 64, at[0], 128, at[1]), at[0] / 2);
}

static bool find_attention(struct attention_times *out, const struct result_machine *machine,
                           const char *kv, double group, double width, enum rate_end end)
{
    struct wanted_part wanted = {.operator_ = "attention", .phase = "decode", .dtype = kv};
    double many = 0;
    double few = 0;
    double seconds = long_time(machine, wanted, group, width, end, &many);
    wanted.shortest = true;
    wanted.group = 4;
    double begin = unit_time(machine, &wanted, end, &few);
    out->token_seconds = (seconds - begin) / (many - few);
    if (isnan(out->token_seconds) || !(out->token_seconds > 0)) {
        return false;
    }
    out->unit_seconds = fmax(0, begin - few * out->token_seconds);
    return true;
}

// FLOP/s of attention over prompts, by the width of heads; 0 if it was not measured.
static double prompt_rate(const struct result_machine *machine, const char *kv, double width,
                          enum rate_end end)
{
    double seconds_per_flop[2] = {0};
    for (unsigned i = 0; i < 2; i++) {
        const struct wanted_part wanted = {
            .operator_ = "attention", .phase = "prefill", .dtype = kv, .width = i == 0 ? 64 : 128};
        const struct result_part_time *part = find_part(machine, &wanted);
        if (part == NULL) {
            return 0;
        }
        double n = (double)part->tokens;
        double pairs = (double)part->batch * part->kv_heads * part->group * n * (n + 1) / 2;
        seconds_per_flop[i] = time_end(&part->seconds, end) / (4 * pairs * part->width);
    }
    double found =
        line_at(1 / width, 1.0 / 64, seconds_per_flop[0], 1.0 / 128, seconds_per_flop[1]);
    return 1 / fmax(found, seconds_per_flop[1] / 2);
}

static void set_attention(struct estimate_rates *out, const struct result_machine *machine,
                          const struct step *step, enum rate_end end)
{
    const struct step_cost *cost = step_find(step, MODEL_OP_ATTENTION);
    const struct step_attention *a = &step->attention;
    const char *kv = dtype_name(step->request.kv_dtype);
    if (cost == NULL || a->latent || !(a->kv_vectors > 0) || !(a->scores > 0)) {
        return;
    }
    double width = cost->flop / (4 * a->scores);
    if (step->request.phase == STEP_PREFILL) {
        double rate = prompt_rate(machine, kv, width, end);
        if (rate > 0) { // of useful work, all that the kernel does besides included
            out->operator_flop_per_s[MODEL_OP_ATTENTION] = rate * cost->flop_executed / cost->flop;
            out->operator_bytes_per_s[MODEL_OP_ATTENTION] = (double)INFINITY;
        }
        return;
    }
    struct attention_times times;
    if (find_attention(&times, machine, kv, a->scores / a->kv_vectors, width, end)) {
        out->operator_seconds[MODEL_OP_ATTENTION] =
            a->units * times.unit_seconds + a->kv_vectors * times.token_seconds;
        out->operator_flop_per_s[MODEL_OP_ATTENTION] = (double)INFINITY;
        out->operator_bytes_per_s[MODEL_OP_ATTENTION] = (double)INFINITY;
    }
}

/** Element-wise work: a call takes call_seconds however few its rows, and each FLOP more. */
struct elementwise_times {
    double call_seconds;
    double seconds_per_flop;
};

// Of one row and of the most rows measured; both do as many FLOPs a value as norms.
static bool find_elementwise(struct elementwise_times *out, const struct result_machine *machine,
                             const char *operator_, enum rate_end end)
{
    enum { NORM_FLOP = 4 };
    const struct wanted_part wanted = {
        .operator_ = operator_, .phase = "decode", .dtype = "f32", .batch = 1};
    const struct result_part_time *one = find_part(machine, &wanted);
    const struct result_part_time *many = one;
    for (size_t i = 0; i < machine->part_time_count && one != NULL; i++) {
        const struct result_part_time *part = &machine->part_times[i];
        bool more = strcmp(part->operator_, operator_) == 0 && part->batch > many->batch &&
                    part->width == one->width && reading_is_present(&part->seconds);
        many = more ? part : many;
    }
    if (one == many) {
        return false;
    }
    out->call_seconds = time_end(&one->seconds, end);
    double more = fmax(0, time_end(&many->seconds, end) - out->call_seconds);
    out->seconds_per_flop =
        more / (NORM_FLOP * (double)many->width * ((double)many->batch - one->batch));
    return true;
}

static double elementwise_seconds(const struct elementwise_times *times, double calls, double flop)
{
    return calls * times->call_seconds + flop * times->seconds_per_flop;
}

// Norms are made row by row; rotary embedding and quantising share the columns of all rows.
static void set_elementwise(struct estimate_rates *out, const struct result_machine *machine,
                            const struct step *step, enum rate_end end)
{
    enum { QUANTISE_FLOP = 4 };
    struct elementwise_times rows;
    struct elementwise_times columns;
    const struct step_cost *norms = step_find(step, MODEL_OP_NORMS);
    const struct step_cost *rope = step_find(step, MODEL_OP_ROPE);
    const struct step_quantising *quantising = &step->quantising;
    if (!find_elementwise(&rows, machine, "norms", end) ||
        !find_elementwise(&columns, machine, "columns", end)) {
        return;
    }
    if (norms != NULL) {
        out->operator_seconds[MODEL_OP_NORMS] =
            elementwise_seconds(&rows, step->norm_calls, norms->flop_other);
    }
    if (rope != NULL) {
        out->operator_seconds[MODEL_OP_ROPE] =
            elementwise_seconds(&columns, rope->layers, rope->flop_other);
    }
    if (step->attention.units > 0) { // takes its queries from other threads
        out->operator_seconds[MODEL_OP_ATTENTION] +=
            step_find(step, MODEL_OP_ATTENTION)->layers * rows.call_seconds;
    }
    out->operator_seconds[MODEL_OP_ACT_QUANT] =
        elementwise_seconds(&columns, quantising->inputs, QUANTISE_FLOP * quantising->values);
}

struct estimate_rates machine_estimate_rates(const struct result_machine *machine,
                                             enum dtype_id weights, const struct step *step,
                                             enum rate_end end)
{
    struct estimate_rates rates = machine_bound_rates(machine, weights, end);
    const char *dtype = dtype_name(weights);
    const struct result_compute *kernel = faster(machine_compute_roof(machine, "kernel", dtype),
                                                 machine_compute_roof(machine, "gemm", dtype));
    if (kernel != NULL) {
        rates.flop_per_s = rate_of(kernel, end);
    }
    const struct result_compute *attention = machine_compute_roof(machine, "attention", "f16");
    rates.operator_flop_per_s[MODEL_OP_ATTENTION] =
        rate_of(attention != NULL ? attention : machine_compute_roof(machine, "fma", "f32"), end);
    set_products(&rates, machine, weights, step, end);
    set_attention(&rates, machine, step, end);
    set_elementwise(&rates, machine, step, end);
    return rates;
}
