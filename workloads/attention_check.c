#include "workloads/attention_plan.h"

#include <math.h>
#include <stdlib.h>

// The page of a unit that holds a token.
static const unsigned char *find_page(const struct attention *a, unsigned char *const *cache,
                                      uint64_t unit, uint64_t token)
{
    return attention_page(a, cache, unit * a->pages + token / ATTENTION_PAGE);
}

static double k_at(const struct attention *a, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, unsigned d)
{
    const unsigned char *page = find_page(a, cache, unit, token);
    unsigned in_page = token % ATTENTION_PAGE;
    if (a->quantised) {
        return attention_quant_get(&a->quant, page, in_page, d, false);
    }
    return line_get(a->params.format, page + in_page / LINE_ROWS * a->k_lines * LINE_BYTES,
                    in_page % LINE_ROWS, d);
}

static double v_at(const struct attention *a, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, unsigned d)
{
    if (a->params.latent) {
        return k_at(a, cache, unit, token, d);
    }
    const unsigned char *page = find_page(a, cache, unit, token);
    if (a->quantised) {
        return attention_quant_get(&a->quant, page, token % ATTENTION_PAGE, d, true);
    }
    return line_get(a->params.format, page + a->k_bytes + d / LINE_ROWS * a->v_lines * LINE_BYTES,
                    d % LINE_ROWS, token % ATTENTION_PAGE);
}

/** One query and the tokens that it sees. */
struct query {
    uint64_t index; // sequence, row, head
    uint64_t unit;
    unsigned head;
    uint64_t first, end; // tokens
};

static struct query query_at(const struct attention *a, uint64_t index)
{
    const struct attention_params *p = &a->params;
    unsigned head = (unsigned)(index % p->heads);
    uint64_t row = index / p->heads % p->rows;
    uint64_t sequence = index / p->heads / p->rows;
    return (struct query){.index = index,
                          .unit = sequence * p->kv_heads + head / a->group,
                          .head = head,
                          .first = attention_first_seen(a, p->context + row),
                          .end = p->context + row + 1};
}

// weights[token] = softmax of the exact scores of one query.
static void exact_weights(double *weights, const struct attention *a, unsigned char *const *cache,
                          const struct query *query)
{
    const float *q = a->q + query->index * a->params.k_dim;
    unsigned scale_dim = a->params.scale_dim > 0 ? a->params.scale_dim : a->params.k_dim;
    double sink = a->params.sinks ? (double)a->sinks[query->head] : -(double)INFINITY;
    double largest = sink;
    for (uint64_t token = query->first; token < query->end; token++) {
        double score = 0;
        for (unsigned d = 0; d < a->params.k_dim; d++) {
            score += (double)q[d] * k_at(a, cache, query->unit, token, d);
        }
        weights[token] = score / sqrt((double)scale_dim);
        largest = fmax(largest, weights[token]);
    }
    double sum = exp(sink - largest);
    for (uint64_t token = query->first; token < query->end; token++) {
        weights[token] = exp(weights[token] - largest);
        sum += weights[token];
    }
    for (uint64_t token = query->first; token < query->end; token++) {
        weights[token] /= sum;
    }
}

static double output_error(const struct attention *a, unsigned char *const *cache, uint64_t index,
                           double *weights)
{
    const struct query query = query_at(a, index);
    exact_weights(weights, a, cache, &query);
    double worst = 0;
    for (unsigned d = 0; d < a->params.v_dim; d++) {
        double sum = 0;
        double size = 0;
        for (uint64_t token = query.first; token < query.end; token++) {
            double product = weights[token] * v_at(a, cache, query.unit, token, d);
            sum += product;
            size += fabs(product);
        }
        // Integers may be 0 in all tokens seen: so must be the output.
        double error =
            fabs((double)a->out[index * a->out_floats + d] - sum) / (size > 0 ? size : 1);
        worst = error > worst || isnan(error) ? error : worst;
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

double attention_check(const struct attention *attention, unsigned char *const *cache,
                       uint64_t count)
{
    const struct attention_params *p = &attention->params;
    uint64_t all = (uint64_t)p->batch * p->rows * p->heads;
    uint64_t checked = count < all ? count : all;
    double *weights = malloc(attention->tokens * sizeof *weights);
    if (weights == NULL) {
        return HUGE_VAL;
    }
    double worst = 0;
    for (uint64_t i = 0; i < checked; i++) {
        uint64_t index = checked == 1 ? all - 1 : i * (all - 1) / (checked - 1);
        worst = fmax(worst, output_error(attention, cache, index, weights));
    }
    free(weights);
    return worst;
}

double attention_tolerance(const struct attention *attention)
{
    // |q||k| <= 2 sqrt(k_dim) per score after scaling by k_dim, with lambda sqrt(k_dim) u each.
    double k_dim = (double)attention->params.k_dim;
    double scores = 4 * 2 * k_dim * ((double)attention->scale * sqrt(k_dim));
    double sums = 4 * sqrt(ATTENTION_PAGE + (double)attention->pages);
    return (scores + sums) * 0x1p-24;
}
