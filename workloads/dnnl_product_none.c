// For builds without oneDNN.
#include "workloads/dnnl_product.h"

struct status dnnl_product_create(struct dnnl_product **out, enum dnnl_product_type type, size_t n,
                                  void *a, void *b, void *c)
{
    (void)type;
    (void)n;
    (void)a;
    (void)b;
    (void)c;
    *out = NULL;
    return status_error(STATUS_UNAVAILABLE, "this build has no oneDNN of version 2");
}

void dnnl_product_destroy(struct dnnl_product *product)
{
    (void)product;
}

bool dnnl_product_run(struct dnnl_product *product)
{
    (void)product;
    return false;
}

const char *dnnl_product_kernel(const struct dnnl_product *product)
{
    (void)product;
    return "";
}

const char *dnnl_product_version(char *out, size_t size)
{
    if (size > 0) {
        out[0] = '\0';
    }
    return out;
}
