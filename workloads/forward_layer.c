#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <string.h>

void forward_done(unsigned thread, const struct forward_probe *probe,
                  const struct forward_mark *mark)
{
#pragma omp barrier
    if (thread == 0 && probe->mark != NULL) {
        probe->mark(probe->context, mark);
    }
    if (probe->holds) {
#pragma omp barrier
    }
}

void forward_norm(const struct forward *f, float *out, const float *x, const float *weight,
                  const float *bias)
{
    if (f->layer_norm) {
        f->elementwise->layer_norm(out, x, weight, bias, f->d);
    } else {
        f->elementwise->rms_norm(out, x, weight, f->d);
    }
}

void forward_multiply(struct linear *linear, unsigned thread, unsigned char *const *memory,
                      const struct forward_probe *probe, struct forward_mark mark)
{
    if (linear_needs_packing(linear)) {
        // Quantising is an operator of its own, a change of layout part of the product.
        const struct forward_mark packed = {
            .op = line_is_blocks(linear->params.format) ? MODEL_OP_ACT_QUANT : mark.op};
        linear_pack(linear, thread);
        forward_done(thread, probe, &packed);
    }
    linear_multiply(linear, thread, memory[thread] + mark.offset);
    mark.linear = linear;
    forward_done(thread, probe, &mark);
}

/** One layer's pass over one chunk of rows. */
struct pass {
    struct forward *f;
    const struct forward_block *block;
    const float *vectors;
    size_t offset; // of the layer in each thread's memory
    unsigned number;
    unsigned thread;
    unsigned char *const *memory;
    unsigned char *const *cache; // of the layer
    const struct forward_probe *probe;
    uint64_t first; // row
    uint64_t rows;
};

static struct linear *linear_at(const struct pass *p, enum forward_product product)
{
    return forward_linear_of(&p->block->products[product], p->rows);
}

static void done(const struct pass *p, enum model_operator op)
{
    const struct forward_mark mark = {.op = op, .layer = p->number};
    forward_done(p->thread, p->probe, &mark);
}

static void multiply(const struct pass *p, enum forward_product product, enum model_operator op)
{
    const struct forward_mark mark = {
        .op = op, .layer = p->number, .offset = p->offset + p->block->products[product].offset};
    forward_multiply(linear_at(p, product), p->thread, p->memory, p->probe, mark);
}

static float *residual_of(const struct pass *p, uint64_t row)
{
    return p->f->residual + (p->first + row) * p->f->d;
}

static const float *bias_of(const struct pass *p, enum forward_product product)
{
    return p->vectors + p->block->at.bias[product];
}

// Row by row, so that a thread norms what it has just added to.
static void norm_rows(const struct pass *p, enum forward_product into, int norm)
{
    const struct forward_vectors *at = &p->block->at;
    struct linear *l = linear_at(p, into);
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        forward_norm(p->f, l->x + row * l->ldx, residual_of(p, row),
                     p->vectors + at->norm_weight[norm], p->vectors + at->norm_bias[norm]);
    }
}

static void add_rows(const struct pass *p, enum forward_product product)
{
    const struct linear *l = linear_at(p, product);
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        p->f->elementwise->add(residual_of(p, row), l->y + row * l->ldy, p->f->d);
        if (p->block->products[product].biased) {
            p->f->elementwise->add(residual_of(p, row), bias_of(p, product), p->f->d);
        }
    }
}

static void turn_head(const struct pass *p, float *head, int which, uint64_t token)
{
    const struct forward *f = p->f;
    if (f->form->head_norm) {
        f->elementwise->rms_norm(head, head, p->vectors + p->block->at.head_weight[which],
                                 p->block->shape.k_dim);
    }
    if (f->rope_dim > 0) {
        f->elementwise->rotate(head, f->turns + token * f->rope_dim, f->rope_dim / 2);
    }
}

/** Where the heads of a KV head are in a row of qkv's output. */
struct heads {
    float *query; // [group][k_dim]
    float *key;
    float *value;
};

static struct heads heads_of(const struct pass *p, uint64_t row, uint64_t kv_head)
{
    const struct model_attention *shape = &p->block->shape;
    const struct linear *l = linear_at(p, FORWARD_QKV);
    float *y = l->y + row * l->ldy;
    size_t group = shape->heads / shape->kv_heads;
    return (struct heads){
        y + kv_head * group * shape->k_dim, y + (shape->heads + kv_head) * shape->k_dim,
        y + (shape->heads + shape->kv_heads) * shape->k_dim + kv_head * shape->v_dim};
}

static void add_head_biases(const struct pass *p, const struct heads *heads, const float *row)
{
    const struct model_attention *shape = &p->block->shape;
    const float *bias = bias_of(p, FORWARD_QKV);
    void (*add)(float *, const float *, size_t) = p->f->elementwise->add;
    add(heads->query, bias + (heads->query - row), shape->heads / shape->kv_heads * shape->k_dim);
    add(heads->key, bias + (heads->key - row), shape->k_dim);
    add(heads->value, bias + (heads->value - row), shape->v_dim);
}

// The query heads of one KV head go to the attention's queries, its key and value to the cache.
static void split_row(const struct pass *p, uint64_t row, uint64_t kv_head)
{
    const struct model_attention *shape = &p->block->shape;
    const struct linear *l = linear_at(p, FORWARD_QKV);
    struct attention *a = p->block->attention;
    struct heads heads = heads_of(p, row, kv_head);
    uint64_t token = (p->first + row) % p->f->tokens;
    uint64_t unit = (p->first + row) / p->f->tokens * shape->kv_heads + kv_head;
    size_t first_head = (p->first + row) * shape->heads + kv_head * a->group;
    if (p->block->products[FORWARD_QKV].biased) {
        add_head_biases(p, &heads, l->y + row * l->ldy);
    }
    for (unsigned i = 0; i < a->group; i++) {
        turn_head(p, heads.query + i * shape->k_dim, 0, token);
    }
    turn_head(p, heads.key, 1, token);
    memcpy(a->q + first_head * shape->k_dim, heads.query,
           a->group * shape->k_dim * sizeof *heads.query);
    if (a->params.prefill) {
        attention_put(a, p->cache, unit, token, heads.key, heads.value);
        return;
    }
    float *append = a->append + unit * (shape->k_dim + shape->v_dim);
    memcpy(append, heads.key, shape->k_dim * sizeof *append);
    memcpy(append + shape->k_dim, heads.value, shape->v_dim * sizeof *append);
}

static void split_rows(const struct pass *p)
{
    uint64_t kv_heads = p->block->shape.kv_heads;
    uint64_t count = p->rows * kv_heads;
    uint64_t end = count * (p->thread + 1) / p->f->params.threads;
    for (uint64_t i = count * p->thread / p->f->params.threads; i < end; i++) {
        split_row(p, i / kv_heads, i % kv_heads);
    }
}

// The columns of x that a thread packs.
static size_t first_column(const struct linear *l, unsigned thread)
{
    size_t column = l->units * thread / l->params.threads * l->layout->unit_ks;
    return column < l->params.k ? column : l->params.k;
}

// What the thread will pack of the attention's outputs, head by head where these are padded.
static void fetch_attention(const struct pass *p)
{
    struct linear *l = linear_at(p, FORWARD_OUT);
    const struct attention *a = p->block->attention;
    size_t v_dim = p->block->shape.v_dim;
    size_t heads = p->block->shape.heads;
    size_t begin = first_column(l, p->thread);
    size_t end = first_column(l, p->thread + 1);
    for (uint64_t row = 0; row < p->rows; row++) {
        const float *out = a->out + (p->first + row) * heads * a->out_floats;
        for (size_t at = begin; at < end;) {
            size_t head_end = (at / v_dim + 1) * v_dim;
            size_t stop = a->out_floats == v_dim || head_end > end ? end : head_end;
            memcpy(l->x + row * l->ldx + at, out + at / v_dim * a->out_floats + at % v_dim,
                   (stop - at) * sizeof *out);
            at = stop;
        }
    }
    if (!linear_needs_packing(l)) {
        done(p, MODEL_OP_ATTN_OUT);
    }
}

static void activate_rows(const struct pass *p)
{
    struct linear *up = linear_at(p, FORWARD_GATE_UP);
    struct linear *down = linear_at(p, FORWARD_DOWN);
    const struct forward_block *block = p->block;
    size_t begin = first_column(down, p->thread);
    size_t count = first_column(down, p->thread + 1) - begin;
    for (uint64_t row = 0; row < p->rows; row++) {
        float *gate = up->y + row * up->ldy + begin;
        if (block->products[FORWARD_GATE_UP].biased) {
            const float *bias = bias_of(p, FORWARD_GATE_UP) + begin;
            p->f->elementwise->add(gate, bias, count);
            if (block->gated) {
                p->f->elementwise->add(gate + block->width, bias + block->width, count);
            }
        }
        p->f->elementwise->activate[p->f->form->activation][block->gated](
            down->x + row * down->ldx + begin, gate, gate + block->width, count);
    }
}

static void before_attention(const struct pass *p)
{
    norm_rows(p, FORWARD_QKV, 0);
    done(p, MODEL_OP_NORMS);
    multiply(p, FORWARD_QKV, MODEL_OP_QKV);
    split_rows(p);
    done(p, MODEL_OP_ROPE);
}

static void after_attention(const struct pass *p)
{
    const struct forward_form *form = p->f->form;
    fetch_attention(p);
    multiply(p, FORWARD_OUT, MODEL_OP_ATTN_OUT);
    if (!form->parallel) {
        add_rows(p, FORWARD_OUT);
    }
    norm_rows(p, FORWARD_GATE_UP, form->one_norm ? 0 : 1);
    done(p, MODEL_OP_NORMS);
    multiply(p, FORWARD_GATE_UP, MODEL_OP_GATE_UP);
    activate_rows(p);
    done(p, MODEL_OP_GATE_UP);
    multiply(p, FORWARD_DOWN, MODEL_OP_DOWN);
    add_rows(p, FORWARD_DOWN);
    if (form->parallel) {
        add_rows(p, FORWARD_OUT);
    }
}

static void set_chunk(struct pass *p, uint64_t chunk)
{
    p->first = chunk * LINEAR_BATCH_MAX;
    p->rows = forward_chunk_rows(p->f, chunk);
}

void forward_layer(struct forward *f, unsigned b, unsigned layer, unsigned number, unsigned thread,
                   unsigned char *const *memory, const struct forward_probe *probe)
{
    const struct forward_block *block = &f->blocks[b];
    unsigned char *cache[FORWARD_THREADS_MAX];
    struct pass p = {.f = f,
                     .block = block,
                     .vectors = block->vectors + layer * block->at.floats,
                     .offset = block->first_offset + layer * block->layer_bytes,
                     .number = number,
                     .thread = thread,
                     .memory = memory,
                     .cache = cache,
                     .probe = probe};
    for (unsigned t = 0; t < f->params.threads; t++) {
        cache[t] = memory[t] + p.offset + block->cache_offset;
    }
    for (uint64_t chunk = 0; chunk < forward_chunks(f); chunk++) {
        set_chunk(&p, chunk);
        before_attention(&p);
    }
    attention_run(block->attention, thread, cache, LINEAR_FULL);
    const struct forward_mark mark = {.op = MODEL_OP_ATTENTION,
                                      .attention = block->attention,
                                      .layer = number,
                                      .offset = p.offset + block->cache_offset};
    forward_done(thread, probe, &mark);
    for (uint64_t chunk = 0; chunk < forward_chunks(f); chunk++) {
        set_chunk(&p, chunk);
        after_attention(&p);
    }
}
