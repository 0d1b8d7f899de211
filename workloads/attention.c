#include "workloads/attention.h"

#include "workloads/attention_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct attention_kernel *const kernel_lists[] = {
#if defined(__x86_64__)
    attention_kernels_avx512, attention_kernels_avx2,
#elif defined(__aarch64__)
    attention_kernels_neon,
#endif
    attention_kernels_portable, NULL};

static const struct attention_kernel *find_kernel(enum line_format format, struct isa_set isa)
{
    for (size_t i = 0; kernel_lists[i] != NULL; i++) {
        for (const struct attention_kernel *k = kernel_lists[i]; k->isa_name != NULL; k++) {
            if (k->format == format && isa_has(isa, k->needs)) {
                return k;
            }
        }
    }
    return NULL;
}

bool attention_supported(enum line_format format, struct isa_set isa)
{
    return find_kernel(format, isa) != NULL;
}

bool attention_kernel_name(enum line_format *format, const char **class_name, size_t index)
{
    for (size_t i = 0; kernel_lists[i] != NULL; i++) {
        for (const struct attention_kernel *k = kernel_lists[i]; k->isa_name != NULL;
             k++, index--) {
            if (index == 0) {
                *format = k->format;
                *class_name = k->class_name;
                return true;
            }
        }
    }
    return false;
}

uint64_t attention_first_page(const struct attention *a, unsigned thread)
{
    return a->first_page[thread];
}

static struct status check_params(const struct attention_params *p)
{
    enum { TOKENS_MAX = 1 << 26, BATCH_MAX = 4096, HEADS_MAX = 1024 };
    bool heads =
        p->heads > 0 && p->heads <= HEADS_MAX && p->kv_heads > 0 && p->heads % p->kv_heads == 0;
    bool dims = p->k_dim > 0 && p->k_dim <= ATTENTION_DIM_MAX && p->v_dim > 0 &&
                p->v_dim <= ATTENTION_DIM_MAX;
    bool tokens = p->context <= TOKENS_MAX && p->rows > 0 && p->rows <= TOKENS_MAX &&
                  (p->prefill || p->rows == 1);
    if (!heads || !dims || !tokens || p->batch == 0 || p->batch > BATCH_MAX || p->threads == 0) {
        return status_error(STATUS_INVALID,
                            "attention of %u heads over %u KV heads, dimensions %u and %u, batch "
                            "%u, context %llu: out of the kernels' range",
                            p->heads, p->kv_heads, p->k_dim, p->v_dim, p->batch,
                            (unsigned long long)p->context);
    }
    return status_ok();
}

static void plan_shape(struct attention *a)
{
    const struct attention_params *p = &a->params;
    a->group = p->heads / p->kv_heads;
    a->tokens = p->context + p->rows;
    a->pages = (a->tokens + ATTENTION_PAGE - 1) / ATTENTION_PAGE;
    a->units = (uint64_t)p->batch * p->kv_heads;
    a->k_lines = line_count(p->format, p->k_dim);
    a->v_lines = line_count(p->format, ATTENTION_PAGE);
    a->v_groups = (p->v_dim + LINE_ROWS - 1) / LINE_ROWS;
    a->k_bytes = ATTENTION_PAGE / LINE_ROWS * a->k_lines * LINE_BYTES;
    a->page_bytes = a->k_bytes + a->v_groups * a->v_lines * LINE_BYTES;
    a->out_floats = a->v_groups * LINE_ROWS;
    a->part_floats = a->group * (2 + a->out_floats);
    uint64_t share = (a->pages * a->units + p->threads - 1) / p->threads;
    a->parts = share / a->pages + 3; // units cut at both ends, and one for scratch
    a->scale = 1 / sqrtf((float)p->k_dim);
}

static void *alloc_zeroed(size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - LINE_BYTES) {
        return NULL;
    }
    bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *p = aligned_alloc(LINE_BYTES, bytes);
    if (p != NULL) {
        memset(p, 0, bytes);
    }
    return p;
}

static void fill_random(float *out, size_t count, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        out[i] = line_random(&state);
    }
}

static struct status allocate(struct attention *a)
{
    const struct attention_params *p = &a->params;
    size_t rows = (size_t)p->batch * p->rows * p->heads;
    size_t appended = (size_t)p->batch * p->kv_heads * (p->k_dim + p->v_dim);
    a->q = alloc_zeroed(rows * p->k_dim, sizeof *a->q);
    a->out = alloc_zeroed(rows * a->out_floats, sizeof *a->out);
    a->append = alloc_zeroed(appended, sizeof *a->append);
    a->partial = alloc_zeroed(p->threads * a->parts * a->part_floats, sizeof *a->partial);
    a->first_page = alloc_zeroed(p->threads + 1, sizeof *a->first_page);
    if (a->q == NULL || a->out == NULL || a->append == NULL || a->partial == NULL ||
        a->first_page == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the queries of attention");
    }
    for (unsigned t = 0; t <= p->threads; t++) {
        a->first_page[t] = a->pages * a->units * t / p->threads;
    }
    fill_random(a->q, rows * p->k_dim, 11);
    fill_random(a->append, appended, 12);
    return status_ok();
}

struct status attention_create(struct attention **out, const struct attention_params *params)
{
    *out = NULL;
    TRY(check_params(params));
    const struct attention_kernel *kernel = find_kernel(params->format, params->isa);
    if (kernel == NULL) {
        return status_error(STATUS_UNAVAILABLE, "no attention kernel for this CPU");
    }
    struct attention *a = alloc_zeroed(1, sizeof *a);
    if (a == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for attention");
    }
    a->params = *params;
    a->kernel = kernel;
    plan_shape(a);
    struct status status = allocate(a);
    if (status.code != STATUS_OK) {
        attention_destroy(a);
        return status;
    }
    *out = a;
    return status;
}

void attention_destroy(struct attention *attention)
{
    if (attention == NULL) {
        return;
    }
    free(attention->q);
    free(attention->out);
    free(attention->append);
    free(attention->partial);
    free(attention->first_page);
    free(attention);
}

size_t attention_thread_bytes(const struct attention *attention, unsigned thread)
{
    const struct attention *a = attention;
    uint64_t pages = a->first_page[thread + 1] - a->first_page[thread];
    if (thread == 0) {
        pages = (a->pages * a->units + a->params.threads - 1) / a->params.threads;
    }
    return pages * a->page_bytes;
}

uint64_t attention_stored_bytes(const struct attention *attention)
{
    return attention->pages * attention->units * attention->page_bytes;
}

const char *attention_class_name(const struct attention *attention)
{
    return attention->kernel->class_name;
}

const char *attention_isa_name(const struct attention *attention)
{
    return attention->kernel->isa_name;
}

void attention_set_prefetch(struct attention *attention, size_t prefetch_bytes)
{
    attention->params.prefetch_bytes = prefetch_bytes;
}

double attention_flop_executed(const struct attention *attention)
{
    const struct attention *a = attention;
    double per_page = 2.0 * ATTENTION_PAGE * (a->params.k_dim + (double)a->out_floats);
    double pairs = 0; // (row, page)
    for (uint64_t row = 0; row < a->params.rows; row++) {
        uint64_t pages = (a->params.context + row) / ATTENTION_PAGE + 1;
        pairs += (double)pages;
    }
    return per_page * pairs * a->params.batch * a->params.heads;
}

// The page of a unit that holds a token, wherever its owner keeps it.
static const unsigned char *find_page(const struct attention *a, unsigned char *const *cache,
                                      uint64_t unit, uint64_t token)
{
    uint64_t page = unit * a->pages + token / ATTENTION_PAGE;
    unsigned thread = 0;
    while (page >= a->first_page[thread + 1]) {
        thread++;
    }
    return cache[thread] + (page - a->first_page[thread]) * a->page_bytes;
}

static double k_at(const struct attention *a, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, unsigned d)
{
    const unsigned char *page = find_page(a, cache, unit, token);
    unsigned in_page = token % ATTENTION_PAGE;
    return line_get(a->params.format, page + in_page / LINE_ROWS * a->k_lines * LINE_BYTES,
                    in_page % LINE_ROWS, d);
}

static double v_at(const struct attention *a, unsigned char *const *cache, uint64_t unit,
                   uint64_t token, unsigned d)
{
    const unsigned char *page = find_page(a, cache, unit, token);
    return line_get(a->params.format, page + a->k_bytes + d / LINE_ROWS * a->v_lines * LINE_BYTES,
                    d % LINE_ROWS, token % ATTENTION_PAGE);
}

// weights[token] = softmax of the exact scores of one query.
static void exact_weights(const struct attention *a, unsigned char *const *cache, uint64_t unit,
                          const float *q, uint64_t visible, double *weights)
{
    double largest = -(double)INFINITY;
    for (uint64_t token = 0; token < visible; token++) {
        double score = 0;
        for (unsigned d = 0; d < a->params.k_dim; d++) {
            score += (double)q[d] * k_at(a, cache, unit, token, d);
        }
        weights[token] = score / sqrt((double)a->params.k_dim);
        largest = fmax(largest, weights[token]);
    }
    double sum = 0;
    for (uint64_t token = 0; token < visible; token++) {
        weights[token] = exp(weights[token] - largest);
        sum += weights[token];
    }
    for (uint64_t token = 0; token < visible; token++) {
        weights[token] /= sum;
    }
}

static double output_error(const struct attention *a, unsigned char *const *cache, uint64_t index,
                           double *weights)
{
    const struct attention_params *p = &a->params;
    unsigned head = (unsigned)(index % p->heads);
    uint64_t row = index / p->heads % p->rows;
    uint64_t sequence = index / p->heads / p->rows;
    uint64_t unit = sequence * p->kv_heads + head / a->group;
    uint64_t visible = p->context + row + 1;
    exact_weights(a, cache, unit, a->q + index * p->k_dim, visible, weights);
    double worst = 0;
    for (unsigned d = 0; d < p->v_dim; d++) {
        double sum = 0;
        double size = 0;
        for (uint64_t token = 0; token < visible; token++) {
            double product = weights[token] * v_at(a, cache, unit, token, d);
            sum += product;
            size += fabs(product);
        }
        double error = fabs((double)a->out[index * a->out_floats + d] - sum) / size;
        worst = error > worst || isnan(error) ? error : worst;
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

double attention_check(const struct attention *attention, unsigned char *const *cache,
                       uint64_t count)
{
    const struct attention_params *p = &attention->params;
    uint64_t all = (uint64_t)p->batch * p->rows * p->heads;
    uint64_t checked = count < all ? count : all;
    double *weights = malloc(attention->tokens * sizeof *weights);
    if (weights == NULL) {
        return HUGE_VAL;
    }
    double worst = 0;
    for (uint64_t i = 0; i < checked; i++) {
        uint64_t index = checked == 1 ? all - 1 : i * (all - 1) / (checked - 1);
        worst = fmax(worst, output_error(attention, cache, index, weights));
    }
    free(weights);
    return worst;
}

double attention_tolerance(const struct attention *attention)
{
    // |q||k| <= 2 sqrt(k_dim) per score after scaling, with lambda sqrt(k_dim) u each.
    double scores = 4 * 2 * (double)attention->params.k_dim;
    double sums = 4 * sqrt(ATTENTION_PAGE + (double)attention->pages);
    return (scores + sums) * 0x1p-24;
}
