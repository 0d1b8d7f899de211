#include "roofline/parallel.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool divides(const struct model_block *block, unsigned ranks)
{
    return block->attention.heads % ranks == 0 && block->attention.kv_heads % ranks == 0 &&
           block->mlp.width % ranks == 0;
}

static bool all_divide(const struct model *model, unsigned ranks)
{
    for (uint32_t b = 0; b < model->block_count; b++) {
        if (!divides(&model->blocks[b], ranks)) {
            return false;
        }
    }
    return true;
}

static struct status does_not_divide(const struct model *model, const struct model_block *block,
                                     unsigned ranks)
{
    enum { ACCEPTED_MAX = 256 };
    char accepted[160] = "";
    size_t used = 0;
    for (unsigned n = 1; n <= ACCEPTED_MAX && used + 8 < sizeof accepted; n++) {
        if (all_divide(model, n)) {
            used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%u",
                                     used == 0 ? "" : ", ", n);
        }
    }
    return status_error(STATUS_INVALID,
                        "%s: %" PRIu64 " heads, %" PRIu64 " key-value heads and an MLP of %" PRIu64
                        " do not divide over %u ranks; accepted: %s ranks",
                        model->name, block->attention.heads, block->attention.kv_heads,
                        block->mlp.width, ranks, accepted);
}

static bool is_split_by_inputs(enum model_role role)
{
    return role == MODEL_ATTN_OUT || role == MODEL_DOWN;
}

static struct status split_matrix(struct model_matrix *matrix, const struct model *model,
                                  unsigned ranks)
{
    bool whole = dtype_fits(matrix->dtype, matrix->k);
    if (is_split_by_inputs(matrix->role)) {
        matrix->k /= ranks;
    } else {
        matrix->n /= ranks;
        matrix->bias /= ranks;
        matrix->bias_bytes /= ranks;
    }
    if (whole && !dtype_fits(matrix->dtype, matrix->k)) {
        return status_error(STATUS_INVALID,
                            "%s: rows of %s would be %" PRIu64 " values over %u ranks, no whole "
                            "number of blocks of %s; accepted fewer ranks or another --dtype",
                            model->name, model_role_name(matrix->role), matrix->k, ranks,
                            dtype_name(matrix->dtype));
    }
    matrix->stored_bytes = matrix->count * dtype_matrix_bytes(matrix->dtype, matrix->n, matrix->k);
    return status_ok();
}

static struct status split_block(struct model_block *block, const struct model *model,
                                 unsigned ranks)
{
    if (block->attention.kind != MODEL_ATTENTION_HEADS || block->mlp.experts > 0) {
        return status_error(STATUS_UNAVAILABLE,
                            "%s: experts, latent attention and layers without attention are not "
                            "split over ranks yet; accepted dense models",
                            model->name);
    }
    if (!divides(block, ranks)) {
        return does_not_divide(model, block, ranks);
    }
    block->attention.heads /= ranks;
    block->attention.kv_heads /= ranks;
    block->attention.kv_values /= ranks;
    block->mlp.width /= ranks;
    for (uint32_t i = 0; i < block->matrix_count; i++) {
        TRY(split_matrix(&block->matrices[i], model, ranks));
    }
    return status_ok();
}

struct status parallel_shard(struct model *out, const struct model *model, unsigned ranks)
{
    assert(ranks >= 1);
    *out = *model;
    for (uint32_t b = 0; b < out->block_count; b++) {
        TRY(split_block(&out->blocks[b], model, ranks));
    }
    if (out->head.count > 0) {
        out->head.n = (model->head.n + ranks - 1) / ranks;
        out->head.stored_bytes = dtype_matrix_bytes(out->head.dtype, out->head.n, out->head.k);
    }
    return status_ok();
}

uint64_t parallel_reduces(uint64_t layers)
{
    return 2 * layers;
}

uint64_t parallel_reduce_bytes(const struct model *model, uint64_t batch)
{
    return model->d * batch * sizeof(float);
}

void parallel_split(struct parallel_shares *out, const double *times, size_t ranks, size_t segments)
{
    assert(ranks >= 1);
    memset(out, 0, sizeof *out);
    for (size_t s = 0; s < segments; s++) {
        double sum = 0;
        double most = 0;
        double network = HUGE_VAL;
        for (size_t r = 0; r < ranks; r++) {
            double work = times[2 * r * segments + s];
            sum += work;
            most = fmax(most, work);
            network = fmin(network, times[(2 * r + 1) * segments + s]);
        }
        double mean = sum / (double)ranks;
        out->work_seconds += mean;
        out->imbalance_seconds += most - mean;
        out->network_seconds += network;
    }
    out->seconds = out->work_seconds + out->imbalance_seconds + out->network_seconds;
}

enum parallel_bound parallel_verdict(const struct parallel_shares *shares, double memory_seconds,
                                     double compute_seconds)
{
    if (shares->network_seconds >= shares->work_seconds &&
        shares->network_seconds >= shares->imbalance_seconds) {
        return PARALLEL_NETWORK;
    }
    if (shares->imbalance_seconds > shares->work_seconds) {
        return PARALLEL_IMBALANCE;
    }
    return memory_seconds >= compute_seconds ? PARALLEL_MEMORY : PARALLEL_COMPUTE;
}

const char *parallel_bound_name(enum parallel_bound bound)
{
    static const char *const names[] = {"memory", "compute", "network", "imbalance"};
    return names[bound];
}
