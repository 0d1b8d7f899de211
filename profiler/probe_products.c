// Matrix products of libraries among the roofs of one team.
#include "profiler/ceiling_dnnl.h"
#include "profiler/ceiling_gemm.h"
#include "profiler/clock.h"
#include "profiler/probe_items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct product {
    const char *dtype; // static
    struct gemm_ceiling *blas;
    struct dnnl_ceiling *dnnl;
};

static void close_inner(struct product *product)
{
    gemm_ceiling_destroy(product->blas);
    dnnl_ceiling_destroy(product->dnnl);
}

static struct status open_inner(struct product *out, struct probe *probe,
                                struct probe_session *session, const char *dtype, size_t n)
{
    *out = (struct product){.dtype = dtype};
    return strcmp(dtype, "f32") == 0 || strcmp(dtype, "f64") == 0
               ? gemm_ceiling_create(&out->blas, probe->host->blas, session->team, dtype, n)
               : dnnl_ceiling_create(&out->dnnl, session->team, dtype, n);
}

double probe_product_sample(struct team_sample *timing, struct product *product)
{
    return product->blas != NULL ? gemm_ceiling_sample(timing, product->blas)
                                 : dnnl_ceiling_sample(timing, product->dnnl);
}

void probe_product_describe(struct result_compute *out, const struct product *product)
{
    if (product->blas != NULL) {
        gemm_ceiling_describe(out, product->blas);
    } else {
        dnnl_ceiling_describe(out, product->dnnl);
    }
}

const char *probe_product_dtype(const struct product *product)
{
    return product->dtype;
}

void probe_product_close(struct product *product)
{
    if (product != NULL) {
        close_inner(product);
        free(product);
    }
}

// n that makes one product last about seconds, from small products of the same library; of a few
// sizes, so that the next probe takes the same.
static struct status product_size(size_t *n, struct probe *probe, struct probe_session *session,
                                  const char *dtype, double seconds, double by)
{
    enum { SMALL = 1024, MOST = 8192, TRIALS = 5 };
    struct product product;
    double shortest = (double)INFINITY;
    TRY(open_inner(&product, probe, session, dtype, SMALL));
    for (unsigned i = 0; i < TRIALS && (i == 0 || clock_seconds() < by); i++) {
        struct team_sample timing;
        (void)probe_product_sample(&timing, &product);
        shortest = fmin(shortest, timing.seconds);
    }
    close_inner(&product);
    double wanted = SMALL * cbrt(seconds / shortest);
    *n = SMALL;
    while (*n < MOST && (double)*n * 1.5 < wanted) {
        *n *= 2;
    }
    return status_ok();
}

static struct status add_product(struct item_list *list, struct probe *probe,
                                 struct probe_session *session, const char *dtype)
{
    size_t n = 0;
    bool quick = probe->options->quick;
    TRY(product_size(&n, probe, session, dtype, quick ? 0.03 : 0.06, list->prepare_by));
    struct product *product = calloc(1, sizeof *product);
    if (product == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a matrix product");
    }
    struct status status = open_inner(product, probe, session, dtype, n);
    struct probe_item *item =
        status.code == STATUS_OK ? probe_add_item(list, ROLE_PRODUCT, NULL) : NULL;
    if (item == NULL) {
        probe_product_close(product);
        return status;
    }
    // A product lasts as long as a dozen other windows.
    item->every = quick ? 2 : 4;
    item->product = product;
    item->samples.heeds_copy = true;
    return status;
}

struct status probe_add_products(struct item_list *list, struct probe *probe,
                                 struct probe_session *session)
{
    static const struct {
        const char *dtype;
        bool blas;
    } products[] = {{"f32", true}, {"f64", true}, {"bf16", false}, {"int8", false}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        TRY(probe_interrupted(probe));
        if ((products[i].blas && probe->host->blas == NULL) ||
            !probe_dtype_asked(probe->options, products[i].dtype)) {
            continue;
        }
        if (clock_seconds() >= list->prepare_by) {
            probe_leave_out(probe, products[i].dtype, "gemm");
            continue;
        }
        probe_progress(probe, "GEMM");
        struct status status = add_product(list, probe, session, products[i].dtype);
        // oneDNN may be missing, or have no kernel for this CPU: then there is no such roof.
        if (status.code != STATUS_UNAVAILABLE || products[i].blas) {
            TRY(status);
        }
    }
    return status_ok();
}
