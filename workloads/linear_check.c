#include "workloads/linear_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char *group_of(const struct linear *linear,
                                     const unsigned char *const *weights, uint64_t row)
{
    size_t group = row / LINE_ROWS;
    unsigned thread = 0;
    while (group >= linear_first_group(linear, thread + 1)) {
        thread++;
    }
    return weights[thread] + (group - linear_first_group(linear, thread)) * linear->group_bytes;
}

double linear_weight(const struct linear *linear, const unsigned char *const *weights, uint64_t row,
                     uint64_t k)
{
    return line_get(linear->params.format, group_of(linear, weights, row), row % LINE_ROWS, k);
}

// The tile of a row of x.
static unsigned tile_of(const struct linear *l, unsigned b)
{
    unsigned tile = 0;
    while (linear_tile_first(l, tile + 1) <= b) {
        tile++;
    }
    return tile;
}

// The quantised values of row b of x, from where the kernel reads them.
static void quantised_row(double *out, const struct linear *l, unsigned b)
{
    unsigned tile = tile_of(l, b);
    unsigned columns = linear_tile_columns(l, tile);
    const unsigned char *words = linear_tile_x(l, tile, 0);
    b -= linear_tile_first(l, tile);
    for (uint64_t k = 0; k < l->params.k; k++) {
        const unsigned char *block =
            words + k / LINE_BLOCK_KS * LINEAR_BLOCK_WORDS * sizeof(uint32_t) * columns;
        float scale;
        int8_t values[4];
        memcpy(&scale, linear_block_word(l, block, LINEAR_WORD_SCALE, b, columns), sizeof scale);
        memcpy(values, linear_block_word(l, block, k % LINE_BLOCK_KS / 4, b, columns),
               sizeof values);
        out[k] = (double)scale * values[k % 4];
    }
}

// Row b of x as the kernel multiplied it.
static void multiplied_row(double *out, const struct linear *l, unsigned b)
{
    if (line_is_blocks(l->params.format)) {
        quantised_row(out, l, b);
        return;
    }
    for (uint64_t k = 0; k < l->params.k; k++) {
        float x = l->x[b * l->ldx + k];
        out[k] = (double)(l->params.class_ == LINEAR_DOT ? line_round(LINE_BF16, x) : x);
    }
}

// The largest distance of quantised x from x over the largest |x| of its block.
static double quantised_off(const struct linear *l, const double *quantised, unsigned b)
{
    const float *x = l->x + b * l->ldx;
    double worst = 0;
    for (uint64_t from = 0; from < l->params.k; from += LINE_BLOCK_KS) {
        double largest = 0;
        uint64_t left = l->params.k - from;
        uint64_t to = from + (left < LINE_BLOCK_KS ? left : LINE_BLOCK_KS);
        for (uint64_t k = from; k < to; k++) {
            largest = fmax(largest, fabs((double)x[k]));
        }
        for (uint64_t k = from; k < to; k++) {
            double off = fabs(quantised[k] - (double)x[k]) / (largest > 0 ? largest : 1);
            worst = off > worst || isnan(off) ? off : worst;
        }
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

double linear_pack_tolerance(void)
{
    return (0.5 + 1e-4) / 127;
}

double linear_pack_check(const struct linear *linear)
{
    double *row = malloc(linear->params.k * sizeof *row);
    double worst = row == NULL ? HUGE_VAL : 0;
    for (unsigned b = 0; row != NULL && b < linear->params.batch; b++) {
        quantised_row(row, linear, b);
        worst = fmax(worst, quantised_off(linear, row, b));
    }
    free(row);
    return worst;
}

/** What the rows of W are checked with. */
struct reference {
    const struct linear *linear;
    const unsigned char *const *weights;
    double *x;         // [batch][K], as multiplied
    double *w;         // [K], the row at hand
    double *magnitude; // [K], of its weights' terms
};

static double row_error(const struct reference *r, uint64_t row)
{
    const struct linear *l = r->linear;
    double worst = 0;
    const unsigned char *group = group_of(l, r->weights, row);
    for (uint64_t k = 0; k < l->params.k; k++) {
        r->w[k] = line_get(l->params.format, group, row % LINE_ROWS, k);
        r->magnitude[k] = line_magnitude(l->params.format, group, row % LINE_ROWS, k);
    }
    for (unsigned b = 0; b < l->params.batch; b++) {
        const double *x = r->x + b * l->params.k;
        double sum = 0;
        double size = 0;
        for (uint64_t k = 0; k < l->params.k; k++) {
            sum += r->w[k] * x[k];
            size += r->magnitude[k] * fabs(x[k]);
        }
        double error = fabs((double)l->y[b * l->ldy + row] - sum) / (size > 0 ? size : 1);
        worst = error > worst || isnan(error) ? error : worst;
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

static double check_rows(const struct reference *r, uint64_t rows)
{
    uint64_t n = r->linear->params.n;
    uint64_t count = rows < n ? rows : n;
    double worst = 0;
    for (unsigned b = 0; b < r->linear->params.batch; b++) {
        double *x = r->x + b * r->linear->params.k;
        multiplied_row(x, r->linear, b);
        if (line_is_blocks(r->linear->params.format) &&
            quantised_off(r->linear, x, b) > linear_pack_tolerance()) {
            return HUGE_VAL;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        worst = fmax(worst, row_error(r, count == 1 ? 0 : i * (n - 1) / (count - 1)));
    }
    for (unsigned thread = 0; thread < r->linear->params.threads; thread++) {
        uint64_t begin = linear_first_group(r->linear, thread) * LINE_ROWS;
        uint64_t end = linear_first_group(r->linear, thread + 1) * LINE_ROWS;
        if (begin < end && begin < n) {
            worst = fmax(worst, row_error(r, begin));
            worst = fmax(worst, row_error(r, (end < n ? end : n) - 1));
        }
    }
    return worst;
}

double linear_check(const struct linear *linear, const unsigned char *const *weights, uint64_t rows)
{
    uint64_t k = linear->params.k;
    struct reference r = {.linear = linear,
                          .weights = weights,
                          .x = malloc(linear->params.batch * k * sizeof *r.x),
                          .w = malloc(k * sizeof *r.w),
                          .magnitude = malloc(k * sizeof *r.magnitude)};
    bool memory = r.x != NULL && r.w != NULL && r.magnitude != NULL;
    double worst = memory ? check_rows(&r, rows) : HUGE_VAL;
    free(r.x);
    free(r.w);
    free(r.magnitude);
    return worst;
}

double linear_tolerance(const struct linear *linear)
{
    const struct linear *l = linear;
    double pieces = ceil((double)l->units / (double)l->piece_units);
    // In block formats the sum over what shares a scale is exact; its scale and the addition round,
    // and so does that of its minimum.
    unsigned per_unit = line_is_blocks(l->params.format)
                            ? l->layout->unit_ks / l->layout->scale_ks * (l->layout->minimums + 1U)
                            : l->layout->unit_ks;
    double additions = (double)l->piece_units * per_unit + pieces + 4;
    bool rounds_twice = l->params.format == LINE_BF16 && l->params.class_ == LINEAR_DOT;
    return additions * (rounds_twice ? 0x1p-23 : 0x1p-24);
}
