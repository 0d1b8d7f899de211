#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <limits.h>
#include <string.h>

// Rows of the residual begin as those of the embedding.
static void embed(struct forward *f, unsigned thread, unsigned char *const *memory)
{
    const unsigned threads = f->params.threads;
    for (uint64_t row = thread; row < f->rows; row += threads) {
        float *to = f->residual + row * f->d;
        forward_look_up(f, &f->embedding, to, memory, f->ids[row]);
        if (f->positions.n > 0) {
            float *scratch = f->scratch + thread * f->d;
            forward_look_up(f, &f->positions, scratch, memory, f->first_position + row % f->tokens);
            f->elementwise->add(to, scratch, f->d);
        }
    }
}

// The head's rows: every sequence's last.
static void norm_last(struct forward *f, unsigned thread)
{
    struct linear *l = forward_linear_of(&f->head, f->params.batch);
    for (uint64_t row = thread; row < f->params.batch; row += f->params.threads) {
        const float *from = f->residual + ((row + 1) * f->tokens - 1) * f->d;
        if (f->final_norm != NULL) {
            forward_norm(f, l->x + row * l->ldx, from, f->final_norm, f->final_norm + f->d);
        } else {
            memcpy(l->x + row * l->ldx, from, f->d * sizeof *from);
        }
    }
}

static void add_head_bias(struct forward *f, unsigned thread)
{
    struct linear *l = forward_linear_of(&f->head, f->params.batch);
    for (uint64_t row = thread; f->head_bias != NULL && row < f->params.batch;
         row += f->params.threads) {
        f->elementwise->add(l->y + row * l->ldy, f->head_bias, f->head.n);
    }
}

bool forward_signalled(const struct forward *f)
{
    return f->params.signal != NULL && *f->params.signal != 0;
}

// Whether the step ends before this layer: all threads see the same, without a barrier of its own.
// What thread 0 writes as it begins a layer holds for the layer after the next, and each layer has
// barriers.
static bool ends_before(struct forward *f, unsigned thread, unsigned layer)
{
    unsigned stop = __atomic_load_n(&f->stop_before, __ATOMIC_RELAXED);
    if (thread == 0 && stop == UINT_MAX && forward_signalled(f)) {
        __atomic_store_n(&f->stop_before, layer + 2, __ATOMIC_RELAXED);
    }
    return layer >= stop;
}

void forward_run(struct forward *forward, unsigned thread, unsigned char *const *memory,
                 const struct forward_probe *probe)
{
    struct forward *f = forward;
    const struct forward_mark norms = {.op = MODEL_OP_NORMS, .block = FORWARD_OUTSIDE};
    const struct forward_mark head = {.op = MODEL_OP_HEAD, .block = FORWARD_OUTSIDE};
    unsigned number = 0;
    embed(f, thread, memory); // the rows that this thread norms: no barrier
    for (unsigned b = 0; b < f->block_count; b++) {
        for (unsigned layer = 0; layer < f->blocks[b].layers; layer++) {
            if (ends_before(f, thread, number)) {
                return;
            }
            forward_layer(f, b, layer, number++, thread, memory, probe);
        }
    }
#pragma omp barrier
    norm_last(f, thread);
    forward_done(thread, probe, &norms);
    forward_multiply(&f->head, f->params.batch, thread, memory, probe, &head);
    if (f->head_bias != NULL) {
        add_head_bias(f, thread);
        forward_done(thread, probe, &head);
    }
    f->steps[(size_t)thread * 8]++;
    if (thread == 0) {
        forward_count_step(f);
    }
}
