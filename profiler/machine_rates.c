#include "profiler/machine_rates.h"

#include "profiler/machine_parts.h"
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
    machine_parts_attention(&rates, machine, step, end);
    machine_parts_elementwise(&rates, machine, step, end);
    return rates;
}
