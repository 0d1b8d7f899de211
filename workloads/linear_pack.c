#include "workloads/linear_plan.h"

#include <string.h>

unsigned linear_tile_columns(const struct linear *l, unsigned tile)
{
    return linear_tile_first(l, tile + 1) - linear_tile_first(l, tile);
}

unsigned linear_tile_first(const struct linear *l, unsigned tile)
{
    return l->params.batch * tile / l->tile_count;
}

size_t linear_unit_words(const struct linear *l)
{
    if (line_is_blocks(l->params.format)) {
        return (size_t)l->layout->unit_ks / LINE_BLOCK_KS * LINEAR_BLOCK_WORDS;
    }
    return l->params.class_ == LINEAR_DOT ? 1 : l->layout->unit_ks;
}

unsigned char *linear_tile_x(const struct linear *l, unsigned tile, size_t unit)
{
    size_t words = linear_unit_words(l);
    size_t before = l->units * words * linear_tile_first(l, tile);
    return l->x_packed + 4 * (before + unit * words * linear_tile_columns(l, tile));
}

bool linear_needs_packing(const struct linear *l)
{
    return l->params.batch > 1 || l->params.class_ == LINEAR_DOT;
}

const unsigned char *linear_block_word(const struct linear *l, const unsigned char *block,
                                       size_t word, unsigned b, unsigned columns)
{
    bool together = l->kernel->x_run > 1 && word < LINEAR_WORD_START;
    return block + 4 * (together ? LINEAR_WORD_START * (size_t)b + word : word * columns + b);
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

// A unit of bf16 pairs, whose runs of x_run units hold one column after the other.
static void pack_pairs(const struct linear *l, unsigned tile, size_t unit)
{
    unsigned columns = linear_tile_columns(l, tile);
    size_t run = l->kernel->x_run > 1 ? l->kernel->x_run : 1;
    size_t begin = unit / run * run;
    size_t length = l->units - begin < run ? l->units - begin : run;
    const float *x = l->x + linear_tile_first(l, tile) * l->ldx + 2 * unit;
    uint32_t *out = (uint32_t *)(void *)linear_tile_x(l, tile, begin) + (unit - begin);
    for (unsigned b = 0; b < columns; b++) {
        const float *at = x + b * l->ldx;
        out[b * length] = line_bf16_bits(at[0]) | line_bf16_bits(at[1]) << 16;
    }
}

static void pack_unit(const struct linear *l, unsigned tile, size_t unit)
{
    unsigned columns = linear_tile_columns(l, tile);
    const float *x = l->x + linear_tile_first(l, tile) * l->ldx + unit * l->layout->unit_ks;
    uint32_t *out = (uint32_t *)(void *)linear_tile_x(l, tile, unit);
    if (l->params.class_ == LINEAR_DOT) {
        pack_pairs(l, tile, unit);
        return;
    }
    for (unsigned b = 0; b < columns; b++) {
        for (unsigned i = 0; i < l->layout->unit_ks; i++) {
            out[i * columns + b] = bits_of_float(x[b * l->ldx + i]);
        }
    }
}

static void quantise_units(const struct linear *l, unsigned tile, size_t begin, size_t end)
{
    struct linear_packed to = {.words = (uint32_t *)(void *)linear_tile_x(l, tile, begin),
                               .columns = linear_tile_columns(l, tile),
                               .by_column = l->kernel->x_run > 1};
    size_t blocks = (end - begin) * l->layout->unit_ks / LINE_BLOCK_KS;
    const float *x = l->x + linear_tile_first(l, tile) * l->ldx + begin * l->layout->unit_ks;
    for (; to.column < to.columns; to.column++) {
        l->kernel->quantise(&to, x + to.column * l->ldx, blocks, l->layout);
    }
}

uint64_t linear_pack_bytes(const struct linear *linear)
{
    const struct linear *l = linear;
    uint64_t packed = l->units * linear_unit_words(l) * sizeof(uint32_t);
    return l->params.batch * (l->params.k * sizeof *l->x + packed);
}

// The thread's part of every row of x, in whole lines.
static void touch_share(struct linear *l, unsigned thread)
{
    unsigned char sink[LINE_BYTES] __attribute__((aligned(64))) = {0};
    size_t row_bytes = l->layout->unit_ks * sizeof *l->x;
    size_t begin = l->units * thread / l->params.threads * row_bytes;
    size_t end = l->units * (thread + 1) / l->params.threads * row_bytes;
    for (unsigned b = 0; b < l->params.batch; b++) {
        const unsigned char *row = (const unsigned char *)(l->x + b * l->ldx);
        l->kernel->touch[0](sink, row + begin, 0, (end - begin) / LINE_BYTES, 0);
    }
    if (sink[0] == 0xff && sink[1] == 0x01 && sink[2] == 0x02) {
        l->sink[0] = sink[3]; // never in practice: makes the reads observable
    }
}

// As many units as the thread's share has, all of them its first.
static void pack_one_unit(const struct linear *l, unsigned thread)
{
    size_t begin = l->units * thread / l->params.threads;
    size_t end = l->units * (thread + 1) / l->params.threads;
    for (unsigned tile = 0; tile < l->tile_count; tile++) {
        for (size_t unit = begin; unit < end; unit++) {
            quantise_units(l, tile, begin, begin + 1);
        }
    }
}

void linear_pack_mode(struct linear *linear, unsigned thread, enum linear_mode mode)
{
    switch (mode) {
    case LINEAR_FULL:
        linear_pack(linear, thread);
        break;
    case LINEAR_MEMORY_ONLY:
        touch_share(linear, thread);
        break;
    case LINEAR_COMPUTE_ONLY:
        pack_one_unit(linear, thread);
        break;
    }
}

void linear_pack_share(const struct linear *l, unsigned thread)
{
    size_t begin = l->units * thread / l->params.threads;
    size_t end = l->units * (thread + 1) / l->params.threads;
    for (unsigned tile = 0; tile < l->tile_count; tile++) {
        if (l->kernel->quantise != NULL) {
            quantise_units(l, tile, begin, end);
            continue;
        }
        for (size_t unit = begin; unit < end; unit++) {
            pack_unit(l, tile, unit);
        }
    }
}
