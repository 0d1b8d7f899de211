#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <string.h>

// Latent attention (MLA): DeepSeek-V2, arXiv:2405.04434, section 2.1 and appendix C.

uint64_t forward_latent_slot(const struct forward_pass *p, uint64_t head, uint64_t row)
{
    return head * p->f->rows + p->first + row;
}

// What a row's queries, [heads][k_dim], are made from.
static float *queries_of(const struct forward_pass *p, uint64_t row)
{
    bool low_rank = p->block->latent.q_rank > 0;
    const struct linear *l = forward_linear_at(p, low_rank ? FORWARD_Q_B : FORWARD_QKV);
    return l->y + row * l->ldy;
}

// kv_a of a row: [r_kv], then the rotated part of its key, [k_r].
static float *latent_of(const struct forward_pass *p, uint64_t row)
{
    const struct forward_latent *latent = &p->block->latent;
    const struct linear *l = forward_linear_at(p, FORWARD_QKV);
    return l->y + row * l->ldy +
           (p->block->products[FORWARD_QKV].n - latent->kv_rank - latent->rope);
}

static void norm_rows(const struct forward_pass *p)
{
    const struct forward_block *block = p->block;
    const struct forward_latent *latent = &block->latent;
    const struct elementwise *ew = p->f->elementwise;
    const struct linear *l = forward_linear_at(p, FORWARD_QKV);
    const float *weights = p->vectors + block->at.head_weight[0];
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        float *y = l->y + row * l->ldy;
        float *kv = latent_of(p, row);
        if (block->products[FORWARD_QKV].biased) {
            ew->add(y, forward_bias_at(p, FORWARD_QKV), l->params.n);
        }
        ew->rms_norm(kv, kv, p->vectors + block->at.head_weight[1], latent->kv_rank);
        if (latent->q_rank > 0) {
            struct linear *to = forward_linear_at(p, FORWARD_Q_B);
            ew->rms_norm(to->x + row * to->ldx, y, weights, latent->q_rank);
        }
        if (block->products[FORWARD_KV_B].n > 0) {
            struct linear *to = forward_linear_at(p, FORWARD_KV_B);
            memcpy(to->x + row * to->ldx, kv, latent->kv_rank * sizeof *kv);
        }
    }
}

// The rotated parts of a row's queries and of its key, and the cache's row.
static void rotate_rows(const struct forward_pass *p)
{
    const struct forward_block *block = p->block;
    const struct forward_latent *latent = &block->latent;
    struct attention *a = block->attention;
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        float *queries = queries_of(p, row);
        float *kv = latent_of(p, row);
        for (uint64_t head = 0; head < block->shape.heads; head++) {
            forward_rotate(p, queries + head * block->shape.k_dim + latent->nope, row);
        }
        forward_rotate(p, kv + latent->kv_rank, row);
        uint64_t at = p->first + row;
        if (a->params.prefill) {
            attention_put(latent->cache, p->latent, at / p->f->tokens, at % p->f->tokens, kv, NULL);
        } else {
            memcpy(a->append + at * a->row_floats, kv, a->row_floats * sizeof *kv);
        }
    }
}

// Every head's queries through its part of kv_b; the head's thread does all its rows.
static void absorb_queries(const struct forward_pass *p)
{
    const struct forward_block *block = p->block;
    const struct forward_latent *latent = &block->latent;
    struct attention *a = block->attention;
    unsigned end = bank_first(&latent->k_up, p->thread + 1);
    for (unsigned head = bank_first(&latent->k_up, p->thread); head < end; head++) {
        struct linear l;
        bank_view(&l, &latent->k_up, forward_latent_slot(p, head, 0), (unsigned)p->rows);
        for (uint64_t row = 0; row < p->rows; row++) {
            memcpy(l.x + row * l.ldx, queries_of(p, row) + head * block->shape.k_dim,
                   latent->nope * sizeof *l.x);
        }
        linear_pack(&l, 0);
        linear_multiply(&l, 0,
                        p->memory[p->thread] + p->offset + latent->k_offset +
                            bank_offset(&latent->k_up, head));
        for (uint64_t row = 0; row < p->rows; row++) {
            float *q = a->q + ((p->first + row) * block->shape.heads + head) * a->params.k_dim;
            memcpy(q, l.y + row * l.ldy, latent->kv_rank * sizeof *q);
            memcpy(q + latent->kv_rank,
                   queries_of(p, row) + head * block->shape.k_dim + latent->nope,
                   latent->rope * sizeof *q);
        }
    }
}

// One head's query, key and value of a row for a prefill, which reads no latent rows.
static void spread_head(const struct forward_pass *p, uint64_t row, uint64_t head)
{
    const struct model_attention *shape = &p->block->shape;
    const struct forward_latent *latent = &p->block->latent;
    struct attention *a = p->block->attention;
    const struct linear *l = forward_linear_at(p, FORWARD_KV_B);
    const float *up = l->y + row * l->ldy + head * (latent->nope + shape->v_dim);
    uint64_t at = p->first + row;
    float key[ATTENTION_DIM_MAX];
    memcpy(key, up, latent->nope * sizeof *key);
    memcpy(key + latent->nope, latent_of(p, row) + latent->kv_rank, latent->rope * sizeof *key);
    memcpy(a->q + (at * shape->heads + head) * shape->k_dim,
           queries_of(p, row) + head * shape->k_dim, shape->k_dim * sizeof *a->q);
    attention_put(a, p->cache, at / p->f->tokens * shape->heads + head, at % p->f->tokens, key,
                  up + latent->nope);
}

static void spread_rows(const struct forward_pass *p)
{
    uint64_t heads = p->block->shape.heads;
    uint64_t count = p->rows * heads;
    uint64_t end = count * (p->thread + 1) / p->f->params.threads;
    for (uint64_t i = count * p->thread / p->f->params.threads; i < end; i++) {
        spread_head(p, i / heads, i % heads);
    }
}

// The check of a bank's products: of the first head alone, that of thread 0.
static void mark_bank(const struct forward_pass *p, const struct bank *bank, size_t offset)
{
    struct linear l;
    bank_view(&l, bank, forward_latent_slot(p, 0, 0), (unsigned)p->rows);
    const struct forward_mark mark = {.op = MODEL_OP_QKV,
                                      .linear = bank_first(bank, 1) > 0 ? &l : NULL,
                                      .layer = p->number,
                                      .block = p->block_number,
                                      .offset = p->offset + offset};
    forward_done(p->thread, p->probe, &mark);
}

void forward_latent_before(const struct forward_pass *p)
{
    const struct forward_block *block = p->block;
    norm_rows(p);
    forward_done_at(p, MODEL_OP_NORMS);
    if (block->products[FORWARD_Q_B].n > 0) {
        forward_multiply_at(p, FORWARD_Q_B, MODEL_OP_QKV);
    }
    if (block->products[FORWARD_KV_B].n > 0) {
        forward_multiply_at(p, FORWARD_KV_B, MODEL_OP_QKV);
    }
    rotate_rows(p);
    forward_done_at(p, MODEL_OP_ROPE);
    if (block->attention->params.prefill) {
        spread_rows(p);
        forward_done_at(p, MODEL_OP_ROPE);
    } else {
        absorb_queries(p);
        mark_bank(p, &block->latent.k_up, block->latent.k_offset);
    }
}

void forward_latent_after(const struct forward_pass *p)
{
    const struct forward_latent *latent = &p->block->latent;
    const struct attention *a = p->block->attention;
    uint64_t heads = p->block->shape.heads;
    unsigned end = bank_first(&latent->v_up, p->thread + 1);
    for (unsigned head = bank_first(&latent->v_up, p->thread); head < end; head++) {
        struct linear l;
        bank_view(&l, &latent->v_up, forward_latent_slot(p, head, 0), (unsigned)p->rows);
        for (uint64_t row = 0; row < p->rows; row++) {
            memcpy(l.x + row * l.ldx, a->out + ((p->first + row) * heads + head) * a->out_floats,
                   latent->kv_rank * sizeof *l.x);
        }
        linear_pack(&l, 0);
        linear_multiply(&l, 0,
                        p->memory[p->thread] + p->offset + latent->v_offset +
                            bank_offset(&latent->v_up, head));
    }
    mark_bank(p, &latent->v_up, latent->v_offset);
}
