#include "workloads/attention_plan.h"
#include "workloads/line_rows.h"

#include <string.h>

// What a thread carries from page to page for up to LINEAR_TILE_MAX columns.
struct columns_state {
    float maximum[LINEAR_TILE_MAX];
    float sum[LINEAR_TILE_MAX];
};

// Masked scores: exp() of them is 0 beside any real score, yet no infinity enters a difference.
static const float masked = -1e30F;

static void state_reset(struct columns_state *state, float *out, size_t floats)
{
    for (int b = 0; b < LINEAR_TILE_MAX; b++) {
        state->maximum[b] = masked;
        state->sum[b] = 0;
    }
    memset(out, 0, floats * sizeof *out);
}

// One page against `columns` queries; visible[b] tokens of the page count for column b. out is
// [v_groups][columns][16].
static void run_page(const struct attention *a, struct columns_state *state, float *out,
                     const unsigned char *page, const float *q, unsigned columns,
                     const unsigned *visible)
{
    float scores[LINEAR_TILE_MAX * ATTENTION_PAGE] __attribute__((aligned(64)));
    float alpha[LINEAR_TILE_MAX];
    a->kernel->scores[columns - 1](scores, page, a->k_lines * LINE_BYTES, a->k_lines, q,
                                   a->params.prefetch_bytes);
    for (unsigned b = 0; b < columns; b++) {
        for (unsigned i = visible[b]; i < ATTENTION_PAGE; i++) {
            scores[b * ATTENTION_PAGE + i] = masked;
        }
    }
    a->kernel->softmax(scores, state->maximum, state->sum, alpha, columns);
    a->kernel->values[columns - 1](out, alpha, page + a->k_bytes, a->v_groups, scores,
                                   a->params.prefetch_bytes);
}

// q of query heads, scaled and packed [k][columns]; from[b] is the b-th query's row.
static void pack_queries(const struct attention *a, float *packed, const float *const *from,
                         unsigned columns)
{
    size_t ks = a->k_lines * line_layout(a->params.format)->unit_ks;
    for (unsigned b = 0; b < columns; b++) {
        for (size_t d = 0; d < ks; d++) {
            packed[d * columns + b] = d < a->params.k_dim ? from[b][d] * a->scale : 0;
        }
    }
}

static void put_token(const struct attention *a, unsigned char *page, unsigned token,
                      const float *key, const float *value)
{
    enum line_format format = a->params.format;
    unsigned char *k_group = page + token / LINE_ROWS * a->k_lines * LINE_BYTES;
    line_put_row(format, k_group, token % LINE_ROWS, key, a->params.k_dim);
    for (unsigned d = 0; d < a->params.v_dim; d += LINE_ROWS) {
        unsigned left = a->params.v_dim - d;
        line_put_rows(format, page + a->k_bytes + d / LINE_ROWS * a->v_lines * LINE_BYTES, token,
                      value + d, left < LINE_ROWS ? left : LINE_ROWS);
    }
}

static void append_row(const struct attention *a, unsigned char *page, uint64_t unit)
{
    const float *row = a->append + unit * (a->params.k_dim + a->params.v_dim);
    put_token(a, page, (unsigned)((a->tokens - 1) % ATTENTION_PAGE), row, row + a->params.k_dim);
}

static float *partial_of(const struct attention *a, unsigned thread, uint64_t unit)
{
    uint64_t first_unit = attention_first_page(a, thread) / a->pages;
    return a->partial + (thread * a->parts + (unit - first_unit)) * a->part_floats;
}

// The partial result of columns [first, first + columns): [maximum][sum] of the group's columns,
// then [column][out_floats].
static void store_partial(const struct attention *a, float *partial,
                          const struct columns_state *state, const float *out, unsigned first,
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
    uint64_t begin, end;  // pages of the unit
    unsigned char *pages; // the first of them
    size_t step;          // bytes to the next; 0 in the compute-only twin
};

// A tile of a group's queries over a run of pages.
static void decode_tile(const struct attention *a, const struct page_run *run, float *partial,
                        unsigned first, unsigned columns)
{
    float q[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    float out[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    const float *from[LINEAR_TILE_MAX] = {NULL};
    unsigned visible[LINEAR_TILE_MAX];
    struct columns_state state;
    uint64_t sequence = run->unit / a->params.kv_heads;
    uint64_t head = run->unit % a->params.kv_heads * a->group + first;
    for (unsigned b = 0; b < columns; b++) {
        from[b] = a->q + (sequence * a->params.heads + head + b) * a->params.k_dim;
    }
    pack_queries(a, q, from, columns);
    state_reset(&state, out, columns * a->out_floats);
    for (uint64_t page = run->begin; page < run->end; page++) {
        uint64_t left = a->tokens - page * ATTENTION_PAGE;
        for (unsigned b = 0; b < columns; b++) {
            visible[b] = left < ATTENTION_PAGE ? (unsigned)left : ATTENTION_PAGE;
        }
        run_page(a, &state, out, run->pages + (page - run->begin) * run->step, q, columns, visible);
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

static void merge_into(const struct attention *a, float *into, const float *part);

static void decode_unit(const struct attention *a, const struct page_run *run, unsigned thread,
                        float *scratch)
{
    unsigned tiles = tile_count(a);
    float *partial = partial_of(a, thread, run->unit);
    uint64_t step = tiles == 1 ? run->end - run->begin : RUN_PAGES_WIDE;
    for (uint64_t begin = run->begin; begin < run->end; begin += step) {
        struct page_run slice = *run;
        slice.begin = begin;
        slice.end = run->end - begin < step ? run->end : begin + step;
        slice.pages = run->pages + (begin - run->begin) * run->step;
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

static void decode_share(const struct attention *a, unsigned thread, unsigned char *own, bool alias,
                         float *scratch)
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
        if (run.end == a->pages) {
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
    for (unsigned b = 0; b < a->group; b++) {
        const float *values = sum + (size_t)2 * a->group + b * a->out_floats;
        for (size_t i = 0; i < a->out_floats; i++) {
            out[b * a->out_floats + i] = values[i] / sum[a->group + b];
        }
    }
}

// Merges what all threads found for the units of this thread's share.
static void decode_merge(const struct attention *a, unsigned thread, float *sum)
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

struct prefill_tile {
    uint64_t unit;
    uint64_t first; // query x group + head of the group
    unsigned columns;
};

static uint64_t row_of(const struct attention *a, const struct prefill_tile *tile, unsigned b)
{
    return (tile->first + b) / a->group;
}

static size_t query_index(const struct attention *a, const struct prefill_tile *tile, unsigned b)
{
    uint64_t sequence = tile->unit / a->params.kv_heads;
    uint64_t kv_head = tile->unit % a->params.kv_heads;
    return (sequence * a->params.rows + row_of(a, tile, b)) * a->params.heads + kv_head * a->group +
           (tile->first + b) % a->group;
}

static unsigned char *cache_page(const struct attention *a, unsigned char *const *cache,
                                 uint64_t page)
{
    unsigned thread = 0;
    while (page >= attention_first_page(a, thread + 1)) {
        thread++;
    }
    return cache[thread] + (page - attention_first_page(a, thread)) * a->page_bytes;
}

// How many tokens of a page each column sees: all, some, or none after its own place.
static void see_page(unsigned *visible, const struct attention *a, const struct prefill_tile *tile,
                     uint64_t page)
{
    uint64_t before = page * ATTENTION_PAGE;
    for (unsigned b = 0; b < tile->columns; b++) {
        uint64_t seen = a->params.context + row_of(a, tile, b) + 1;
        visible[b] = seen <= before                    ? 0
                     : seen - before >= ATTENTION_PAGE ? ATTENTION_PAGE
                                                       : (unsigned)(seen - before);
    }
}

static void prefill_tile(const struct attention *a, const struct prefill_tile *tile,
                         unsigned char *const *cache, unsigned char *alias)
{
    float q[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    float out[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    const float *from[LINEAR_TILE_MAX] = {NULL};
    unsigned visible[LINEAR_TILE_MAX];
    struct columns_state state;
    for (unsigned b = 0; b < tile->columns; b++) {
        from[b] = a->q + query_index(a, tile, b) * a->params.k_dim;
    }
    pack_queries(a, q, from, tile->columns);
    state_reset(&state, out, tile->columns * a->out_floats);
    uint64_t last = a->params.context + row_of(a, tile, tile->columns - 1);
    for (uint64_t page = 0; page <= last / ATTENTION_PAGE; page++) {
        see_page(visible, a, tile, page);
        const unsigned char *at =
            alias != NULL ? alias : cache_page(a, cache, tile->unit * a->pages + page);
        run_page(a, &state, out, at, q, tile->columns, visible);
    }
    for (unsigned b = 0; b < tile->columns; b++) {
        float *to = a->out + query_index(a, tile, b) * a->out_floats;
        for (size_t i = 0; i < a->out_floats; i++) {
            to[i] =
                out[(i / LINE_ROWS * tile->columns + b) * LINE_ROWS + i % LINE_ROWS] / state.sum[b];
        }
    }
}

// Tiles go to the threads in turn: neighbours cost nearly the same.
static void prefill_share(const struct attention *a, unsigned thread, unsigned char *const *cache,
                          unsigned char *alias)
{
    uint64_t queries = a->params.rows * a->group;
    uint64_t tiles = (queries + a->kernel->tile - 1) / a->kernel->tile;
    for (uint64_t unit = 0; unit < a->units; unit++) {
        for (uint64_t t = (thread + unit) % a->params.threads; t < tiles; t += a->params.threads) {
            struct prefill_tile tile = {.unit = unit, .first = t * a->kernel->tile};
            uint64_t left = queries - tile.first;
            tile.columns = left < a->kernel->tile ? (unsigned)left : a->kernel->tile;
            prefill_tile(a, &tile, cache, alias);
        }
    }
}

// Every page that one tile's queries see, of any thread.
static void touch_tile(const struct attention *a, unsigned char *sink, unsigned char *const *cache,
                       uint64_t unit, uint64_t first)
{
    uint64_t queries = a->params.rows * a->group;
    uint64_t last = first + a->kernel->tile <= queries ? first + a->kernel->tile - 1 : queries - 1;
    uint64_t pages = (a->params.context + last / a->group) / ATTENTION_PAGE + 1;
    for (uint64_t page = 0; page < pages; page++) {
        a->kernel->touch(sink, cache_page(a, cache, unit * a->pages + page), 0,
                         a->page_bytes / LINE_BYTES, a->params.prefetch_bytes);
    }
}

static void touch_tiles(const struct attention *a, unsigned char *sink, unsigned thread,
                        unsigned char *const *cache)
{
    uint64_t queries = a->params.rows * a->group;
    uint64_t step = (uint64_t)a->kernel->tile * a->params.threads;
    for (uint64_t unit = 0; unit < a->units; unit++) {
        for (uint64_t first = (thread + unit) % a->params.threads * a->kernel->tile;
             first < queries; first += step) {
            touch_tile(a, sink, cache, unit, first);
        }
    }
}

// The memory-only twin of decode reads a thread's own pages, of prefill all that its tiles see.
static void touch_share(struct attention *a, unsigned thread, unsigned char *const *cache)
{
    unsigned char sink[LINE_BYTES] __attribute__((aligned(64))) = {0};
    if (a->params.prefill) {
        touch_tiles(a, sink, thread, cache);
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
        prefill_share(a, thread, cache, alias);
    } else {
        // The last partial slot of a thread is never used for a unit: scratch for merging.
        float *scratch = a->partial + (thread * a->parts + a->parts - 1) * a->part_floats;
        decode_share(a, thread, cache[thread], alias != NULL, scratch);
#pragma omp barrier
        decode_merge(a, thread, scratch);
    }
}

void attention_put(const struct attention *attention, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, const float *key, const float *value)
{
    const struct attention *a = attention;
    unsigned char *page = cache_page(a, cache, unit * a->pages + token / ATTENTION_PAGE);
    put_token(a, page, (unsigned)(token % ATTENTION_PAGE), key, value);
}
