#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/line_rows.h"
#include "workloads/linear_plan.h"

#include <math.h>

static size_t table_groups(const struct forward_table *table)
{
    return (table->n + LINE_ROWS - 1) / LINE_ROWS;
}

static size_t table_thread_bytes(const struct forward_table *table, unsigned threads)
{
    return (table_groups(table) + threads - 1) / threads * table->group_bytes;
}

static size_t place(size_t *next, size_t bytes)
{
    size_t at = *next;
    *next += bytes;
    return at;
}

static void place_linear(size_t *next, struct forward_linear *linear)
{
    for (unsigned i = 0; i < linear->part_count; i++) {
        struct forward_part *part = &linear->parts[i];
        part->offset = place(next, linear_thread_bytes(part->chunk, 0));
    }
}

static void place_latent(size_t *next, struct forward_latent *latent)
{
    if (latent->cache != NULL) {
        latent->cache_offset = place(next, attention_thread_bytes(latent->cache, 0));
    } else {
        latent->k_offset = place(next, bank_thread_bytes(&latent->k_up));
        latent->v_offset = place(next, bank_thread_bytes(&latent->v_up));
    }
}

// What latent attention's prefill makes of the rows serves all layers, before the first.
static void place_block(size_t *next, struct forward_block *block)
{
    size_t in_layer = 0;
    size_t cache = attention_thread_bytes(block->attention, 0);
    for (int i = 0; i < FORWARD_PRODUCTS; i++) {
        place_linear(&in_layer, &block->products[i]);
    }
    if (block->is_latent) {
        place_latent(&in_layer, &block->latent);
    }
    if (block->experts != NULL) {
        block->experts_offset = place(&in_layer, experts_thread_bytes(block->experts));
    }
    block->cache_offset = place(block->latent.cache != NULL ? next : &in_layer, cache);
    block->layer_bytes = in_layer;
    block->first_offset = place(next, block->layers * in_layer);
}

void forward_layout(struct forward *f)
{
    unsigned threads = f->params.threads;
    size_t next = 0;
    for (unsigned b = 0; b < f->block_count; b++) {
        place_block(&next, &f->blocks[b]);
    }
    place_linear(&next, &f->head);
    bool tied = f->embedding.offset == SIZE_MAX;
    f->embedding.offset =
        tied ? f->head.parts[0].offset : place(&next, table_thread_bytes(&f->embedding, threads));
    f->positions.offset = place(&next, table_thread_bytes(&f->positions, threads));
    f->thread_bytes = next;
}

void forward_look_up(const struct forward *f, const struct forward_table *table, float *out,
                     unsigned char *const *memory, uint64_t row)
{
    size_t groups = table_groups(table);
    size_t group = row / LINE_ROWS;
    unsigned thread = 0;
    while (group >= groups * (thread + 1) / f->params.threads) {
        thread++;
    }
    size_t first = groups * thread / f->params.threads;
    const unsigned char *at = memory[thread] + table->offset + (group - first) * table->group_bytes;
    for (uint64_t k = 0; k < table->k; k++) {
        out[k] = (float)line_get(table->format, at, row % LINE_ROWS, k);
    }
}

// Spread evenly over +-amplitude, a variance of amplitude^2 / 3: K of them keep a sum's size.
static float amplitude_of(uint64_t k)
{
    return (float)sqrt(3.0 / (double)k);
}

// Group by group in formats with scales before each group.
static void fill_groups(enum line_format format, unsigned char *at, size_t size, size_t group_bytes,
                        float amplitude, uint64_t seed)
{
    size_t step = line_layout(format)->head_lines > 0 ? group_bytes : size;
    for (size_t done = 0; done < size; done += step) {
        line_fill_weights(format, at + done, step, amplitude, seed + done);
    }
}

static void fill_linear(const struct forward_linear *linear, unsigned thread, unsigned char *layer,
                        uint64_t seed)
{
    for (unsigned i = 0; i < linear->part_count; i++) {
        const struct forward_part *part = &linear->parts[i];
        enum line_format format = part->chunk->params.format;
        fill_groups(format, layer + part->offset, linear_thread_bytes(part->chunk, thread),
                    line_count(format, linear->k) * LINE_BYTES, amplitude_of(linear->k),
                    seed + ((uint64_t)i << 24));
    }
}

static void fill_table(const struct forward_table *table, unsigned threads, unsigned char *memory,
                       uint64_t seed)
{
    if (table->n > 0) {
        fill_groups(table->format, memory + table->offset, table_thread_bytes(table, threads),
                    table->group_bytes, amplitude_of(3), seed);
    }
}

static void fill_cache(const struct attention *attention, unsigned thread, unsigned char *at,
                       uint64_t seed)
{
    if (attention_is_quant(attention->params.format)) {
        attention_quant_fill(&attention->quant, at, attention_thread_bytes(attention, thread),
                             amplitude_of(3), seed);
        return;
    }
    line_fill_weights(attention->params.format, at, attention_thread_bytes(attention, thread),
                      amplitude_of(3), seed);
}

static void fill_layer(const struct forward_block *block, unsigned thread, unsigned char *layer,
                       uint64_t *seed)
{
    const struct forward_latent *latent = &block->latent;
    for (int p = 0; p < FORWARD_PRODUCTS; p++) {
        *seed += 1;
        if (block->products[p].n > 0) {
            fill_linear(&block->products[p], thread, layer, *seed);
        }
    }
    *seed += 1;
    if (latent->cache != NULL) {
        fill_cache(latent->cache, thread, layer + latent->cache_offset, *seed);
    } else {
        fill_cache(block->attention, thread, layer + block->cache_offset, *seed);
    }
    if (block->is_latent && latent->cache == NULL) {
        bank_fill(&latent->k_up, thread, layer + latent->k_offset, *seed << 8);
        bank_fill(&latent->v_up, thread, layer + latent->v_offset, *seed << 9);
    }
    if (block->experts != NULL) {
        experts_fill(block->experts, thread, layer + block->experts_offset, *seed << 10);
    }
}

void forward_fill(const struct forward *forward, unsigned thread, unsigned char *memory)
{
    const struct forward *f = forward;
    uint64_t seed = (uint64_t)thread << 32;
    for (unsigned b = 0; b < f->block_count; b++) {
        const struct forward_block *block = &f->blocks[b];
        if (block->latent.cache != NULL) {
            fill_cache(block->attention, thread, memory + block->cache_offset, ++seed);
        }
        for (unsigned i = 0; i < block->layers; i++) {
            if (forward_signalled(f)) {
                return;
            }
            fill_layer(block, thread, memory + block->first_offset + i * block->layer_bytes, &seed);
        }
    }
    fill_linear(&f->head, thread, memory, ++seed);
    if (f->embedding.offset != f->head.parts[0].offset) {
        fill_table(&f->embedding, f->params.threads, memory, ++seed);
    }
    fill_table(&f->positions, f->params.threads, memory, ++seed);
}
