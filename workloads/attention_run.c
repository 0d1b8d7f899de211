#include "workloads/attention_plan.h"
#include "workloads/line_rows.h"

#include <string.h>

// Masked scores: exp() of them is 0 beside any real score, yet no infinity enters a difference.
static const float masked = -1e30F;

void attention_reset(struct attention_state *state, float *out, size_t floats)
{
    for (int b = 0; b < LINEAR_TILE_MAX; b++) {
        state->maximum[b] = masked;
        state->sum[b] = 0;
    }
    memset(out, 0, floats * sizeof *out);
}

// A column that sees nothing of a page before its first token counts 64 equal weights, which the
// first real maximum scales down to nothing.
static void mask(float *scores, const struct attention_turn *turn)
{
    for (unsigned b = 0; b < turn->columns; b++) {
        for (unsigned i = 0; i < turn->hidden[b]; i++) {
            scores[b * ATTENTION_PAGE + i] = masked;
        }
        for (unsigned i = turn->visible[b]; i < ATTENTION_PAGE; i++) {
            scores[b * ATTENTION_PAGE + i] = masked;
        }
    }
}

static void run_scores(const struct attention *a, float *scores, const struct attention_turn *turn)
{
    if (a->quantised) {
        a->kernel->quant_scores[turn->columns - 1](scores, turn->page, &a->quant, turn->q,
                                                   a->params.prefetch_bytes);
    } else {
        a->kernel->scores[turn->columns - 1](scores, turn->page, a->k_lines * LINE_BYTES,
                                             a->k_lines, turn->q, a->params.prefetch_bytes);
    }
}

void attention_run_page(const struct attention *a, struct attention_state *state, float *out,
                        const struct attention_turn *turn)
{
    float scores[LINEAR_TILE_MAX * ATTENTION_PAGE] __attribute__((aligned(64)));
    float alpha[LINEAR_TILE_MAX];
    unsigned columns = turn->columns;
    run_scores(a, scores, turn);
    mask(scores, turn);
    a->kernel->softmax(scores, state->maximum, state->sum, alpha, columns);
    if (a->quantised) {
        a->kernel->quant_values[columns - 1](out, alpha, turn->page, &a->quant, scores,
                                             a->params.prefetch_bytes);
    } else {
        a->kernel->values[columns - 1](out, alpha, turn->values, a->v_groups, scores,
                                       a->params.prefetch_bytes);
    }
}

void attention_pack_queries(const struct attention *a, float *packed, const float *const *from,
                            unsigned columns)
{
    size_t ks =
        a->quantised ? a->params.k_dim : a->k_lines * line_layout(a->params.format)->unit_ks;
    for (unsigned b = 0; b < columns; b++) {
        for (size_t d = 0; d < ks; d++) {
            packed[d * columns + b] = d < a->params.k_dim ? from[b][d] * a->scale : 0;
        }
    }
}

float attention_divisor(const struct attention *a, unsigned head, float maximum, float sum)
{
    return a->params.sinks ? sum + __builtin_expf(a->sinks[head] - maximum) : sum;
}

void attention_put_token(const struct attention *a, unsigned char *page, unsigned token,
                         const float *key, const float *value)
{
    enum line_format format = a->params.format;
    if (a->quantised) {
        attention_quant_put(&a->quant, page, token, key, value, a->params.v_dim);
        return;
    }
    unsigned char *k_group = page + token / LINE_ROWS * a->k_lines * LINE_BYTES;
    line_put_row(format, k_group, token % LINE_ROWS, key, a->params.k_dim);
    for (unsigned d = 0; !a->params.latent && d < a->params.v_dim; d += LINE_ROWS) {
        unsigned left = a->params.v_dim - d;
        line_put_rows(format, page + a->k_bytes + d / LINE_ROWS * a->v_lines * LINE_BYTES, token,
                      value + d, left < LINE_ROWS ? left : LINE_ROWS);
    }
}

// The memory-only twin of decode reads a thread's own pages, of prefill all that its tiles see.
static void touch_share(struct attention *a, unsigned thread, unsigned char *const *cache)
{
    unsigned char sink[LINE_BYTES] __attribute__((aligned(64))) = {0};
    if (a->params.prefill) {
        attention_touch_tiles(a, sink, thread, cache);
    } else {
        uint64_t pages = attention_first_page(a, thread + 1) - attention_first_page(a, thread);
        a->kernel->touch(sink, cache[thread], 0, pages * (a->page_bytes / LINE_BYTES),
                         a->params.prefetch_bytes);
    }
    if (sink[0] == 0xff && sink[1] == 0x01 && sink[2] == 0x02) {
        a->sink = sink[3]; // never in practice: makes the reads observable
    }
}

void attention_run(struct attention *attention, unsigned thread, unsigned char *const *cache,
                   enum linear_mode mode)
{
    struct attention *a = attention;
    unsigned char *alias = mode == LINEAR_COMPUTE_ONLY ? cache[thread] : NULL;
    if (mode == LINEAR_MEMORY_ONLY) {
        touch_share(a, thread, cache);
    } else if (a->params.prefill) {
        attention_prefill_share(a, thread, cache, alias);
    } else {
        // The last partial slot of a thread is never used for a unit: scratch for merging.
        float *scratch = a->partial + (thread * a->parts + a->parts - 1) * a->part_floats;
        attention_decode_share(a, thread, cache[thread], alias != NULL, scratch);
#pragma omp barrier
        attention_decode_merge(a, thread, scratch);
    }
}

void attention_put(const struct attention *attention, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, const float *key, const float *value)
{
    const struct attention *a = attention;
    unsigned char *page = attention_page(a, cache, unit * a->pages + token / ATTENTION_PAGE);
    attention_put_token(a, page, (unsigned)(token % ATTENTION_PAGE), key, value);
}
