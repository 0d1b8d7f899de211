#include "workloads/dnnl_product.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dnnl_product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_memory_t a;
    dnnl_memory_t b; // packed, the library's own
    dnnl_memory_t c;
    const char *kernel;
};

static struct status check(dnnl_status_t answer, const char *call)
{
    if (answer != dnnl_success) {
        return status_error(STATUS_UNAVAILABLE, "oneDNN: %s answers %d%s", call, (int)answer,
                            answer == dnnl_unimplemented ? " (not implemented for this CPU)" : "");
    }
    return status_ok();
}

#define ASK(call) TRY(check((call), #call))

static struct status pack(struct dnnl_product *product, const dnnl_memory_desc_t *plain,
                          const dnnl_memory_desc_t *packed, void *b)
{
    dnnl_memory_t from = NULL;
    dnnl_primitive_desc_t description = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_engine_t engine = product->engine;
    dnnl_status_t answer = dnnl_memory_create(&from, plain, engine, b);
    if (answer == dnnl_success) {
        answer =
            dnnl_reorder_primitive_desc_create(&description, plain, engine, packed, engine, NULL);
    }
    if (answer == dnnl_success) {
        answer = dnnl_primitive_create(&reorder, description);
    }
    if (answer == dnnl_success) {
        const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, product->b}};
        answer = dnnl_primitive_execute(reorder, product->stream, 2, arguments);
    }
    if (answer == dnnl_success) {
        answer = dnnl_stream_wait(product->stream);
    }
    (void)dnnl_primitive_destroy(reorder);
    (void)dnnl_primitive_desc_destroy(description);
    (void)dnnl_memory_destroy(from);
    return check(answer, "packing the weights");
}

static struct status prepare(struct dnnl_product *product, enum dnnl_product_type type, size_t n,
                             void *a, void *b, void *c)
{
    bool bf16 = type == DNNL_PRODUCT_BF16;
    const dnnl_dims_t shape = {(dnnl_dim_t)n, (dnnl_dim_t)n};
    dnnl_memory_desc_t source;
    dnnl_memory_desc_t plain;
    dnnl_memory_desc_t any;
    dnnl_memory_desc_t sum;
    dnnl_matmul_desc_t matmul;
    ASK(dnnl_engine_create(&product->engine, dnnl_cpu, 0));
    ASK(dnnl_stream_create(&product->stream, product->engine, dnnl_stream_default_flags));
    ASK(dnnl_memory_desc_init_by_tag(&source, 2, shape, bf16 ? dnnl_bf16 : dnnl_u8, dnnl_ab));
    ASK(dnnl_memory_desc_init_by_tag(&plain, 2, shape, bf16 ? dnnl_bf16 : dnnl_s8, dnnl_ab));
    ASK(dnnl_memory_desc_init_by_tag(&any, 2, shape, bf16 ? dnnl_bf16 : dnnl_s8,
                                     dnnl_format_tag_any));
    ASK(dnnl_memory_desc_init_by_tag(&sum, 2, shape, bf16 ? dnnl_f32 : dnnl_s32, dnnl_ab));
    ASK(dnnl_matmul_desc_init(&matmul, &source, &any, NULL, &sum));
    ASK(dnnl_primitive_desc_create(&product->description, &matmul, NULL, product->engine, NULL));
    const dnnl_memory_desc_t *packed =
        dnnl_primitive_desc_query_md(product->description, dnnl_query_weights_md, 0);
    ASK(dnnl_memory_create(&product->a, &source, product->engine, a));
    ASK(dnnl_memory_create(&product->b, packed, product->engine, DNNL_MEMORY_ALLOCATE));
    ASK(dnnl_memory_create(&product->c, &sum, product->engine, c));
    TRY(pack(product, &plain, packed, b));
    ASK(dnnl_primitive_create(&product->primitive, product->description));
    product->kernel = "";
    (void)dnnl_primitive_desc_query(product->description, dnnl_query_impl_info_str, 0,
                                    (void *)&product->kernel);
    return status_ok();
}

struct status dnnl_product_create(struct dnnl_product **out, enum dnnl_product_type type, size_t n,
                                  void *a, void *b, void *c)
{
    *out = NULL;
    struct dnnl_product *product = calloc(1, sizeof *product);
    if (product == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a product");
    }
    struct status status = prepare(product, type, n, a, b, c);
    if (status.code != STATUS_OK) {
        dnnl_product_destroy(product);
        return status;
    }
    *out = product;
    return status;
}

void dnnl_product_destroy(struct dnnl_product *product)
{
    if (product == NULL) {
        return;
    }
    (void)dnnl_primitive_destroy(product->primitive);
    (void)dnnl_primitive_desc_destroy(product->description);
    (void)dnnl_memory_destroy(product->a);
    (void)dnnl_memory_destroy(product->b);
    (void)dnnl_memory_destroy(product->c);
    (void)dnnl_stream_destroy(product->stream);
    (void)dnnl_engine_destroy(product->engine);
    free(product);
}

bool dnnl_product_run(struct dnnl_product *product)
{
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, product->a}, {DNNL_ARG_WEIGHTS, product->b}, {DNNL_ARG_DST, product->c}};
    return dnnl_primitive_execute(product->primitive, product->stream, 3, arguments) ==
               dnnl_success &&
           dnnl_stream_wait(product->stream) == dnnl_success;
}

const char *dnnl_product_kernel(const struct dnnl_product *product)
{
    return product->kernel;
}

const char *dnnl_product_version(char *out, size_t size)
{
    const dnnl_version_t *version = dnnl_version();
    (void)snprintf(out, size, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return out;
}
