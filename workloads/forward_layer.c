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

static void multiply_part(struct linear *linear, unsigned thread, unsigned char *const *memory,
                          const struct forward_probe *probe, struct forward_mark mark)
{
    if (linear_needs_packing(linear)) {
        // Quantising is an operator of its own, a change of layout part of the product.
        const struct forward_mark packed = {
            .op = line_is_blocks(linear->params.format) ? MODEL_OP_ACT_QUANT : mark.op,
            .layer = mark.layer,
            .block = mark.block};
        linear_pack(linear, thread);
        forward_done(thread, probe, &packed);
    }
    linear_multiply(linear, thread, memory[thread] + mark.offset);
    mark.linear = linear;
    forward_done(thread, probe, &mark);
}

void forward_multiply(const struct forward_linear *linear, uint64_t rows, unsigned thread,
                      unsigned char *const *memory, const struct forward_probe *probe,
                      const struct forward_mark *mark)
{
    for (unsigned i = 0; i < linear->part_count; i++) {
        struct forward_mark at = *mark;
        at.offset += linear->parts[i].offset;
        multiply_part(forward_part_of(&linear->parts[i], rows), thread, memory, probe, at);
    }
}

struct linear *forward_linear_at(const struct forward_pass *p, enum forward_product product)
{
    return forward_linear_of(&p->block->products[product], p->rows);
}

void forward_done_at(const struct forward_pass *p, enum model_operator op)
{
    const struct forward_mark mark = {.op = op, .layer = p->number, .block = p->block_number};
    forward_done(p->thread, p->probe, &mark);
}

void forward_multiply_at(const struct forward_pass *p, enum forward_product product,
                         enum model_operator op)
{
    const struct forward_mark mark = {
        .op = op, .layer = p->number, .block = p->block_number, .offset = p->offset};
    forward_multiply(&p->block->products[product], p->rows, p->thread, p->memory, p->probe, &mark);
}

static float *residual_of(const struct forward_pass *p, uint64_t row)
{
    return p->f->residual + (p->first + row) * p->f->d;
}

const float *forward_bias_at(const struct forward_pass *p, enum forward_product product)
{
    return p->vectors + p->block->at.bias[product];
}

static void norm_into(const struct forward_pass *p, float *out, const float *x,
                      enum forward_norm norm)
{
    const struct forward_vectors *at = &p->block->at;
    forward_norm(p->f, out, x, p->vectors + at->norm_weight[norm],
                 p->vectors + at->norm_bias[norm]);
}

// Row by row, so that a thread norms what it has just added to.
static void norm_rows(const struct forward_pass *p, enum forward_product into,
                      enum forward_norm norm)
{
    struct linear *l = forward_linear_at(p, into);
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        norm_into(p, l->x + row * l->ldx, residual_of(p, row), norm);
    }
}

static void add_rows(const struct forward_pass *p, enum forward_product product)
{
    const struct linear *l = forward_linear_at(p, product);
    const struct elementwise *ew = p->f->elementwise;
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        float *y = l->y + row * l->ldy;
        if (p->block->products[product].biased) {
            ew->add(y, forward_bias_at(p, product), p->f->d);
        }
        if (p->f->form->after_norms) {
            norm_into(p, y, y,
                      product == FORWARD_OUT ? FORWARD_NORM_AFTER_ATTENTION
                                             : FORWARD_NORM_AFTER_MLP);
        }
        ew->add(residual_of(p, row), y, p->f->d);
    }
}

// The routed experts' weighted sum, and the shared ones' result.
static void add_moe_rows(const struct forward_pass *p)
{
    bool shared = p->block->products[FORWARD_DOWN].n > 0;
    const struct linear *l = shared ? forward_linear_at(p, FORWARD_DOWN) : NULL;
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        float *residual = residual_of(p, row);
        float gate = shared ? forward_shared_gate(p, row) : 0;
        forward_add_experts(p, residual, row);
        for (size_t i = 0; shared && i < p->f->d; i++) {
            residual[i] += gate * l->y[row * l->ldy + i];
        }
    }
}

// The shared experts multiply what the router does.
static void copy_rows(const struct forward_pass *p)
{
    const struct linear *from = forward_linear_at(p, FORWARD_ROUTER);
    struct linear *to = forward_linear_at(p, FORWARD_GATE_UP);
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        memcpy(to->x + row * to->ldx, from->x + row * from->ldx, p->f->d * sizeof *to->x);
    }
}

void forward_rotate(const struct forward_pass *p, float *head, uint64_t row)
{
    const struct forward *f = p->f;
    uint64_t token = (p->first + row) % f->tokens;
    if (f->rope_dim > 0) {
        f->elementwise->rotate(head, f->turns + token * f->rope_dim, f->rope_dim / 2);
    }
}

static void turn_head(const struct forward_pass *p, float *head, int which, uint64_t row)
{
    const struct forward *f = p->f;
    if (f->form->head_norm) {
        f->elementwise->rms_norm(head, head, p->vectors + p->block->at.head_weight[which],
                                 p->block->shape.k_dim);
    }
    forward_rotate(p, head, row);
}

/** Where the heads of a KV head are in a row of qkv's output. */
struct heads {
    float *query; // [group][k_dim]
    float *key;
    float *value;
};

static struct heads heads_of(const struct forward_pass *p, uint64_t row, uint64_t kv_head)
{
    const struct model_attention *shape = &p->block->shape;
    const struct linear *l = forward_linear_at(p, FORWARD_QKV);
    float *y = l->y + row * l->ldy;
    size_t group = shape->heads / shape->kv_heads;
    return (struct heads){
        y + kv_head * group * shape->k_dim, y + (shape->heads + kv_head) * shape->k_dim,
        y + (shape->heads + shape->kv_heads) * shape->k_dim + kv_head * shape->v_dim};
}

static void add_head_biases(const struct forward_pass *p, const struct heads *heads,
                            const float *row)
{
    const struct model_attention *shape = &p->block->shape;
    const float *bias = forward_bias_at(p, FORWARD_QKV);
    void (*add)(float *, const float *, size_t) = p->f->elementwise->add;
    add(heads->query, bias + (heads->query - row), shape->heads / shape->kv_heads * shape->k_dim);
    add(heads->key, bias + (heads->key - row), shape->k_dim);
    add(heads->value, bias + (heads->value - row), shape->v_dim);
}

// The query heads of one KV head go to the attention's queries, its key and value to the cache.
static void split_row(const struct forward_pass *p, uint64_t row, uint64_t kv_head)
{
    const struct model_attention *shape = &p->block->shape;
    const struct linear *l = forward_linear_at(p, FORWARD_QKV);
    struct attention *a = p->block->attention;
    struct heads heads = heads_of(p, row, kv_head);
    uint64_t token = (p->first + row) % p->f->tokens;
    uint64_t unit = (p->first + row) / p->f->tokens * shape->kv_heads + kv_head;
    size_t first_head = (p->first + row) * shape->heads + kv_head * a->group;
    if (p->block->products[FORWARD_QKV].biased) {
        add_head_biases(p, &heads, l->y + row * l->ldy);
    }
    for (unsigned i = 0; i < a->group; i++) {
        turn_head(p, heads.query + i * shape->k_dim, 0, row);
    }
    turn_head(p, heads.key, 1, row);
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

static void split_rows(const struct forward_pass *p)
{
    uint64_t kv_heads = p->block->shape.kv_heads;
    uint64_t count = p->rows * kv_heads;
    uint64_t end = count * (p->thread + 1) / p->f->params.threads;
    for (uint64_t i = count * p->thread / p->f->params.threads; i < end; i++) {
        split_row(p, i / kv_heads, i % kv_heads);
    }
}

// The columns of x that a thread packs.
size_t forward_first_column(const struct linear *l, unsigned thread)
{
    size_t column = l->units * thread / l->params.threads * l->layout->unit_ks;
    return column < l->params.k ? column : l->params.k;
}

// A head's result of a row: of the attention, or of the values' up-projection.
static const float *head_of(const struct forward_pass *p, uint64_t row, uint64_t head)
{
    const struct attention *a = p->block->attention;
    if (a->params.latent) {
        const struct bank *bank = &p->block->latent.v_up;
        return bank->y + forward_latent_slot(p, head, row) * bank->form->ldy;
    }
    return a->out + ((p->first + row) * p->block->shape.heads + head) * a->out_floats;
}

// What the thread will pack of the attention's outputs, head by head.
static void fetch_attention(const struct forward_pass *p)
{
    struct linear *l = forward_linear_at(p, FORWARD_OUT);
    size_t v_dim = p->block->shape.v_dim;
    size_t begin = forward_first_column(l, p->thread);
    size_t end = forward_first_column(l, p->thread + 1);
    for (uint64_t row = 0; row < p->rows; row++) {
        for (size_t at = begin; at < end;) {
            size_t head_end = (at / v_dim + 1) * v_dim;
            size_t stop = head_end > end ? end : head_end;
            memcpy(l->x + row * l->ldx + at, head_of(p, row, at / v_dim) + at % v_dim,
                   (stop - at) * sizeof *l->x);
            at = stop;
        }
    }
    if (!linear_needs_packing(l)) {
        forward_done_at(p, MODEL_OP_ATTN_OUT);
    }
}

static void activate_rows(const struct forward_pass *p)
{
    struct linear *up = forward_linear_at(p, FORWARD_GATE_UP);
    struct linear *down = forward_linear_at(p, FORWARD_DOWN);
    const struct forward_block *block = p->block;
    size_t begin = forward_first_column(down, p->thread);
    size_t count = forward_first_column(down, p->thread + 1) - begin;
    for (uint64_t row = 0; row < p->rows; row++) {
        float *gate = up->y + row * up->ldy + begin;
        if (block->products[FORWARD_GATE_UP].biased) {
            const float *bias = forward_bias_at(p, FORWARD_GATE_UP) + begin;
            p->f->elementwise->add(gate, bias, count);
            if (block->gated) {
                p->f->elementwise->add(gate + block->width, bias + block->width, count);
            }
        }
        p->f->elementwise->activate[p->f->form->activation][block->gated](
            down->x + row * down->ldx + begin, gate, gate + block->width, count);
    }
}

static void before_attention(const struct forward_pass *p)
{
    norm_rows(p, FORWARD_QKV, FORWARD_NORM_ATTENTION);
    forward_done_at(p, MODEL_OP_NORMS);
    forward_multiply_at(p, FORWARD_QKV, MODEL_OP_QKV);
    if (p->block->is_latent) {
        forward_latent_before(p);
        return;
    }
    split_rows(p);
    forward_done_at(p, MODEL_OP_ROPE);
}

static void run_mlp(const struct forward_pass *p)
{
    forward_multiply_at(p, FORWARD_GATE_UP, MODEL_OP_GATE_UP);
    activate_rows(p);
    forward_done_at(p, MODEL_OP_GATE_UP);
    forward_multiply_at(p, FORWARD_DOWN, MODEL_OP_DOWN);
}

static void run_moe(const struct forward_pass *p)
{
    bool shared = p->block->products[FORWARD_DOWN].n > 0;
    norm_rows(p, FORWARD_ROUTER, FORWARD_NORM_MLP);
    if (shared) {
        copy_rows(p);
    }
    forward_done_at(p, MODEL_OP_NORMS);
    forward_route(p);
    if (shared) {
        run_mlp(p);
    }
    forward_run_experts(p);
    add_moe_rows(p);
}

static void after_attention(const struct forward_pass *p)
{
    const struct forward_form *form = p->f->form;
    if (p->block->attention->params.latent) {
        forward_latent_after(p);
    }
    fetch_attention(p);
    forward_multiply_at(p, FORWARD_OUT, MODEL_OP_ATTN_OUT);
    if (!form->parallel) {
        add_rows(p, FORWARD_OUT);
    }
    if (p->block->experts != NULL) {
        run_moe(p);
        return;
    }
    norm_rows(p, FORWARD_GATE_UP, form->one_norm ? FORWARD_NORM_ATTENTION : FORWARD_NORM_MLP);
    forward_done_at(p, MODEL_OP_NORMS);
    run_mlp(p);
    add_rows(p, FORWARD_DOWN);
    if (form->parallel) {
        add_rows(p, FORWARD_OUT);
    }
}

static void set_chunk(struct forward_pass *p, uint64_t chunk)
{
    p->first = chunk * LINEAR_BATCH_MAX;
    p->rows = forward_chunk_rows(p->f, chunk);
    p->last = chunk + 1 == forward_chunks(p->f);
}

void forward_layer(struct forward *f, unsigned b, unsigned layer, unsigned number, unsigned thread,
                   unsigned char *const *memory, const struct forward_probe *probe)
{
    struct forward_block *block = &f->blocks[b];
    unsigned char *cache[FORWARD_THREADS_MAX];
    unsigned char *latent[FORWARD_THREADS_MAX];
    struct forward_pass p = {.f = f,
                             .block = block,
                             .block_number = b,
                             .vectors = block->vectors + layer * block->at.floats,
                             .offset = block->first_offset + layer * block->layer_bytes,
                             .number = number,
                             .thread = thread,
                             .memory = memory,
                             .cache = cache,
                             .latent = latent,
                             .probe = probe};
    size_t cache_at = block->cache_offset + (block->latent.cache == NULL ? p.offset : 0);
    for (unsigned t = 0; t < f->params.threads; t++) {
        cache[t] = memory[t] + cache_at;
        latent[t] = memory[t] + p.offset + block->latent.cache_offset;
    }
    for (uint64_t chunk = 0; chunk < forward_chunks(f); chunk++) {
        set_chunk(&p, chunk);
        before_attention(&p);
    }
    attention_run(block->attention, thread, cache, LINEAR_FULL);
    const struct forward_mark mark = {.op = MODEL_OP_ATTENTION,
                                      .attention = block->attention,
                                      .layer = number,
                                      .block = b,
                                      .offset = cache_at};
    forward_done(thread, probe, &mark);
    for (uint64_t chunk = 0; chunk < forward_chunks(f); chunk++) {
        set_chunk(&p, chunk);
        after_attention(&p);
    }
}
