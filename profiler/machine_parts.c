#include "profiler/machine_parts.h"

#include "workloads/work.h"

#include <math.h>
#include <string.h>

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

void machine_parts_attention(struct estimate_rates *out, const struct result_machine *machine,
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
void machine_parts_elementwise(struct estimate_rates *out, const struct result_machine *machine,
                               const struct step *step, enum rate_end end)
{
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
        elementwise_seconds(&columns, quantising->inputs, WORK_QUANTISE_FLOP * quantising->values);
}
