#include "profiler/run_step_experts.h"

#include "profiler/result_build.h"
#include "roofline/step.h"

#include <math.h>
#include <string.h>

// Rows beyond the first digits of a sum: what two exact figures may differ by.
static const double rounding = 1e-9;

static double standard_error(double squares, uint64_t steps)
{
    double n = (double)steps;
    return steps < 2 ? (double)NAN : sqrt(squares / (n - 1) / n);
}

static double expert_bytes(const struct model_block *block, enum dtype_id dtype)
{
    double bytes = 0;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        const struct model_matrix *m = &block->matrices[i];
        if (model_role_operator(m->role) == MODEL_OP_EXPERTS) {
            bytes += (double)(model_matrix_bytes(m, dtype) + model_bias_bytes(m, dtype)) /
                     (double)block->mlp.experts;
        }
    }
    return bytes;
}

// Expectation and variance of one block's part: layers are independent, and stand for those that
// were left out.
static void expect_block(struct result_step_experts *out, double *variance, double *bytes_variance,
                         const struct model_block *block, unsigned layers, double rows,
                         enum dtype_id dtype)
{
    const struct model_mlp *mlp = &block->mlp;
    double distinct = step_distinct_experts(mlp->experts, mlp->experts_used, rows);
    double spread = step_distinct_experts_variance(mlp->experts, mlp->experts_used, rows);
    double bytes = expert_bytes(block, dtype) * block->layers / layers;
    out->experts = mlp->experts;
    out->experts_used = mlp->experts_used;
    out->layers += layers;
    out->distinct_expected += layers * distinct;
    out->weight_bytes_expected += layers * distinct * bytes;
    *variance += layers * spread;
    *bytes_variance += layers * spread * bytes * bytes;
}

static bool is_within(double found, double expected, double error)
{
    return fabs(found - expected) <= 3 * error + rounding * expected;
}

void run_step_experts(struct result_step *out, const struct forward *forward,
                      const struct run_steps *steps)
{
    struct forward_counts counts;
    struct result_step_experts e = {0};
    double variance = 0;
    double bytes_variance = 0;
    double rows = (double)out->batch * (double)(out->prompt > 0 ? out->prompt : 1);
    forward_get_counts(&counts, forward);
    if (counts.steps == 0) {
        return;
    }
    for (uint32_t b = 0; b < steps->model->block_count; b++) {
        const struct model_block *block = &steps->model->blocks[b];
        if (block->mlp.experts > 0) {
            expect_block(&e, &variance, &bytes_variance, block, forward_block_layers(forward, b),
                         rows, dtype_find_recipe(out->dtype));
        }
    }
    double n = (double)counts.steps;
    e.steps = counts.steps;
    e.distinct = counts.distinct;
    e.distinct_error = standard_error(counts.distinct_squares, counts.steps);
    e.distinct_expected /= e.layers;
    e.expected_error = sqrt(variance / n) / e.layers;
    e.weight_bytes = counts.bytes;
    e.weight_bytes_error = standard_error(counts.bytes_squares, counts.steps);
    e.weight_bytes_expected_error = sqrt(bytes_variance / n);
    e.within_error =
        is_within(e.distinct, e.distinct_expected, e.expected_error) &&
        is_within(e.weight_bytes, e.weight_bytes_expected, e.weight_bytes_expected_error);
    out->experts[0] = e;
    out->experts_count = 1;
}

void run_step_note_experts(struct result_run *run, const struct result_step *step)
{
    const struct result_step_experts *e = &step->experts[0];
    if (step->experts_count > 0 && !e->within_error) {
        result_warn(run, "experts_uneven", "more rounds: --repeat",
                    "%s/b%u: %.4g distinct experts a layer, expected %.4g with a standard error of "
                    "%.2g",
                    step->phase, step->batch, e->distinct, e->distinct_expected, e->expected_error);
    }
}
