#include "tests/unit/forward_reference.h"

#include <stdlib.h>

static void rotate(double *x, uint64_t position, uint64_t rope_dim)
{
    for (uint64_t i = 0; i < rope_dim / 2; i++) {
        double angle = (double)position * pow(10000, -2.0 * (double)i / (double)rope_dim);
        double a = x[i];
        double b = x[rope_dim / 2 + i];
        x[i] = a * cos(angle) - b * sin(angle);
        x[rope_dim / 2 + i] = a * sin(angle) + b * cos(angle);
    }
}

// The page of a token in the memory before or after the step.
static const unsigned char *page_in(unsigned char *const *memory, const struct attention *a,
                                    size_t offset, uint64_t unit, uint64_t token)
{
    uint64_t page = unit * a->pages + token / ATTENTION_PAGE;
    unsigned thread = 0;
    while (page >= attention_first_page(a, thread + 1)) {
        thread++;
    }
    return memory[thread] + offset + (page - attention_first_page(a, thread)) * a->page_bytes;
}

// Element d of the key (or value) of a cached token, from the documented layout of pages.
static double cached(const struct fixture *f, const struct attention *a, size_t offset,
                     uint64_t unit, uint64_t token, unsigned d, bool value)
{
    unsigned in_page = token % ATTENTION_PAGE;
    const unsigned char *at = page_in(f->before, a, offset, unit, token);
    enum line_format format = a->params.format;
    if (attention_is_quant(format)) {
        return attention_quant_get(&a->quant, at, in_page, d, value);
    }
    if (value && !a->params.latent) {
        at += a->k_bytes + d / LINE_ROWS * line_count(format, ATTENTION_PAGE) * LINE_BYTES;
        return line_get(format, at, d % LINE_ROWS, in_page);
    }
    at += in_page / LINE_ROWS * line_count(format, a->params.k_dim) * LINE_BYTES;
    return line_get(format, at, in_page % LINE_ROWS, d);
}

/** Keys and values that the tokens of one unit see: cached ones, then the new ones. */
struct history {
    double *keys;
    double *values;
    uint64_t cached, k_dim, v_dim;
};

// out[v_dim] of a query that sees the tokens first .. end - 1; sink: NULL if there is none.
static void attend(double *out, const double *q, const struct history *h, uint64_t first,
                   uint64_t end, const float *sink)
{
    double *weight = reference_doubles(end);
    double largest = sink != NULL ? (double)*sink : -HUGE_VAL;
    for (uint64_t token = first; token < end; token++) {
        for (uint64_t d = 0; d < h->k_dim; d++) {
            weight[token] += q[d] * h->keys[token * h->k_dim + d] / sqrt((double)h->k_dim);
        }
        largest = fmax(largest, weight[token]);
    }
    double sum = sink != NULL ? exp((double)*sink - largest) : 0;
    for (uint64_t token = first; token < end; token++) {
        weight[token] = exp(weight[token] - largest);
        sum += weight[token];
    }
    memset(out, 0, h->v_dim * sizeof *out);
    for (uint64_t token = first; token < end; token++) {
        for (uint64_t d = 0; d < h->v_dim; d++) {
            out[d] += weight[token] / sum * h->values[token * h->v_dim + d];
        }
    }
    free(weight);
}

static void load_history(struct history *h, const struct fixture *f, const struct forward_block *b,
                         size_t offset, uint64_t unit)
{
    for (uint64_t token = 0; token < h->cached; token++) {
        for (unsigned d = 0; d < h->k_dim; d++) {
            h->keys[token * h->k_dim + d] = cached(f, b->attention, offset, unit, token, d, false);
        }
        for (unsigned d = 0; d < h->v_dim; d++) {
            h->values[token * h->v_dim + d] = cached(f, b->attention, offset, unit, token, d, true);
        }
    }
}

static void prepare_head(double *head, const struct forward *f, const struct forward_block *b,
                         const float *vectors, int which, uint64_t position)
{
    if (f->form->head_norm) {
        reference_norm(head, head, b->shape.k_dim, false, vectors + b->at.head_weight[which], NULL);
    }
    rotate(head, position, f->rope_dim);
}

// Prefill: of a window; in decode the cache holds what is seen.
static uint64_t first_seen(const struct forward *w, const struct model_attention *a, uint64_t at)
{
    return w->params.prefill && a->window > 0 && at + 1 > a->window ? at + 1 - a->window : 0;
}

/** A new token of a unit of a layer's cache. */
struct new_token {
    const struct fixture *f;
    const struct attention *a;
    size_t offset;
    uint64_t unit, token;
};

// The step's own integers are taken, since a value between two of them may fall to either side,
// after each is found within half a step of the exact value (and what rounding adds to it).
static void take_integers(double *out, const struct new_token *at, const double *row, unsigned dim,
                          bool value)
{
    const struct attention *a = at->a;
    const unsigned char *page = page_in(at->f->memory, a, at->offset, at->unit, at->token);
    unsigned block = a->quant.half ? 32 : dim;
    for (unsigned d = 0; d < dim; d++) {
        double largest = 0;
        for (unsigned i = d / block * block; i < d / block * block + block; i++) {
            largest = fmax(largest, fabs(row[i]));
        }
        out[d] = attention_quant_get(&a->quant, page, at->token % ATTENTION_PAGE, d, value);
        if (!(fabs(out[d] - row[d]) <= 0.51 * largest / 127)) {
            fail_msg("element %u of token %d: %g is stored for %g of at most %g", d, (int)at->token,
                     out[d], row[d], largest);
        }
    }
}

// A new row as the step stores it.
static void store_row(double *out, const struct new_token *at, const double *row, unsigned dim,
                      bool value)
{
    enum line_format format = at->a->params.format;
    if (attention_is_quant(format)) {
        take_integers(out, at, row, dim, value);
        return;
    }
    for (unsigned d = 0; d < dim; d++) {
        out[d] = (double)line_round(format, (float)row[d]);
    }
}

// out[rows][heads v_dim] of one sequence and KV head from qkv[rows][n].
static void attend_unit(double *out, const struct fixture *f, const struct forward_block *b,
                        const float *vectors, size_t offset, double *qkv, uint64_t sequence,
                        uint64_t kv_head)
{
    const struct forward *w = f->forward;
    const struct model_attention *a = &b->shape;
    uint64_t n = b->products[FORWARD_QKV].n;
    uint64_t group = a->heads / a->kv_heads;
    uint64_t seen = b->attention->params.context;
    struct history h = {reference_doubles((seen + w->tokens) * a->k_dim),
                        reference_doubles((seen + w->tokens) * a->v_dim), seen, a->k_dim, a->v_dim};
    load_history(&h, f, b, offset, sequence * a->kv_heads + kv_head);
    for (uint64_t token = 0; token < w->tokens; token++) {
        uint64_t row = sequence * w->tokens + token;
        double *key = qkv + row * n + (a->heads + kv_head) * a->k_dim;
        const double *value =
            qkv + row * n + (a->heads + a->kv_heads) * a->k_dim + kv_head * a->v_dim;
        prepare_head(key, w, b, vectors, 1, w->first_position + token);
        const struct new_token at = {f, b->attention, offset, sequence * a->kv_heads + kv_head,
                                     seen + token};
        store_row(h.keys + at.token * a->k_dim, &at, key, (unsigned)a->k_dim, false);
        store_row(h.values + at.token * a->v_dim, &at, value, (unsigned)a->v_dim, true);
        for (uint64_t i = 0; i < group; i++) {
            uint64_t head = kv_head * group + i;
            double *query = qkv + row * n + head * a->k_dim;
            prepare_head(query, w, b, vectors, 0, w->first_position + token);
            const float *sink = b->attention->params.sinks ? &b->attention->sinks[head] : NULL;
            attend(out + (row * a->heads + head) * a->v_dim, query, &h,
                   first_seen(w, a, seen + token), seen + token + 1, sink);
        }
    }
    free(h.keys);
    free(h.values);
}

// Row i of a bank's matrix times x, or with `column` its column i: W[i] x or W^T x.
static double bank_row(const struct layer *l, const struct bank *bank, size_t offset, unsigned head,
                       uint64_t i, const double *x, bool column)
{
    const struct linear *form = bank->form;
    unsigned thread = 0;
    while (head >= bank_first(bank, thread + 1)) {
        thread++;
    }
    const unsigned char *at = l->f->before[thread] + l->offset + offset + bank_offset(bank, head);
    double sum = 0;
    uint64_t count = column ? form->params.n : form->params.k;
    for (uint64_t j = 0; j < count; j++) {
        sum += x[j] * linear_weight(form, &at, column ? j : i, column ? i : j);
    }
    return sum;
}

// A head's key and value from a latent row [r_kv + k_r]; up is KV_B's row in prefill.
static void spread(double *key, double *value, const struct layer *l, const double *row,
                   const double *up, unsigned head)
{
    const struct forward_latent *latent = &l->block->latent;
    uint64_t v_dim = l->block->shape.v_dim;
    for (uint64_t d = 0; d < latent->nope; d++) {
        key[d] = up != NULL ? up[head * (latent->nope + v_dim) + d]
                            : bank_row(l, &latent->k_up, latent->k_offset, head, d, row, true);
    }
    memcpy(key + latent->nope, row + latent->kv_rank, latent->rope * sizeof *key);
    for (uint64_t d = 0; d < v_dim; d++) {
        value[d] = up != NULL ? up[head * (latent->nope + v_dim) + latent->nope + d]
                              : bank_row(l, &latent->v_up, latent->v_offset, head, d, row, false);
    }
}

// The latent rows of a sequence: cached ones, then the new ones, normed and rotated.
static double *latent_rows(const struct layer *l, uint64_t sequence, uint64_t seen)
{
    const struct forward *w = l->f->forward;
    const struct forward_latent *latent = &l->block->latent;
    uint64_t n = l->block->products[FORWARD_QKV].n;
    uint64_t width = latent->kv_rank + latent->rope;
    double *rows = reference_doubles((seen + w->tokens) * width);
    for (uint64_t i = 0; i < seen * width; i++) {
        rows[i] = cached(l->f, l->block->attention, l->offset + l->block->cache_offset, sequence,
                         i / width, (unsigned)(i % width), false);
    }
    for (uint64_t token = 0; token < w->tokens; token++) {
        double *row = rows + (seen + token) * width;
        memcpy(row, l->qkv + (sequence * w->tokens + token) * n + n - width, width * sizeof *row);
        reference_norm(row, row, latent->kv_rank, false, l->vectors + l->block->at.head_weight[1],
                       NULL);
        rotate(row + latent->kv_rank, w->first_position + token, latent->rope);
    }
    return rows;
}

// The queries [rows][heads][k_dim], rotated.
static double *latent_queries(const struct layer *l)
{
    const struct forward *w = l->f->forward;
    const struct forward_latent *latent = &l->block->latent;
    const struct model_attention *a = &l->block->shape;
    uint64_t n = l->block->products[FORWARD_QKV].n;
    uint64_t width = a->heads * a->k_dim;
    double *queries = reference_doubles(w->rows * width);
    double *low = reference_doubles(w->rows * latent->q_rank + 1);
    for (uint64_t row = 0; row < w->rows; row++) {
        if (latent->q_rank > 0) {
            reference_norm(low + row * latent->q_rank, l->qkv + row * n, latent->q_rank, false,
                           l->vectors + l->block->at.head_weight[0], NULL);
        } else {
            memcpy(queries + row * width, l->qkv + row * n, width * sizeof *queries);
        }
    }
    if (latent->q_rank > 0) {
        reference_multiply(queries, l, FORWARD_Q_B, low);
    }
    for (uint64_t i = 0; i < w->rows * a->heads; i++) {
        rotate(queries + i * a->k_dim + latent->nope, w->first_position + i / a->heads % w->tokens,
               latent->rope);
    }
    free(low);
    return queries;
}

// One sequence, one head.
static void attend_latent(const struct layer *l, const double *queries, const double *rows,
                          const double *up, uint64_t sequence, unsigned head)
{
    const struct forward *w = l->f->forward;
    const struct model_attention *a = &l->block->shape;
    uint64_t seen = l->block->attention->params.context;
    uint64_t tokens = seen + w->tokens;
    uint64_t width = l->block->latent.kv_rank + l->block->latent.rope;
    struct history h = {reference_doubles(tokens * a->k_dim), reference_doubles(tokens * a->v_dim),
                        seen, a->k_dim, a->v_dim};
    for (uint64_t token = 0; token < tokens; token++) {
        spread(h.keys + token * a->k_dim, h.values + token * a->v_dim, l, rows + token * width,
               up == NULL ? NULL : up + token * l->block->products[FORWARD_KV_B].n, head);
    }
    for (uint64_t token = 0; token < w->tokens; token++) {
        uint64_t at = (sequence * w->tokens + token) * a->heads + head;
        attend(l->attended + at * a->v_dim, queries + at * a->k_dim, &h, 0, seen + token + 1, NULL);
    }
    free(h.keys);
    free(h.values);
}

static void reference_latent(const struct layer *l)
{
    const struct forward *w = l->f->forward;
    const struct forward_latent *latent = &l->block->latent;
    uint64_t width = latent->kv_rank + latent->rope;
    bool prefill = w->params.prefill;
    uint64_t seen = l->block->attention->params.context;
    double *queries = latent_queries(l);
    for (uint64_t s = 0; s < w->params.batch; s++) {
        double *rows = latent_rows(l, s, seen);
        double *in = reference_doubles(w->tokens * latent->kv_rank);
        double *up =
            prefill ? reference_doubles(w->tokens * l->block->products[FORWARD_KV_B].n) : NULL;
        for (uint64_t token = 0; token < w->tokens; token++) {
            memcpy(in + token * latent->kv_rank, rows + (seen + token) * width,
                   latent->kv_rank * sizeof *in);
        }
        if (prefill) {
            const struct forward_linear *b = &l->block->products[FORWARD_KV_B];
            reference_parts(up, l->f, b, l->offset, in, w->tokens, NULL);
        }
        for (unsigned head = 0; head < l->block->shape.heads; head++) {
            attend_latent(l, queries, rows, up, s, head);
        }
        free(rows);
        free(in);
        free(up);
    }
    free(queries);
}

void reference_attention(const struct layer *l)
{
    const struct forward_block *b = l->block;
    if (b->is_latent) {
        reference_latent(l);
        return;
    }
    for (uint64_t s = 0; s < l->f->forward->params.batch; s++) {
        for (uint64_t g = 0; g < b->shape.kv_heads; g++) {
            attend_unit(l->attended, l->f, b, l->vectors, l->offset + b->cache_offset, l->qkv, s,
                        g);
        }
    }
}
