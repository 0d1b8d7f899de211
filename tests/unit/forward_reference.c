#include "tests/unit/forward_reference.h"

#include <stdlib.h>

double *reference_doubles(size_t n)
{
    double *out = calloc(n, sizeof *out);
    assert_non_null(out);
    return out;
}

// x as the kernel multiplies it.
static void round_input(double *out, const double *x, const struct linear *l)
{
    for (uint64_t k = 0; k < l->params.k; k++) {
        out[k] = l->params.class_ == LINEAR_DOT ? (double)line_round(LINE_BF16, (float)x[k]) : x[k];
    }
    for (uint64_t from = 0; line_is_blocks(l->params.format) && from < l->params.k; from += 32) {
        double largest = 0;
        for (uint64_t k = from; k < from + 32; k++) {
            largest = fmax(largest, fabs(x[k]));
        }
        for (uint64_t k = from; k < from + 32; k++) {
            out[k] = largest > 0 ? nearbyint(x[k] * 127 / largest) * largest / 127 : 0;
        }
    }
}

void reference_product(double *y, const struct fixture *f, const struct linear *l, size_t offset,
                       const double *x, uint64_t rows, const float *bias)
{
    const unsigned char *at[THREADS_MOST];
    uint64_t n_count = l->params.n;
    uint64_t k_count = l->params.k;
    double *w = reference_doubles(n_count * k_count);
    double *rounded = reference_doubles(k_count);
    for (unsigned t = 0; t < l->params.threads; t++) {
        at[t] = f->before[t] + offset;
    }
    for (uint64_t i = 0; i < n_count * k_count; i++) {
        w[i] = linear_weight(l, at, i / k_count, i % k_count);
    }
    for (uint64_t row = 0; row < rows; row++) {
        round_input(rounded, x + row * k_count, l);
        for (uint64_t n = 0; n < n_count; n++) {
            double sum = bias != NULL ? (double)bias[n] : 0;
            for (uint64_t k = 0; k < k_count; k++) {
                sum += w[n * k_count + k] * rounded[k];
            }
            y[row * n_count + n] = sum;
        }
    }
    free(w);
    free(rounded);
}

void reference_parts(double *y, const struct fixture *f, const struct forward_linear *l,
                     size_t offset, const double *x, uint64_t rows, const float *bias)
{
    uint64_t column = 0;
    for (unsigned i = 0; i < l->part_count; i++) {
        const struct forward_part *part = &l->parts[i];
        double *own = reference_doubles(rows * part->n);
        reference_product(own, f, part->chunk, offset + part->offset, x, rows,
                          bias == NULL ? NULL : bias + column);
        for (uint64_t row = 0; row < rows; row++) {
            memcpy(y + row * l->n + column, own + row * part->n, part->n * sizeof *y);
        }
        free(own);
        column += part->n;
    }
}

void reference_norm(double *out, const double *x, size_t n, bool layer_norm, const float *weight,
                    const float *bias)
{
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < n && layer_norm; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = (x[i] - mean) / sqrt(square + 1e-5) * (double)weight[i] +
                 (layer_norm ? (double)bias[i] : 0);
    }
}

static void norm_rows(double *out, const struct fixture *f, const double *x, uint64_t rows,
                      const float *weight, const float *bias)
{
    uint64_t d = f->forward->d;
    for (uint64_t row = 0; row < rows; row++) {
        reference_norm(out + row * d, x + row * d, d, f->forward->layer_norm, weight, bias);
    }
}

static double activate(enum elementwise_activation which, double x)
{
    if (which == ELEMENTWISE_RELU) {
        return fmax(x, 0);
    }
    double z = which == ELEMENTWISE_SILU      ? x
               : which == ELEMENTWISE_CLAMPED ? 1.702 * fmin(x, 7)
                                              : 1.5957691216057308 * (x + 0.044715 * x * x * x);
    return (which == ELEMENTWISE_CLAMPED ? fmin(x, 7) : x) / (1 + exp(-z));
}

static double gated(enum elementwise_activation which, double gate, double up)
{
    bool clamped = which == ELEMENTWISE_CLAMPED;
    return activate(which, gate) * (clamped ? fmin(fmax(up, -7), 7) + 1 : up);
}

static void add(double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += y[i];
    }
}

void reference_multiply(double *y, const struct layer *l, enum forward_product which,
                        const double *x)
{
    const struct forward_linear *linear = &l->block->products[which];
    reference_parts(y, l->f, linear, l->offset, x, l->f->forward->rows,
                    linear->biased ? l->vectors + l->block->at.bias[which] : NULL);
}

void reference_mlp(const struct layer *l)
{
    const struct forward *w = l->f->forward;
    const struct forward_block *b = l->block;
    uint64_t width = b->width;
    reference_multiply(l->up, l, FORWARD_GATE_UP, l->x);
    for (uint64_t i = 0; i < w->rows * width; i++) {
        const double *gate = l->up + i / width * b->products[FORWARD_GATE_UP].n + i % width;
        l->act[i] = b->gated ? gated(w->form->activation, gate[0], gate[width])
                             : activate(w->form->activation, gate[0]);
    }
    reference_multiply(l->down, l, FORWARD_DOWN, l->act);
}

/** The choice of one row. */
struct choice {
    uint32_t ids[16];
    double weights[16];
};

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void choose(struct choice *out, const struct router *r, const double *logits,
                   const float *bias)
{
    bool *taken = calloc(r->experts, sizeof *taken);
    double all = 0;
    double sum = 0;
    assert_non_null(taken);
    for (uint32_t i = 0; i < r->experts; i++) {
        all += exp(logits[i]);
    }
    for (uint32_t j = 0; j < r->used; j++) {
        double most = -HUGE_VAL;
        for (uint32_t i = 0; i < r->experts; i++) {
            bool squashed = bias != NULL && r->scores == ROUTER_SIGMOID;
            double score = squashed ? sigmoid(logits[i]) : logits[i];
            score += bias != NULL ? (double)bias[i] : 0;
            if (!taken[i] && score > most) {
                most = score;
                out->ids[j] = i;
            }
        }
        taken[out->ids[j]] = true;
        double logit = logits[out->ids[j]];
        out->weights[j] = r->scores == ROUTER_SIGMOID ? sigmoid(logit) : exp(logit);
        sum += out->weights[j];
    }
    for (uint32_t j = 0; j < r->used; j++) {
        double scale = r->scale > 0 ? (double)r->scale : 1;
        out->weights[j] *= scale / (r->scores == ROUTER_ALL ? all : sum);
    }
    free(taken);
}

// What one expert makes of x[d], weighted, into out[d].
static void add_expert(double *out, const struct layer *l, uint32_t id, double weight,
                       const double *x)
{
    const struct experts *e = l->block->experts;
    const struct linear *up = e->up.form;
    const struct linear *down = e->down.form;
    const bool biased = l->block->experts_biased;
    size_t offset = l->offset + l->block->experts_offset;
    const float *up_bias = l->vectors + l->block->at.expert_up + id * up->params.n;
    const float *down_bias = l->vectors + l->block->at.expert_down + id * down->params.n;
    double *y = reference_doubles(up->params.n);
    double *act = reference_doubles(down->params.k);
    double *z = reference_doubles(down->params.n);
    reference_product(y, l->f, up, offset + bank_offset(&e->up, id), x, 1, biased ? up_bias : NULL);
    for (uint64_t i = 0; i < down->params.k; i++) {
        act[i] = gated(e->params.activation, y[i], y[down->params.k + i]);
    }
    reference_product(z, l->f, down, offset + e->down_offset + bank_offset(&e->down, id), act, 1,
                      biased ? down_bias : NULL);
    for (uint64_t i = 0; i < down->params.n; i++) {
        out[i] += weight * z[i];
    }
    free(y);
    free(act);
    free(z);
}

void reference_experts(double *h, const struct layer *l)
{
    const struct forward *w = l->f->forward;
    const struct forward_block *b = l->block;
    const struct router *r = &b->router;
    uint64_t n = b->products[FORWARD_ROUTER].n;
    bool shared = b->products[FORWARD_DOWN].n > 0;
    double *logits = reference_doubles(w->rows * n);
    const struct forward_linear *router = &b->products[FORWARD_ROUTER];
    const float *bias = router->biased ? l->vectors + b->at.bias[FORWARD_ROUTER] : NULL;
    reference_parts(logits, l->f, router, l->offset, l->x, w->rows, NULL);
    if (shared) {
        reference_mlp(l);
    }
    for (uint64_t row = 0; row < w->rows; row++) {
        struct choice choice;
        choose(&choice, r, logits + row * n, bias);
        for (uint32_t j = 0; j < r->used; j++) {
            uint32_t turn = router_turn(w->steps[0] - 1, l->number, row, r->experts);
            add_expert(h + row * w->d, l, (choice.ids[j] + turn) % r->experts, choice.weights[j],
                       l->x + row * w->d);
        }
        double gate = b->shared_gate ? sigmoid(logits[row * n + r->experts]) : 1;
        for (uint64_t i = 0; shared && i < w->d; i++) {
            h[row * w->d + i] += gate * l->down[row * w->d + i];
        }
    }
    free(logits);
}

static void add_normed(double *h, const struct layer *l, double *y, enum forward_norm after)
{
    const struct forward *w = l->f->forward;
    if (w->form->after_norms) {
        norm_rows(y, l->f, y, w->rows, l->vectors + l->block->at.norm_weight[after],
                  l->vectors + l->block->at.norm_bias[after]);
    }
    add(h, y, w->rows * w->d);
}

static void run_layer(const struct layer *l, double *h)
{
    const struct forward *w = l->f->forward;
    const struct forward_vectors *at = &l->block->at;
    norm_rows(l->x, l->f, h, w->rows, l->vectors + at->norm_weight[0],
              l->vectors + at->norm_bias[0]);
    reference_multiply(l->qkv, l, FORWARD_QKV, l->x);
    reference_attention(l);
    reference_multiply(l->out, l, FORWARD_OUT, l->attended);
    if (!w->form->parallel) {
        add_normed(h, l, l->out, FORWARD_NORM_AFTER_ATTENTION);
    }
    if (!w->form->one_norm) {
        norm_rows(l->x, l->f, h, w->rows, l->vectors + at->norm_weight[1],
                  l->vectors + at->norm_bias[1]);
    }
    if (l->block->experts != NULL) {
        reference_experts(h, l);
        return;
    }
    reference_mlp(l);
    add_normed(h, l, l->down, FORWARD_NORM_AFTER_MLP);
    if (w->form->parallel) {
        add(h, l->out, w->rows * w->d);
    }
}

static void run_block(const struct fixture *f, const struct forward_block *b, unsigned first,
                      double *h)
{
    uint64_t rows = f->forward->rows;
    struct layer l = {.f = f, .block = b};
    l.x = reference_doubles(rows * f->forward->d);
    l.qkv = reference_doubles(rows * b->products[FORWARD_QKV].n);
    l.attended = reference_doubles(rows * b->products[FORWARD_OUT].k);
    l.out = reference_doubles(rows * f->forward->d);
    l.up = reference_doubles(rows * b->products[FORWARD_GATE_UP].n);
    l.act = reference_doubles(rows * b->width);
    l.down = reference_doubles(rows * f->forward->d);
    for (unsigned i = 0; i < b->layers; i++) {
        l.vectors = b->vectors + i * b->at.floats;
        l.number = first + i;
        l.offset = b->first_offset + i * b->layer_bytes;
        run_layer(&l, h);
    }
    free(l.x);
    free(l.qkv);
    free(l.attended);
    free(l.out);
    free(l.up);
    free(l.act);
    free(l.down);
}

static void embed(double *h, const struct fixture *f)
{
    const struct forward *w = f->forward;
    float *row = malloc(w->d * sizeof *row);
    assert_non_null(row);
    for (uint64_t r = 0; r < w->rows; r++) {
        forward_look_up(w, &w->embedding, row, (unsigned char *const *)f->before, w->ids[r]);
        for (uint64_t i = 0; i < w->d; i++) {
            h[r * w->d + i] = (double)row[i];
        }
        if (w->positions.n > 0) {
            forward_look_up(w, &w->positions, row, (unsigned char *const *)f->before,
                            w->first_position + r % w->tokens);
            for (uint64_t i = 0; i < w->d; i++) {
                h[r * w->d + i] += (double)row[i];
            }
        }
    }
    free(row);
}

double *reference_logits(const struct fixture *f)
{
    const struct forward *w = f->forward;
    double *h = reference_doubles(w->rows * w->d);
    double *last = reference_doubles(w->params.batch * w->d);
    double *logits = reference_doubles(w->params.batch * w->head.n);
    embed(h, f);
    unsigned first = 0;
    for (unsigned b = 0; b < w->block_count; b++) {
        run_block(f, &w->blocks[b], first, h);
        first += w->blocks[b].layers;
    }
    for (unsigned s = 0; s < w->params.batch; s++) {
        const double *from = h + ((s + 1) * w->tokens - 1) * w->d;
        if (w->final_norm != NULL) {
            reference_norm(last + s * w->d, from, w->d, w->layer_norm, w->final_norm,
                           w->final_norm + w->d);
        } else {
            memcpy(last + s * w->d, from, w->d * sizeof *from);
        }
    }
    reference_parts(logits, f, &w->head, 0, last, w->params.batch, w->head_bias);
    free(h);
    free(last);
    return logits;
}
