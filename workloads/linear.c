#include "workloads/linear.h"

#include "workloads/linear_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct linear_kernel *const kernel_lists[] = {
#if defined(__x86_64__)
    linear_kernels_amx,     linear_kernels_avx512bf16, linear_kernels_avx512vnni,
    linear_kernels_avx512,  linear_kernels_avxvnni,    linear_kernels_vnni256,
    linear_kernels_avx2,
#elif defined(__aarch64__)
    linear_kernels_neonbf16, linear_kernels_neoni8mm, linear_kernels_sve,
    linear_kernels_neondot,  linear_kernels_neon,
#endif
    linear_kernels_portable};

static const struct linear_kernel *find_kernel(enum line_format format, enum linear_class class_,
                                               struct isa_set isa, unsigned batch)
{
    for (size_t i = 0; i < sizeof kernel_lists / sizeof *kernel_lists; i++) {
        for (const struct linear_kernel *k = kernel_lists[i]; k->isa_name != NULL; k++) {
            if (k->format == format && k->class_ == class_ && isa_has(isa, k->needs) &&
                batch >= k->least_batch) {
                return k;
            }
        }
    }
    return NULL;
}

bool linear_supported(enum line_format format, enum linear_class class_, struct isa_set isa)
{
    return find_kernel(format, class_, isa, 1) != NULL;
}

const struct linear_kernel *linear_kernel_at(size_t index)
{
    for (size_t i = 0; i < sizeof kernel_lists / sizeof *kernel_lists; i++) {
        for (const struct linear_kernel *k = kernel_lists[i]; k->isa_name != NULL; k++, index--) {
            if (index == 0) {
                return k;
            }
        }
    }
    return NULL;
}

bool linear_kernel_name(enum line_format *format, const char **class_name, size_t index)
{
    const struct linear_kernel *kernel = linear_kernel_at(index);
    if (kernel == NULL) {
        return false;
    }
    *format = kernel->format;
    *class_name = kernel->class_name;
    return true;
}

static void fill_activations(struct linear *l)
{
    uint64_t state = 1;
    for (unsigned b = 0; b < l->params.batch; b++) {
        for (size_t k = 0; k < l->params.k; k++) {
            l->x[b * l->ldx + k] = line_random(&state);
        }
    }
}

// Where two tiles would take turns, the second finds the weights in the cache and memory idles:
// one wider tile keeps both busy.
static void plan_tiles(struct linear *l)
{
    unsigned batch = l->params.batch;
    if (batch > l->kernel->tile && batch <= l->kernel->wide) {
        l->tile_count = 1;
        l->tall = 1;
        return;
    }
    l->tile_count = (batch + l->kernel->tile - 1) / l->kernel->tile;
    l->tall = linear_tile_columns(l, 0) >= LINEAR_TALL_FROM ? l->kernel->tall : 1;
}

static void plan_shape(struct linear *l)
{
    const struct linear_params *p = &l->params;
    l->layout = line_layout(p->format);
    l->units = line_units(p->format, p->k);
    l->piece_units = LINEAR_PIECE_LINES / l->layout->unit_lines;
    l->groups = (p->n + LINE_ROWS - 1) / LINE_ROWS;
    l->group_bytes = line_count(p->format, p->k) * LINE_BYTES;
    plan_tiles(l);
    size_t ldx = l->units * l->layout->unit_ks;
    size_t ldy = l->groups * LINE_ROWS;
    l->ldx = ldx > p->least_ldx ? ldx : p->least_ldx;
    l->ldy = ldy > p->least_ldy ? ldy : p->least_ldy;
}

static struct status check_params(const struct linear_params *p)
{
    enum { EXTENT_MAX = 1 << 30 };
    if (p->n == 0 || p->k == 0 || p->n > EXTENT_MAX || p->k > EXTENT_MAX || p->batch == 0 ||
        p->batch > LINEAR_BATCH_MAX || p->threads == 0) {
        return status_error(STATUS_INVALID,
                            "linear of n %llu, k %llu, batch %u, threads %u: extents are 1 to "
                            "2^30, the batch 1 to %d",
                            (unsigned long long)p->n, (unsigned long long)p->k, p->batch,
                            p->threads, LINEAR_BATCH_MAX);
    }
    const struct line_layout *layout = line_layout(p->format);
    if (p->k % layout->multiple_ks != 0) {
        return status_error(STATUS_INVALID, "%s: rows of %llu elements; accepted multiples of %u",
                            layout->name, (unsigned long long)p->k, layout->multiple_ks);
    }
    return status_ok();
}

// bytes rounded up to whole lines, 64-byte aligned, zeroed.
static void *alloc_lines(size_t bytes)
{
    size_t rounded = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *p = aligned_alloc(LINE_BYTES, rounded);
    if (p != NULL) {
        memset(p, 0, rounded);
    }
    return p;
}

struct status linear_create(struct linear **out, const struct linear_params *params)
{
    *out = NULL;
    TRY(check_params(params));
    const struct linear_kernel *kernel =
        find_kernel(params->format, params->class_, params->isa, params->batch);
    if (kernel == NULL) {
        return status_error(STATUS_UNAVAILABLE, "no kernel of this class for this CPU");
    }
    struct linear *l = alloc_lines(sizeof *l);
    if (l == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a linear layer");
    }
    l->params = *params;
    l->kernel = kernel;
    plan_shape(l);
    l->x = alloc_lines(params->batch * l->ldx * sizeof *l->x);
    l->x_packed = alloc_lines(params->batch * l->ldx * sizeof *l->x);
    l->y = alloc_lines(params->batch * l->ldy * sizeof *l->y);
    if (l->x == NULL || l->x_packed == NULL || l->y == NULL) {
        linear_destroy(l);
        return status_error(STATUS_SYSTEM, "no memory for the activations of a linear layer");
    }
    fill_activations(l);
    *out = l;
    return status_ok();
}

void linear_destroy(struct linear *linear)
{
    if (linear == NULL) {
        return;
    }
    if (!linear->joined) {
        free(linear->x);
        free(linear->y);
    }
    free(linear->x_packed);
    free(linear);
}

void linear_join(struct linear *part, const struct linear *whole, size_t column)
{
    assert(part->ldx == whole->ldx && part->ldy == whole->ldy && !part->joined);
    assert(column + part->groups * LINE_ROWS <= part->ldy);
    free(part->x);
    free(part->y);
    part->x = whole->x;
    part->y = whole->y + column;
    part->joined = true;
}

size_t linear_first_group(const struct linear *l, unsigned thread)
{
    return l->groups * thread / l->params.threads;
}

size_t linear_thread_bytes(const struct linear *linear, unsigned thread)
{
    size_t groups = linear_first_group(linear, thread + 1) - linear_first_group(linear, thread);
    if (thread == 0) { // the largest share, so that equal strides serve all threads
        groups = (linear->groups + linear->params.threads - 1) / linear->params.threads;
    }
    return groups * linear->group_bytes;
}

uint64_t linear_stored_bytes(const struct linear *linear)
{
    return (uint64_t)linear->groups * linear->group_bytes;
}

const char *linear_class_name(const struct linear *linear)
{
    return linear->kernel->class_name;
}

const char *linear_isa_name(const struct linear *linear)
{
    return linear->kernel->isa_name;
}

void linear_set_prefetch(struct linear *linear, size_t prefetch_bytes)
{
    linear->params.prefetch_bytes = prefetch_bytes;
}

// The stream of weights drives x out of the L1 between two groups. Lines of x that are missed one
// by one, between those of the stream, disturb it: they are fetched together.
static void fetch_x(const unsigned char *x, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        __builtin_prefetch(x + at, 0, 3);
    }
}

// `tall` groups that start at weights, piece by piece, so that a piece of all their rows stays in
// the L1 for all columns; step is 0 in the compute-only twin.
static void multiply_groups(const struct linear *l, float *acc, const unsigned char *weights,
                            bool alias, unsigned tall)
{
    weights += l->layout->head_lines * (size_t)LINE_BYTES;
    size_t group_step = alias ? 0 : l->group_bytes;
    size_t unit_bytes = (size_t)l->layout->unit_lines * LINE_BYTES;
    bool as_it_is = !linear_needs_packing(l);
    for (size_t unit = 0; unit < l->units; unit += l->piece_units) {
        size_t left = l->units - unit;
        size_t count = left < l->piece_units ? left : l->piece_units;
        const unsigned char *piece = weights + (alias ? 0 : unit * unit_bytes);
        float *out = acc;
        for (unsigned tile = 0; tile < l->tile_count; tile++) {
            unsigned columns = linear_tile_columns(l, tile);
            const unsigned char *x = as_it_is
                                         ? (const unsigned char *)(l->x + unit * l->layout->unit_ks)
                                         : linear_tile_x(l, tile, unit);
            bool prefetching = tile == 0 && l->params.prefetch_bytes > 0;
            if (l->params.batch == 1 && l->kernel->quantise != NULL) {
                fetch_x(x, count * linear_unit_words(l) * sizeof(uint32_t));
            }
            l->kernel->tiles[prefetching][tall - 1][columns - 1](out, piece, group_step, count, x,
                                                                 l->params.prefetch_bytes);
            out += (size_t)columns * tall * LINE_ROWS;
        }
    }
}

// The scales of a group's rows, which its head line holds.
static void scale_rows(const struct linear *l, float *acc, const unsigned char *head)
{
    float scales[LINE_ROWS];
    memcpy(scales, head, sizeof scales);
    for (unsigned b = 0; b < l->params.batch; b++) {
        for (unsigned row = 0; row < LINE_ROWS; row++) {
            acc[b * LINE_ROWS + row] *= scales[row];
        }
    }
}

static void store_groups(const struct linear *l, const float *acc, size_t group, unsigned tall)
{
    for (unsigned tile = 0; tile < l->tile_count; tile++) {
        unsigned columns = linear_tile_columns(l, tile);
        for (unsigned j = 0; j < tall; j++) {
            for (unsigned b = 0; b < columns; b++) {
                memcpy(l->y + (linear_tile_first(l, tile) + b) * l->ldy + (group + j) * LINE_ROWS,
                       acc, LINE_ROWS * sizeof *acc);
                acc += LINE_ROWS;
            }
        }
    }
}

static void touch_groups(const struct linear *l, unsigned char *sink, const unsigned char *weights,
                         unsigned tall)
{
    size_t lines = l->group_bytes / LINE_BYTES;
    for (size_t line = 0; line < lines; line += LINEAR_PIECE_LINES) {
        size_t left = lines - line;
        size_t count = left < LINEAR_PIECE_LINES ? left : LINEAR_PIECE_LINES;
        l->kernel->touch[tall - 1](sink, weights + line * LINE_BYTES, l->group_bytes, count,
                                   l->params.prefetch_bytes);
    }
}

// What a kernel needs to have set up in a thread, for the widest of its tiles.
static void begin_tiles(const struct linear *l)
{
    if (l->kernel->begin != NULL) {
        l->kernel->begin((l->params.batch + l->tile_count - 1) / l->tile_count);
    }
}

static void end_tiles(const struct linear *l)
{
    if (l->kernel->end != NULL) {
        l->kernel->end();
    }
}

static void run_groups(struct linear *l, unsigned thread, const unsigned char *weights,
                       enum linear_mode mode)
{
    float acc[LINEAR_TALL_MAX * LINEAR_BATCH_MAX * LINE_ROWS] __attribute__((aligned(64)));
    unsigned char sink[LINE_BYTES] __attribute__((aligned(64))) = {0};
    size_t begin = linear_first_group(l, thread);
    size_t end = linear_first_group(l, thread + 1);
    begin_tiles(l);
    for (size_t group = begin; group < end;) {
        unsigned tall = end - group >= l->tall ? l->tall : 1;
        size_t offset = (group - begin) * l->group_bytes;
        bool alias = mode == LINEAR_COMPUTE_ONLY;
        if (mode == LINEAR_MEMORY_ONLY) {
            touch_groups(l, sink, weights + offset, tall);
        } else {
            memset(acc, 0, (size_t)tall * l->params.batch * LINE_ROWS * sizeof *acc);
            multiply_groups(l, acc, alias ? weights : weights + offset, alias, tall);
            if (l->layout->head_lines > 0) {
                scale_rows(l, acc, alias ? weights : weights + offset);
            }
            store_groups(l, acc, group, tall);
        }
        group += tall;
    }
    end_tiles(l);
    if (mode == LINEAR_MEMORY_ONLY && sink[0] == 0xff && sink[1] == 0x01 && sink[2] == 0x02) {
        l->sink[0] = sink[3]; // never in practice: makes the reads observable
    }
}

void linear_run(struct linear *linear, unsigned thread, const unsigned char *weights,
                enum linear_mode mode)
{
    if (linear_needs_packing(linear) && mode != LINEAR_MEMORY_ONLY) {
        linear_pack_share(linear, thread);
#pragma omp barrier
    }
    run_groups(linear, thread, weights, mode);
}

void linear_pack(const struct linear *linear, unsigned thread)
{
    if (linear_needs_packing(linear)) {
        linear_pack_share(linear, thread);
    }
}

void linear_multiply(struct linear *linear, unsigned thread, const unsigned char *weights)
{
    run_groups(linear, thread, weights, LINEAR_FULL);
}

void linear_multiply_mode(struct linear *linear, unsigned thread, const unsigned char *weights,
                          enum linear_mode mode)
{
    run_groups(linear, thread, weights, mode);
}

void linear_view(struct linear *out, const struct linear *form, unsigned rows, float *x,
                 unsigned char *packed, float *y)
{
    *out = *form;
    out->params.batch = rows;
    out->x = x;
    out->x_packed = packed;
    out->y = y;
    plan_tiles(out);
}
