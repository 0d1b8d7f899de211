#include "profiler/ceiling_dnnl.h"

#include "workloads/arena.h"
#include "workloads/dnnl_product.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dnnl_ceiling {
    struct team *team;
    struct dnnl_product *product;
    struct arena memory;
    void *a;
    void *b;
    void *c; // f32 or s32
    bool bf16;
    bool failed;
    size_t n;
};

static void multiply(void *context)
{
    struct dnnl_ceiling *ceiling = context;
    ceiling->failed = !dnnl_product_run(ceiling->product) || ceiling->failed;
}

// Whole numbers -8 .. 7 are exact in bf16, and their sums of up to 65536 products in f32.
static uint16_t small_bf16(int value)
{
    float number = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

// Of no pattern (xorshift64), each thread its part. u8 0 .. 127 by s8 -64 .. 63: two products fit
// 16 bits, where a CPU without VNNI would saturate.
static void fill(void *context, unsigned thread, unsigned threads)
{
    struct dnnl_ceiling *ceiling = context;
    size_t elements = ceiling->n * ceiling->n;
    size_t last = thread + 1 == threads ? elements : elements / threads * (thread + 1);
    uint64_t random = 0x9e3779b97f4a7c15u * (thread + 1);
    for (size_t i = elements / threads * thread; i < last; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if (ceiling->bf16) {
            ((uint16_t *)ceiling->a)[i] = small_bf16((int)(random >> 60) - 8);
            ((uint16_t *)ceiling->b)[i] = small_bf16((int)(random >> 50 & 15) - 8);
        } else {
            ((uint8_t *)ceiling->a)[i] = (uint8_t)(random >> 57);
            ((int8_t *)ceiling->b)[i] = (int8_t)((int)(random >> 40 & 127) - 64);
        }
    }
}

static int64_t whole(const struct dnnl_ceiling *ceiling, const void *matrix, size_t i)
{
    if (!ceiling->bf16) {
        return matrix == ceiling->a ? ((const uint8_t *)matrix)[i] : ((const int8_t *)matrix)[i];
    }
    uint32_t bits = (uint32_t)((const uint16_t *)matrix)[i] << 16;
    float number = 0;
    memcpy(&number, &bits, sizeof number);
    return (int64_t)number;
}

static struct status check_element(const struct dnnl_ceiling *ceiling, size_t row, size_t column)
{
    size_t n = ceiling->n;
    int64_t want = 0;
    for (size_t k = 0; k < n; k++) {
        want +=
            whole(ceiling, ceiling->a, row * n + k) * whole(ceiling, ceiling->b, k * n + column);
    }
    size_t at = row * n + column;
    int64_t got = ceiling->bf16 ? (int64_t)((const float *)ceiling->c)[at]
                                : ((const int32_t *)ceiling->c)[at];
    if (got != want) {
        return status_error(STATUS_MISMATCH,
                            "oneDNN %s: element (%zu, %zu) of a %zu x %zu product is %" PRId64
                            ", want %" PRId64,
                            ceiling->bf16 ? "bf16" : "int8", row, column, n, n, got, want);
    }
    return status_ok();
}

static struct status check_product(const struct dnnl_ceiling *ceiling)
{
    enum { CHECKED_ROWS = 7 };
    if (ceiling->failed) {
        return status_error(STATUS_UNAVAILABLE, "oneDNN refuses to run its own product");
    }
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        size_t row = i * (ceiling->n - 1) / (CHECKED_ROWS - 1);
        for (size_t j = 0; j < CHECKED_ROWS; j++) {
            TRY(check_element(ceiling, row,
                              (j * (ceiling->n - 1) / (CHECKED_ROWS - 1) + i) % ceiling->n));
        }
    }
    return status_ok();
}

static struct status prepare(struct dnnl_ceiling *ceiling)
{
    size_t elements = ceiling->n * ceiling->n;
    size_t operand = elements * (ceiling->bf16 ? sizeof(uint16_t) : 1);
    TRY(arena_map(&ceiling->memory, 2 * operand + elements * sizeof(float), true));
    ceiling->c = ceiling->memory.base;
    ceiling->a = ceiling->memory.base + elements * sizeof(float);
    ceiling->b = (unsigned char *)ceiling->a + operand;
    team_run(ceiling->team, (struct team_body){fill, ceiling});
    TRY(dnnl_product_create(&ceiling->product,
                            ceiling->bf16 ? DNNL_PRODUCT_BF16 : DNNL_PRODUCT_INT8, ceiling->n,
                            ceiling->a, ceiling->b, ceiling->c));
    struct team_sample warm;
    team_time_call(&warm, ceiling->team, multiply, ceiling);
    return check_product(ceiling);
}

struct status dnnl_ceiling_create(struct dnnl_ceiling **out, struct team *team, const char *dtype,
                                  size_t n)
{
    *out = NULL;
    bool bf16 = strcmp(dtype, "bf16") == 0;
    if ((!bf16 && strcmp(dtype, "int8") != 0) || n < 2 || n > 65536) {
        return status_error(STATUS_INVALID, "no product of %s with n = %zu; bf16 or int8, 2..65536",
                            dtype, n);
    }
    struct dnnl_ceiling *ceiling = calloc(1, sizeof *ceiling);
    if (ceiling == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a product");
    }
    *ceiling = (struct dnnl_ceiling){.team = team, .bf16 = bf16, .n = n};
    struct status status = prepare(ceiling);
    if (status.code != STATUS_OK) {
        dnnl_ceiling_destroy(ceiling);
        return status;
    }
    *out = ceiling;
    return status;
}

void dnnl_ceiling_destroy(struct dnnl_ceiling *ceiling)
{
    if (ceiling != NULL) {
        dnnl_product_destroy(ceiling->product);
        arena_unmap(&ceiling->memory);
        free(ceiling);
    }
}

double dnnl_ceiling_sample(struct team_sample *timing, struct dnnl_ceiling *ceiling)
{
    double n = (double)ceiling->n;
    team_time_call(timing, ceiling->team, multiply, ceiling);
    return 2 * n * n * n / timing->seconds;
}

void dnnl_ceiling_describe(struct result_compute *out, const struct dnnl_ceiling *ceiling)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->dtype, sizeof out->dtype, "%s", ceiling->bf16 ? "bf16" : "int8");
    (void)snprintf(out->kind, sizeof out->kind, "gemm");
    (void)snprintf(out->class_, sizeof out->class_, "%s/matmul/%s",
                   dnnl_product_kernel(ceiling->product), ceiling->bf16 ? "f32" : "i32");
    (void)dnnl_product_version(out->backend, sizeof out->backend);
    (void)snprintf(out->shape, sizeof out->shape, "%zu x %zu x %zu", ceiling->n, ceiling->n,
                   ceiling->n);
    out->threads = team_threads(ceiling->team);
    out->integer_operations = !ceiling->bf16;
    out->verified = true;
    out->core_hz = reading_absent(ABSENT_UNSUPPORTED, "a library's loop has no clock chain", NULL);
    out->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no sourced table for this microarchitecture", NULL);
}
