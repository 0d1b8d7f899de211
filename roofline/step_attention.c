#include "roofline/step_work.h"

#include <math.h>

// 1 + 2 + ... + count
static double triangle(double count)
{
    return count * (count + 1) / 2;
}

// Pairs of the first `positions` tokens of a sequence that attends within chunks of w.
static double chunk_pairs(double positions, double w)
{
    double chunks = floor(positions / w);
    return chunks * triangle(w) + triangle(positions - chunks * w);
}

double step_attention_pairs(const struct model_attention *attention, uint64_t context, uint64_t n)
{
    double c = (double)context;
    double count = (double)n;
    double w = (double)attention->window;
    if (attention->window == 0 || c + count <= w) {
        return count * c + triangle(count);
    }
    if (attention->chunked) {
        return chunk_pairs(c + count, w) - chunk_pairs(c, w);
    }
    // The first `growing` new tokens see fewer than W positions, the others W each.
    double growing = fmin(count, fmax(0, w - c));
    return growing * c + triangle(growing) + (count - growing) * w;
}

double step_visible_cached(const struct model_attention *attention, uint64_t context)
{
    if (attention->window == 0) {
        return (double)context;
    }
    if (attention->chunked) {
        return (double)(context % attention->window);
    }
    return fmin((double)context, (double)attention->window - 1);
}

double step_distinct_experts(uint64_t experts, uint64_t used, double tokens)
{
    double all = (double)experts;
    double missed = 1 - (double)used / all;
    return missed > 0 ? all * -expm1(tokens * log1p(-(double)used / all)) : all;
}

double step_distinct_experts_variance(uint64_t experts, uint64_t used, double tokens)
{
    double all = (double)experts;
    double idle = all - (double)used;
    double missed = pow(idle / all, tokens);
    double both_missed =
        experts < 2 ? 0 : pow(fmax(idle * (idle - 1), 0) / (all * (all - 1)), tokens);
    double touched = 1 - missed;
    double both = 1 - 2 * missed + both_missed;
    return fmax(0, all * touched * missed + all * (all - 1) * (both - touched * touched));
}

bool step_is_absorbed(const struct step_work *work, const struct model_block *block)
{
    return block->attention.kind == MODEL_ATTENTION_MLA && work->request->mla == STEP_MLA_ABSORBED;
}

double step_latent_rows(const struct step_work *work)
{
    return work->request->mla == STEP_MLA_ABSORBED ? work->rows
                                                   : work->rows + work->batch * work->context;
}

// Length of the vectors that a score and an output are made of.
static void dot_lengths(double *score, double *output, const struct step_work *work,
                        const struct model_block *block)
{
    const struct model_attention *attention = &block->attention;
    bool absorbed = step_is_absorbed(work, block);
    *score = (double)(absorbed ? attention->kv_rank + attention->rope_dim : attention->k_dim);
    *output = (double)(absorbed ? attention->kv_rank : attention->v_dim);
}

// FLOPs of `pairs` scores and the sums of V over them, for one head and sequence.
static double pair_flop(const struct step_work *work, double pairs, double score, double output)
{
    if (work->request->exact) {
        return pairs * (2 * score - 1) + output * (2 * pairs - work->tokens);
    }
    return 2 * pairs * (score + output);
}

static double vector_bytes(enum dtype_id dtype, uint64_t values)
{
    return (double)dtype_matrix_bytes(dtype, 1, values);
}

double step_kv_row_bytes(const struct model_attention *attention, enum dtype_id kv_dtype)
{
    if (attention->kv_values == 0) {
        return 0;
    }
    if (attention->kind == MODEL_ATTENTION_MLA) {
        return vector_bytes(kv_dtype, attention->kv_values);
    }
    return (double)attention->kv_heads *
           (vector_bytes(kv_dtype, attention->k_dim) + vector_bytes(kv_dtype, attention->v_dim));
}

static void add_parts(struct step_attention *parts, const struct step_work *work,
                      const struct model_block *block, double pairs)
{
    const struct model_attention *attention = &block->attention;
    double sequences = (double)block->layers * work->batch;
    double kv_heads = step_is_absorbed(work, block) ? 1 : (double)attention->kv_heads;
    double visible = step_visible_cached(attention, work->request->context) + work->tokens;
    parts->scores += sequences * (double)attention->heads * pairs;
    parts->kv_vectors += sequences * kv_heads * visible;
    parts->units += sequences * kv_heads;
    parts->latent = parts->latent || step_is_absorbed(work, block);
}

void step_add_attention(struct step_cost *cost, struct step_attention *parts,
                        const struct step_work *work, const struct model_block *block)
{
    const struct model_attention *attention = &block->attention;
    const struct step_request *request = work->request;
    double layers = (double)block->layers;
    double heads = layers * work->batch * (double)attention->heads;
    uint64_t n = (uint64_t)work->tokens;
    double pairs = step_attention_pairs(attention, request->context, n);
    bool skips = request->skips_masked || request->phase == STEP_DECODE;
    double executed = skips ? pairs : work->tokens * (work->context + work->tokens);
    double score = 0;
    double output = 0;
    dot_lengths(&score, &output, work, block);
    cost->flop += heads * pair_flop(work, pairs, score, output);
    cost->flop_executed += heads * pair_flop(work, executed, score, output);
    cost->flop_other += heads * 5 * pairs; // softmax: 5 per score
    double visible = step_visible_cached(attention, request->context);
    double row = layers * work->batch * step_kv_row_bytes(attention, request->kv_dtype);
    cost->bytes.kv_read += row * visible;
    cost->bytes.kv_write += row * work->tokens;
    cost->bytes.weights +=
        layers * work->passes * (double)model_vector_bytes(&block->sinks, request->dtype);
    cost->layers += block->layers;
    add_parts(parts, work, block, pairs);
}
