#include "roofline/training.h"

#include <math.h>
#include <string.h>

static const double seconds_per_day = 86400;

static struct status check(const struct training_request *request)
{
    if (!(request->tokens >= 1) || request->sequence < 1) {
        return status_error(STATUS_INVALID,
                            "training on %g tokens in sequences of %g: accepted "
                            "are at least 1 of each",
                            request->tokens, (double)request->sequence);
    }
    bool told = request->devices > 0;
    if (told && !(request->device_flop_per_s > 0)) {
        return status_error(STATUS_INVALID, "peak of %g FLOP/s a device: accepted more than 0",
                            request->device_flop_per_s);
    }
    if (told && !(request->mfu_fraction > 0 && request->mfu_fraction <= 1)) {
        return status_error(STATUS_INVALID, "utilisation of %g: accepted more than 0, up to 1",
                            request->mfu_fraction);
    }
    return status_ok();
}

// Forward FLOPs of attention for one token at full square, over all layers: 2 h (k + k_v) S;
// a window sees min(S, W).
static double attention_forward_full(const struct model *model, double sequence)
{
    double flop = 0;
    for (uint32_t i = 0; i < model->block_count; i++) {
        const struct model_attention *attention = &model->blocks[i].attention;
        double window =
            attention->window > 0 ? fmin(sequence, (double)attention->window) : sequence;
        flop += (double)model->blocks[i].layers * 2 * (double)attention->heads *
                (double)(attention->k_dim + attention->v_dim) * window;
    }
    return flop;
}

struct status training_compute(struct training *out, const struct model *model,
                               const struct training_request *request)
{
    memset(out, 0, sizeof *out);
    TRY(check(request));
    struct model_counts counts;
    model_count(&counts, model);
    double parameters = (double)counts.linear_active;
    double forward = attention_forward_full(model, (double)request->sequence);
    out->linear_parameters = parameters;
    out->linear_flop_per_token = 6 * parameters;
    // Backward does each product twice, for the input's and the other factor's gradient.
    out->attention_flop_per_token_full = 3 * forward;
    out->attention_flop_per_token_causal = 1.5 * forward;
    out->attention_share_full = 3 * forward / (6 * parameters);
    out->attention_share_causal = 1.5 * forward / (6 * parameters);
    out->flop_linear = 6 * parameters * request->tokens;
    out->flop = (6 * parameters + 1.5 * forward) * request->tokens;
    out->flop_full_square = (6 * parameters + 3 * forward) * request->tokens;
    out->flop_recomputed = (8 * parameters + 2 * forward) * request->tokens;
    double rate = request->devices * request->device_flop_per_s * request->mfu_fraction;
    out->days = rate > 0 ? out->flop / rate / seconds_per_day : (double)NAN;
    out->days_recomputed = rate > 0 ? out->flop_recomputed / rate / seconds_per_day : (double)NAN;
    return status_ok();
}
