#include "workloads/attention_plan.h"

#include <string.h>

static void append_row(const struct attention *a, unsigned char *page, uint64_t unit)
{
    const float *row = a->append + unit * a->row_floats;
    attention_put_token(a, page, (unsigned)((a->tokens - 1) % ATTENTION_PAGE), row,
                        row + a->params.k_dim);
}

static float *partial_of(const struct attention *a, unsigned thread, uint64_t unit)
{
    uint64_t first_unit = attention_first_page(a, thread) / a->pages;
    return a->partial + (thread * a->parts + (unit - first_unit)) * a->part_floats;
}

// The partial result of columns [first, first + columns): [maximum][sum] of the group's columns,
// then [column][out_floats].
static void store_partial(const struct attention *a, float *partial,
                          const struct attention_state *state, const float *out, unsigned first,
                          unsigned columns)
{
    for (unsigned b = 0; b < columns; b++) {
        partial[first + b] = state->maximum[b];
        partial[a->group + first + b] = state->sum[b];
        float *to = partial + (size_t)2 * a->group + (first + b) * a->out_floats;
        for (size_t group = 0; group < a->v_groups; group++) {
            memcpy(to + group * LINE_ROWS, out + (group * columns + b) * LINE_ROWS,
                   LINE_ROWS * sizeof *to);
        }
    }
}

struct page_run {
    uint64_t unit;
    uint64_t begin, end;   // pages of the unit
    unsigned char *pages;  // the first of them
    size_t step;           // bytes to the next; 0 in the compute-only twin
    unsigned char *values; // of the first of them
    size_t values_step;
};

// A tile of a group's queries over a run of pages.
static void decode_tile(const struct attention *a, const struct page_run *run, float *partial,
                        unsigned first, unsigned columns)
{
    float q[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    float out[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    const float *from[LINEAR_TILE_MAX] = {NULL};
    struct attention_state state;
    struct attention_turn turn = {.q = q, .columns = columns};
    uint64_t sequence = run->unit / a->params.kv_heads;
    uint64_t head = run->unit % a->params.kv_heads * a->group + first;
    for (unsigned b = 0; b < columns; b++) {
        from[b] = a->q + (sequence * a->params.heads + head + b) * a->params.k_dim;
    }
    attention_pack_queries(a, q, from, columns);
    attention_reset(&state, out, columns * a->out_floats);
    for (uint64_t page = run->begin; page < run->end; page++) {
        uint64_t left = a->tokens - page * ATTENTION_PAGE;
        for (unsigned b = 0; b < columns; b++) {
            turn.visible[b] = left < ATTENTION_PAGE ? (unsigned)left : ATTENTION_PAGE;
        }
        turn.page = run->pages + (page - run->begin) * run->step;
        turn.values = run->values + (page - run->begin) * run->values_step;
        attention_run_page(a, &state, out, &turn);
    }
    store_partial(a, partial, &state, out, first, columns);
}

static unsigned tile_count(const struct attention *a)
{
    return (a->group + a->kernel->tile - 1) / a->kernel->tile;
}

// A group wider than a tile would read its pages once per tile: take them a few at a time, so
// that the later tiles find them in cache.
enum { RUN_PAGES_WIDE = 4 };

static uint64_t slice_pages(const struct attention *a, const struct page_run *run)
{
    if (a->params.latent) {
        return ATTENTION_TURNED_PAGES;
    }
    return tile_count(a) == 1 ? run->end - run->begin : RUN_PAGES_WIDE;
}

// Where the values of a slice's pages are; those of a latent cache are turned first.
static void find_values(const struct attention *a, struct page_run *slice, unsigned thread)
{
    if (!a->params.latent) {
        slice->values = slice->pages + a->k_bytes;
        slice->values_step = slice->step;
        return;
    }
    slice->values = a->turned + (size_t)thread * ATTENTION_TURNED_PAGES * a->v_bytes;
    slice->values_step = a->v_bytes;
    for (uint64_t i = 0; i < slice->end - slice->begin; i++) {
        attention_turn_page(a, slice->values + i * a->v_bytes, slice->pages + i * slice->step);
    }
}

static void merge_into(const struct attention *a, float *into, const float *part);

static void decode_unit(const struct attention *a, const struct page_run *run, unsigned thread,
                        float *scratch)
{
    unsigned tiles = tile_count(a);
    float *partial = partial_of(a, thread, run->unit);
    uint64_t step = slice_pages(a, run);
    for (uint64_t begin = run->begin; begin < run->end; begin += step) {
        struct page_run slice = *run;
        slice.begin = begin;
        slice.end = run->end - begin < step ? run->end : begin + step;
        slice.pages = run->pages + (begin - run->begin) * run->step;
        find_values(a, &slice, thread);
        float *to = begin == run->begin ? partial : scratch;
        for (unsigned tile = 0; tile < tiles; tile++) {
            unsigned first = a->group * tile / tiles;
            decode_tile(a, &slice, to, first, a->group * (tile + 1) / tiles - first);
        }
        if (to == scratch) {
            merge_into(a, partial, scratch);
        }
    }
}

// Adds a partial result to another: both are rescaled to the larger maximum.
static void merge_into(const struct attention *a, float *into, const float *part)
{
    for (unsigned b = 0; b < a->group; b++) {
        float m = into[b] > part[b] ? into[b] : part[b];
        float scale_into = __builtin_expf(into[b] - m);
        float scale_part = __builtin_expf(part[b] - m);
        into[b] = m;
        into[a->group + b] = into[a->group + b] * scale_into + part[a->group + b] * scale_part;
        float *x = into + (size_t)2 * a->group + b * a->out_floats;
        const float *y = part + (size_t)2 * a->group + b * a->out_floats;
        for (size_t i = 0; i < a->out_floats; i++) {
            x[i] = x[i] * scale_into + y[i] * scale_part;
        }
    }
}

void attention_decode_share(const struct attention *a, unsigned thread, unsigned char *own,
                            bool alias, float *scratch)
{
    uint64_t begin = attention_first_page(a, thread);
    uint64_t end = attention_first_page(a, thread + 1);
    for (uint64_t page = begin; page < end;) {
        uint64_t unit = page / a->pages;
        uint64_t unit_end = (unit + 1) * a->pages < end ? (unit + 1) * a->pages : end;
        struct page_run run = {.unit = unit,
                               .begin = page - unit * a->pages,
                               .end = unit_end - unit * a->pages,
                               .pages = own + (alias ? 0 : (page - begin) * a->page_bytes),
                               .step = alias ? 0 : a->page_bytes};
        if (run.end == a->pages && !a->params.frozen) {
            append_row(a, run.pages + (run.end - 1 - run.begin) * run.step, unit);
        }
        decode_unit(a, &run, thread, scratch);
        page = unit_end;
    }
}

// True if some of the unit's pages are thread t's.
static bool has_part(const struct attention *a, unsigned t, uint64_t unit)
{
    uint64_t begin = attention_first_page(a, t);
    uint64_t end = attention_first_page(a, t + 1);
    return begin < end && begin < (unit + 1) * a->pages && end > unit * a->pages;
}

// The weighted values of a unit over their sums of weights.
static void store_unit(const struct attention *a, uint64_t unit, const float *sum)
{
    float *out = a->out + unit * a->group * a->out_floats;
    unsigned first = (unsigned)(unit % a->params.kv_heads) * a->group;
    for (unsigned b = 0; b < a->group; b++) {
        const float *values = sum + (size_t)2 * a->group + b * a->out_floats;
        float divisor = attention_divisor(a, first + b, sum[b], sum[a->group + b]);
        for (size_t i = 0; i < a->out_floats; i++) {
            out[b * a->out_floats + i] = values[i] / divisor;
        }
    }
}

// Merges what all threads found for the units of this thread's share.
void attention_decode_merge(const struct attention *a, unsigned thread, float *sum)
{
    uint64_t begin = a->units * thread / a->params.threads;
    uint64_t end = a->units * (thread + 1) / a->params.threads;
    for (uint64_t unit = begin; unit < end; unit++) {
        bool first = true;
        for (unsigned t = 0; t < a->params.threads; t++) {
            if (!has_part(a, t, unit)) {
                continue;
            }
            const float *part = partial_of(a, t, unit);
            if (first) {
                memcpy(sum, part, a->part_floats * sizeof *sum);
            } else {
                merge_into(a, sum, part);
            }
            first = false;
        }
        store_unit(a, unit, sum);
    }
}
