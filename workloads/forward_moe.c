#include "workloads/forward_plan.h"

#include <math.h>
#include <string.h>

// Every thread chooses for its rows; one gives slots.
void forward_route(const struct forward_pass *p)
{
    struct forward_block *block = p->block;
    struct experts *e = block->experts;
    const struct linear *l = forward_linear_at(p, FORWARD_ROUTER);
    uint64_t step = p->f->steps[(size_t)p->thread * 8];
    const float *bias =
        block->products[FORWARD_ROUTER].biased ? forward_bias_at(p, FORWARD_ROUTER) : NULL;
    forward_multiply_at(p, FORWARD_ROUTER, MODEL_OP_ROUTER);
    for (uint64_t row = p->thread; row < p->rows; row += p->f->params.threads) {
        size_t at = row * block->router.used;
        uint32_t turn = router_turn(step, p->number, p->first + row, block->router.experts);
        router_choose(e->ids + at, e->weights + at, &block->router, l->y + row * l->ldy, bias,
                      turn);
    }
#pragma omp barrier
    if (p->thread == 0) {
        experts_route(e, (unsigned)p->rows);
        forward_count_layer(p);
    }
    forward_done_at(p, MODEL_OP_ROUTER);
}

typedef void expert_view(struct linear *out, size_t *offset, const struct experts *experts,
                         unsigned i);

// The first expert's mark takes the time; the others are there to be checked.
static void mark_products(const struct forward_pass *p, expert_view *view)
{
    const struct experts *e = p->block->experts;
    unsigned count = p->probe->holds ? e->distinct : 1;
    for (unsigned i = 0; i < count; i++) {
        struct linear l;
        size_t offset = 0;
        view(&l, &offset, e, i);
        const struct forward_mark mark = {.op = MODEL_OP_EXPERTS,
                                          .linear = &l,
                                          .layer = p->number,
                                          .block = p->block_number,
                                          .offset = p->offset + p->block->experts_offset + offset};
        forward_done(p->thread, p->probe, &mark);
    }
}

static struct experts_biases biases_of(const struct forward_pass *p)
{
    const struct forward_block *block = p->block;
    return (struct experts_biases){block->experts_biased ? p->vectors + block->at.expert_up : NULL,
                                   block->experts_biased ? p->vectors + block->at.expert_down
                                                         : NULL};
}

// The router's input is the experts'.
void forward_run_experts(const struct forward_pass *p)
{
    const struct experts *e = p->block->experts;
    const struct linear *from = forward_linear_at(p, FORWARD_ROUTER);
    const unsigned char *memory = p->memory[p->thread] + p->offset + p->block->experts_offset;
    const struct experts_biases biases = biases_of(p);
    experts_gather(e, p->thread, from->x, from->ldx);
    forward_done_at(p, MODEL_OP_EXPERTS);
    experts_up(e, p->thread, memory, LINEAR_FULL);
    mark_products(p, experts_up_view);
    experts_activate(e, p->thread, &biases);
    forward_done_at(p, MODEL_OP_EXPERTS);
    experts_down(e, p->thread, memory, LINEAR_FULL);
    mark_products(p, experts_down_view);
}

void forward_add_experts(const struct forward_pass *p, float *out, uint64_t row)
{
    const struct experts_biases biases = biases_of(p);
    experts_combine(p->block->experts, out, (unsigned)row, &biases);
}

float forward_shared_gate(const struct forward_pass *p, uint64_t row)
{
    if (!p->block->shared_gate) {
        return 1;
    }
    const struct linear *l = forward_linear_at(p, FORWARD_ROUTER);
    return 1 / (1 + expf(-l->y[row * l->ldy + p->block->router.experts]));
}

void forward_count_layer(const struct forward_pass *p)
{
    struct forward *f = p->f;
    struct forward_block *block = p->block;
    const struct experts *e = block->experts;
    uint32_t experts = block->router.experts;
    unsigned distinct = 0;
    if (p->first == 0) {
        memset(block->touched, 0, experts * sizeof *block->touched);
    }
    for (uint32_t i = 0; i < e->distinct; i++) {
        block->touched[e->chosen[i]] = true;
    }
    if (!p->last) {
        return;
    }
    for (uint32_t i = 0; i < experts; i++) {
        distinct += block->touched[i] ? 1 : 0;
    }
    f->step_layers++;
    f->step_distinct += distinct;
    f->step_bytes += distinct * block->expert_bytes * block->model_layers / block->layers;
}

// Mean and squared differences, one value more (Welford, Technometrics 4(3), 1962).
static void add_value(double *mean, double *squares, uint64_t count, double value)
{
    double off = value - *mean;
    *mean += off / (double)count;
    *squares += off * (value - *mean);
}

void forward_count_step(struct forward *f)
{
    struct forward_counts *c = &f->counts;
    if (f->step_layers == 0) {
        return;
    }
    c->steps++;
    add_value(&c->distinct, &c->distinct_squares, c->steps, f->step_distinct / f->step_layers);
    add_value(&c->bytes, &c->bytes_squares, c->steps, f->step_bytes);
    f->step_layers = 0;
    f->step_distinct = 0;
    f->step_bytes = 0;
}

void forward_get_counts(struct forward_counts *out, const struct forward *forward)
{
    *out = forward->counts;
}

void forward_forget_counts(struct forward *forward)
{
    memset(&forward->counts, 0, sizeof forward->counts);
}
