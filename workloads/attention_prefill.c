#include "workloads/attention_plan.h"

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

/** Pages of a unit. */
struct pages {
    uint64_t first, end;
};

// From the first that its first row sees to the last row's own.
static struct pages pages_of(const struct attention *a, const struct prefill_tile *tile)
{
    uint64_t context = a->params.context;
    return (struct pages){attention_first_seen(a, context + row_of(a, tile, 0)) / ATTENTION_PAGE,
                          (context + row_of(a, tile, tile->columns - 1)) / ATTENTION_PAGE + 1};
}

static unsigned in_page(uint64_t token, uint64_t before)
{
    uint64_t inside = token < before ? 0 : token - before;
    return inside > ATTENTION_PAGE ? ATTENTION_PAGE : (unsigned)inside;
}

// Which tokens of a page each column sees: all, some, or none.
static void see_page(struct attention_turn *turn, const struct attention *a,
                     const struct prefill_tile *tile, uint64_t page)
{
    for (unsigned b = 0; b < tile->columns; b++) {
        uint64_t position = a->params.context + row_of(a, tile, b);
        turn->hidden[b] = in_page(attention_first_seen(a, position), page * ATTENTION_PAGE);
        turn->visible[b] = in_page(position + 1, page * ATTENTION_PAGE);
    }
}

static void store_tile(const struct attention *a, const struct prefill_tile *tile,
                       const struct attention_state *state, const float *out)
{
    for (unsigned b = 0; b < tile->columns; b++) {
        size_t query = query_index(a, tile, b);
        float *to = a->out + query * a->out_floats;
        float divisor = attention_divisor(a, (unsigned)(query % a->params.heads), state->maximum[b],
                                          state->sum[b]);
        for (size_t i = 0; i < a->out_floats; i++) {
            to[i] = out[(i / LINE_ROWS * tile->columns + b) * LINE_ROWS + i % LINE_ROWS] / divisor;
        }
    }
}

static void prefill_tile(const struct attention *a, const struct prefill_tile *tile,
                         unsigned char *const *cache, unsigned char *alias)
{
    float q[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    float out[ATTENTION_DIM_MAX * LINEAR_TILE_MAX] __attribute__((aligned(64)));
    const float *from[LINEAR_TILE_MAX] = {NULL};
    struct attention_state state;
    struct attention_turn turn = {.q = q, .columns = tile->columns};
    for (unsigned b = 0; b < tile->columns; b++) {
        from[b] = a->q + query_index(a, tile, b) * a->params.k_dim;
    }
    attention_pack_queries(a, q, from, tile->columns);
    attention_reset(&state, out, tile->columns * a->out_floats);
    const struct pages pages = pages_of(a, tile);
    for (uint64_t page = pages.first; page < pages.end; page++) {
        see_page(&turn, a, tile, page);
        turn.page = alias != NULL ? alias : attention_page(a, cache, tile->unit * a->pages + page);
        turn.values = turn.page + a->k_bytes;
        attention_run_page(a, &state, out, &turn);
    }
    store_tile(a, tile, &state, out);
}

// The tiles of a unit are numbered; the last may have fewer queries.
static struct prefill_tile tile_at(const struct attention *a, uint64_t unit, uint64_t number)
{
    struct prefill_tile tile = {.unit = unit, .first = number * a->kernel->tile};
    uint64_t left = a->params.rows * a->group - tile.first;
    tile.columns = left < a->kernel->tile ? (unsigned)left : a->kernel->tile;
    return tile;
}

static uint64_t tile_count(const struct attention *a)
{
    return (a->params.rows * a->group + a->kernel->tile - 1) / a->kernel->tile;
}

// Tiles go to the threads in turn: neighbours cost nearly the same.
void attention_prefill_share(const struct attention *a, unsigned thread,
                             unsigned char *const *cache, unsigned char *alias)
{
    uint64_t tiles = tile_count(a);
    for (uint64_t unit = 0; unit < a->units; unit++) {
        for (uint64_t t = (thread + unit) % a->params.threads; t < tiles; t += a->params.threads) {
            const struct prefill_tile tile = tile_at(a, unit, t);
            prefill_tile(a, &tile, cache, alias);
        }
    }
}

static void touch_tile(const struct attention *a, unsigned char *sink, unsigned char *const *cache,
                       const struct prefill_tile *tile)
{
    const struct pages pages = pages_of(a, tile);
    for (uint64_t page = pages.first; page < pages.end; page++) {
        a->kernel->touch(sink, attention_page(a, cache, tile->unit * a->pages + page), 0,
                         a->page_bytes / LINE_BYTES, a->params.prefetch_bytes);
    }
}

void attention_touch_tiles(const struct attention *a, unsigned char *sink, unsigned thread,
                           unsigned char *const *cache)
{
    uint64_t tiles = tile_count(a);
    for (uint64_t unit = 0; unit < a->units; unit++) {
        for (uint64_t t = (thread + unit) % a->params.threads; t < tiles; t += a->params.threads) {
            const struct prefill_tile tile = tile_at(a, unit, t);
            touch_tile(a, sink, cache, &tile);
        }
    }
}
