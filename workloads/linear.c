#include "workloads/linear.h"

#include "workloads/linear_kernel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct linear {
    struct linear_params params;
    const struct linear_kernel *kernel;
    unsigned k_per_line;
    size_t lines;  // of one group: ceil(K / k_per_line)
    size_t groups; // ceil(N / 16)
    unsigned tall;
    unsigned tile_count;
    size_t ldx;              // f32 elements from one row of x to the next
    size_t ldy;              // f32 elements from one row of y to the next
    float *x;                // [batch][ldx], zero beyond K
    unsigned char *x_packed; // by tile: [line][k of the line][columns]
    float *y;                // [batch][ldy]
    unsigned char sink[LINE_BYTES];
};

static const struct linear_kernel *const kernel_lists[] = {
#if defined(__x86_64__)
    linear_kernels_avx512bf16, linear_kernels_avx512, linear_kernels_avx2,
#elif defined(__aarch64__)
    linear_kernels_neon,
#endif
    linear_kernels_portable};

static const struct linear_kernel *find_kernel(enum line_format format, enum linear_class class_,
                                               struct isa_set isa)
{
    for (size_t i = 0; i < sizeof kernel_lists / sizeof *kernel_lists; i++) {
        for (const struct linear_kernel *k = kernel_lists[i]; k->isa_name != NULL; k++) {
            if (k->format == format && k->class_ == class_ && isa_has(isa, k->needs)) {
                return k;
            }
        }
    }
    return NULL;
}

bool linear_supported(enum line_format format, enum linear_class class_, struct isa_set isa)
{
    return find_kernel(format, class_, isa) != NULL;
}

static unsigned tile_columns(const struct linear *l, unsigned tile)
{
    return l->params.batch * (tile + 1) / l->tile_count - l->params.batch * tile / l->tile_count;
}

static unsigned tile_first(const struct linear *l, unsigned tile)
{
    return l->params.batch * tile / l->tile_count;
}

// 32-bit words of packed x that one line takes per column.
static size_t words_per_column(const struct linear *l)
{
    return l->params.class_ == LINEAR_DOT ? 1 : l->k_per_line;
}

static const unsigned char *tile_x(const struct linear *l, unsigned tile, size_t line)
{
    size_t words = words_per_column(l);
    size_t before = l->lines * words * tile_first(l, tile);
    return l->x_packed + 4 * (before + line * words * tile_columns(l, tile));
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

static void plan_shape(struct linear *l)
{
    const struct linear_params *p = &l->params;
    l->k_per_line = line_ks(p->format);
    l->lines = line_count(p->format, p->k);
    l->groups = (p->n + LINE_ROWS - 1) / LINE_ROWS;
    l->tile_count = (p->batch + l->kernel->tile - 1) / l->kernel->tile;
    l->tall = tile_columns(l, 0) >= LINEAR_TALL_FROM ? l->kernel->tall : 1;
    l->ldx = l->lines * l->k_per_line;
    l->ldy = l->groups * LINE_ROWS;
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
    const struct linear_kernel *kernel = find_kernel(params->format, params->class_, params->isa);
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
    free(linear->x);
    free(linear->x_packed);
    free(linear->y);
    free(linear);
}

static size_t first_group(const struct linear *l, unsigned thread)
{
    return l->groups * thread / l->params.threads;
}

size_t linear_thread_bytes(const struct linear *linear, unsigned thread)
{
    size_t groups = first_group(linear, thread + 1) - first_group(linear, thread);
    if (thread == 0) { // the largest share, so that equal strides serve all threads
        groups = (linear->groups + linear->params.threads - 1) / linear->params.threads;
    }
    return groups * linear->lines * LINE_BYTES;
}

uint64_t linear_stored_bytes(const struct linear *linear)
{
    return (uint64_t)linear->groups * linear->lines * LINE_BYTES;
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

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void pack_line(const struct linear *l, unsigned tile, size_t line)
{
    unsigned columns = tile_columns(l, tile);
    const float *x = l->x + tile_first(l, tile) * l->ldx + line * l->k_per_line;
    uint32_t *out = (uint32_t *)(void *)(l->x_packed + (tile_x(l, tile, line) - l->x_packed));
    for (unsigned b = 0; b < columns; b++) {
        const float *at = x + b * l->ldx;
        if (l->params.class_ == LINEAR_DOT) {
            out[b] = line_bf16_bits(at[0]) | line_bf16_bits(at[1]) << 16;
        } else {
            for (unsigned i = 0; i < l->k_per_line; i++) {
                out[i * columns + b] = bits_of_float(at[i]);
            }
        }
    }
}

// With one column of f32 the packed form is x itself.
static bool needs_packing(const struct linear *l)
{
    return l->params.batch > 1 || l->params.class_ == LINEAR_DOT;
}

static void pack_share(const struct linear *l, unsigned thread)
{
    size_t begin = l->lines * thread / l->params.threads;
    size_t end = l->lines * (thread + 1) / l->params.threads;
    for (unsigned tile = 0; tile < l->tile_count; tile++) {
        for (size_t line = begin; line < end; line++) {
            pack_line(l, tile, line);
        }
    }
}

// The blocks of `tall` groups that start at weights; step is 0 in the compute-only twin.
static void multiply_groups(const struct linear *l, float *acc, const unsigned char *weights,
                            bool alias, unsigned tall)
{
    size_t group_step = alias ? 0 : l->lines * LINE_BYTES;
    for (size_t line = 0; line < l->lines; line += LINEAR_BLOCK_LINES) {
        size_t left = l->lines - line;
        size_t count = left < LINEAR_BLOCK_LINES ? left : LINEAR_BLOCK_LINES;
        const unsigned char *block = weights + (alias ? 0 : line * LINE_BYTES);
        float *out = acc;
        for (unsigned tile = 0; tile < l->tile_count; tile++) {
            unsigned columns = tile_columns(l, tile);
            const unsigned char *x = needs_packing(l)
                                         ? tile_x(l, tile, line)
                                         : (const unsigned char *)(l->x + line * l->k_per_line);
            bool prefetching = tile == 0 && l->params.prefetch_bytes > 0;
            l->kernel->tiles[prefetching][tall - 1][columns - 1](out, block, group_step, count, x,
                                                                 l->params.prefetch_bytes);
            out += (size_t)columns * tall * LINE_ROWS;
        }
    }
}

static void store_groups(const struct linear *l, const float *acc, size_t group, unsigned tall)
{
    for (unsigned tile = 0; tile < l->tile_count; tile++) {
        unsigned columns = tile_columns(l, tile);
        for (unsigned j = 0; j < tall; j++) {
            for (unsigned b = 0; b < columns; b++) {
                memcpy(l->y + (tile_first(l, tile) + b) * l->ldy + (group + j) * LINE_ROWS, acc,
                       LINE_ROWS * sizeof *acc);
                acc += LINE_ROWS;
            }
        }
    }
}

static void touch_groups(const struct linear *l, unsigned char *sink, const unsigned char *weights,
                         unsigned tall)
{
    for (size_t line = 0; line < l->lines; line += LINEAR_BLOCK_LINES) {
        size_t left = l->lines - line;
        size_t count = left < LINEAR_BLOCK_LINES ? left : LINEAR_BLOCK_LINES;
        l->kernel->touch[tall - 1](sink, weights + line * LINE_BYTES, l->lines * LINE_BYTES, count,
                                   l->params.prefetch_bytes);
    }
}

static void run_groups(struct linear *l, unsigned thread, const unsigned char *weights,
                       enum linear_mode mode)
{
    float acc[LINEAR_TALL_MAX * LINEAR_BATCH_MAX * LINE_ROWS] __attribute__((aligned(64)));
    unsigned char sink[LINE_BYTES] __attribute__((aligned(64))) = {0};
    size_t begin = first_group(l, thread);
    size_t end = first_group(l, thread + 1);
    for (size_t group = begin; group < end;) {
        unsigned tall = end - group >= l->tall ? l->tall : 1;
        size_t offset = (group - begin) * l->lines * LINE_BYTES;
        bool alias = mode == LINEAR_COMPUTE_ONLY;
        if (mode == LINEAR_MEMORY_ONLY) {
            touch_groups(l, sink, weights + offset, tall);
        } else {
            memset(acc, 0, (size_t)tall * l->params.batch * LINE_ROWS * sizeof *acc);
            multiply_groups(l, acc, alias ? weights : weights + offset, alias, tall);
            store_groups(l, acc, group, tall);
        }
        group += tall;
    }
    if (mode == LINEAR_MEMORY_ONLY && sink[0] == 0xff && sink[1] == 0x01 && sink[2] == 0x02) {
        l->sink[0] = sink[3]; // never in practice: makes the reads observable
    }
}

void linear_run(struct linear *linear, unsigned thread, const unsigned char *weights,
                enum linear_mode mode)
{
    if (needs_packing(linear) && mode != LINEAR_MEMORY_ONLY) {
        pack_share(linear, thread);
#pragma omp barrier
    }
    run_groups(linear, thread, weights, mode);
}

double linear_weight(const struct linear *linear, const unsigned char *const *weights, uint64_t row,
                     uint64_t k)
{
    size_t group = row / LINE_ROWS;
    unsigned thread = 0;
    while (group >= first_group(linear, thread + 1)) {
        thread++;
    }
    const unsigned char *base =
        weights[thread] + (group - first_group(linear, thread)) * linear->lines * LINE_BYTES;
    return (double)line_get(linear->params.format, base, row % LINE_ROWS, k);
}

static double row_error(const struct linear *l, const unsigned char *const *weights, uint64_t row)
{
    double worst = 0;
    for (unsigned b = 0; b < l->params.batch; b++) {
        double sum = 0;
        double size = 0;
        for (uint64_t k = 0; k < l->params.k; k++) {
            float x = l->x[b * l->ldx + k];
            if (l->params.class_ == LINEAR_DOT) {
                x = line_round(LINE_BF16, x);
            }
            double product = linear_weight(l, weights, row, k) * (double)x;
            sum += product;
            size += fabs(product);
        }
        double error = fabs((double)l->y[b * l->ldy + row] - sum) / (size > 0 ? size : 1);
        worst = error > worst || isnan(error) ? error : worst;
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

double linear_check(const struct linear *linear, const unsigned char *const *weights, uint64_t rows)
{
    uint64_t n = linear->params.n;
    uint64_t count = rows < n ? rows : n;
    double worst = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t row = count == 1 ? 0 : i * (n - 1) / (count - 1);
        worst = fmax(worst, row_error(linear, weights, row));
    }
    for (unsigned thread = 0; thread < linear->params.threads; thread++) {
        uint64_t begin = first_group(linear, thread) * LINE_ROWS;
        uint64_t end = first_group(linear, thread + 1) * LINE_ROWS;
        if (begin < end && begin < n) {
            worst = fmax(worst, row_error(linear, weights, begin));
            worst = fmax(worst, row_error(linear, weights, (end < n ? end : n) - 1));
        }
    }
    return worst;
}

double linear_tolerance(const struct linear *linear)
{
    double blocks = ceil((double)linear->lines / LINEAR_BLOCK_LINES);
    double additions = (double)LINEAR_BLOCK_LINES * linear->k_per_line + blocks + 4;
    double per_addition = linear->params.class_ == LINEAR_DOT ? 0x1p-23 : 0x1p-24;
    return additions * per_addition;
}
