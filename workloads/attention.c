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

uint64_t attention_first_seen(const struct attention *a, uint64_t position)
{
    const struct attention_params *p = &a->params;
    if (!p->prefill || p->window == 0) {
        return 0;
    }
    if (p->chunked) {
        return position / p->window * p->window;
    }
    return position < p->window ? 0 : position - p->window + 1;
}

unsigned char *attention_page(const struct attention *a, unsigned char *const *cache, uint64_t page)
{
    unsigned thread = 0;
    while (page >= a->first_page[thread + 1]) {
        thread++;
    }
    return cache[thread] + (page - a->first_page[thread]) * a->page_bytes;
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
    bool latent = !p->latent || (!p->prefill && p->v_dim <= p->k_dim);
    if (!heads || !dims || !tokens || !latent || p->batch == 0 || p->batch > BATCH_MAX ||
        p->threads == 0) {
        return status_error(STATUS_INVALID,
                            "attention of %u heads over %u KV heads, dimensions %u and %u, batch "
                            "%u, context %llu: out of the kernels' range",
                            p->heads, p->kv_heads, p->k_dim, p->v_dim, p->batch,
                            (unsigned long long)p->context);
    }
    return status_ok();
}

// Scales of 32 values; latent values are turned as floats.
static struct status check_quant(const struct attention_params *p)
{
    bool blocks = p->format == LINE_Q8_0;
    if (!attention_is_quant(p->format) ||
        (!p->latent && !(blocks && (p->k_dim % 32 != 0 || p->v_dim % 32 != 0)))) {
        return status_ok();
    }
    return status_error(STATUS_INVALID,
                        "a cache of %s with %s of %u and %u values: accepted are heads%s; else "
                        "--kv-dtype f16",
                        line_layout(p->format)->name, p->latent ? "latent rows" : "heads", p->k_dim,
                        p->v_dim, blocks ? " of multiples of 32" : "");
}

static void plan_shape(struct attention *a)
{
    const struct attention_params *p = &a->params;
    a->group = p->heads / p->kv_heads;
    a->tokens = p->context + p->rows;
    a->pages = (a->tokens + ATTENTION_PAGE - 1) / ATTENTION_PAGE;
    a->units = (uint64_t)p->batch * p->kv_heads;
    a->quantised = attention_is_quant(p->format);
    a->k_lines = line_count(p->format, p->k_dim);
    a->v_lines = line_count(p->format, ATTENTION_PAGE);
    a->v_groups = (p->v_dim + LINE_ROWS - 1) / LINE_ROWS;
    a->k_bytes = ATTENTION_PAGE / LINE_ROWS * a->k_lines * LINE_BYTES;
    a->v_bytes = a->v_groups * a->v_lines * LINE_BYTES;
    a->page_bytes = a->k_bytes + (p->latent ? 0 : a->v_bytes);
    if (a->quantised) {
        a->quant = attention_quant_shape(p->format, p->k_dim, p->v_dim);
        a->k_bytes = a->quant.v_values;
        a->page_bytes = a->quant.page_bytes;
    }
    a->row_floats = p->k_dim + (p->latent ? 0 : p->v_dim);
    a->out_floats = a->v_groups * LINE_ROWS;
    a->part_floats = a->group * (2 + a->out_floats);
    uint64_t share = (a->pages * a->units + p->threads - 1) / p->threads;
    a->parts = share / a->pages + 3; // units cut at both ends, and one for scratch
    a->scale = 1 / sqrtf((float)(p->scale_dim > 0 ? p->scale_dim : p->k_dim));
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
    size_t appended = (size_t)p->batch * p->kv_heads * a->row_floats;
    size_t turned = p->latent ? (size_t)p->threads * ATTENTION_TURNED_PAGES * a->v_bytes : 0;
    a->q = alloc_zeroed(rows * p->k_dim, sizeof *a->q);
    a->out = alloc_zeroed(rows * a->out_floats, sizeof *a->out);
    a->append = alloc_zeroed(appended, sizeof *a->append);
    a->partial = alloc_zeroed(p->threads * a->parts * a->part_floats, sizeof *a->partial);
    a->first_page = alloc_zeroed(p->threads + 1, sizeof *a->first_page);
    a->sinks = alloc_zeroed(p->heads, sizeof *a->sinks);
    a->turned = alloc_zeroed(turned + 1, 1);
    if (a->q == NULL || a->out == NULL || a->append == NULL || a->partial == NULL ||
        a->first_page == NULL || a->sinks == NULL || a->turned == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the queries of attention");
    }
    for (unsigned t = 0; t <= p->threads; t++) {
        a->first_page[t] = a->pages * a->units * t / p->threads;
    }
    fill_random(a->q, rows * p->k_dim, 11);
    fill_random(a->append, appended, 12);
    fill_random(a->sinks, p->sinks ? p->heads : 0, 13);
    return status_ok();
}

struct status attention_create(struct attention **out, const struct attention_params *params)
{
    *out = NULL;
    TRY(check_params(params));
    TRY(check_quant(params));
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
    free(attention->sinks);
    free(attention->turned);
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
        uint64_t position = a->params.context + row;
        uint64_t first = attention_first_seen(a, position);
        uint64_t pages = position / ATTENTION_PAGE - first / ATTENTION_PAGE + 1;
        pairs += (double)pages;
    }
    return per_page * pairs * a->params.batch * a->params.heads;
}
