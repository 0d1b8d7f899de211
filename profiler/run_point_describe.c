#include "profiler/result_build.h"
#include "profiler/run_point.h"
#include "profiler/session_memory.h"
#include "roofline/step.h"
#include "roofline/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void run_point_absent(struct result_point *out, enum absent_state state, const char *text,
                      const char *try_)
{
    const struct reading none = reading_absent(state, text, try_);
    out->seconds = none;
    out->flop_per_s = none;
    out->bytes_per_s_modelled = none;
    out->roof_bytes_per_s = none;
    out->roof_flop_per_s = none;
    out->roof_fraction = none;
    out->memory_only_seconds = none;
    out->compute_only_seconds = none;
}

// By the last new token.
static uint64_t tokens_seen(const struct run_job *job)
{
    uint64_t before = job->context + job->rows - 1;
    return (uint64_t)step_visible_cached(&job->attention, before) + 1;
}

void run_point_describe(struct result_point *out, const struct run_measure *measure,
                        const struct run_job *job)
{
    memset(out, 0, sizeof *out);
    const char *op = model_operator_name(job->op);
    (void)snprintf(out->operator_, sizeof out->operator_, "%s", op);
    (void)snprintf(out->phase, sizeof out->phase, "%s", job->prefill ? "prefill" : "decode");
    char variant[8] = "";
    if (job->variant > 0) {
        (void)snprintf(variant, sizeof variant, ".%u", job->variant + 1);
    }
    (void)snprintf(out->id, sizeof out->id, "%s/%s%s/%s/b%u/%s%llu", out->phase, op, variant,
                   dtype_name(job->dtype), job->batch, job->prefill ? "p" : "c",
                   (unsigned long long)(job->prefill ? job->prompt : job->context));
    out->batch = job->batch;
    out->context = job->context;
    out->prompt = job->prompt;
    out->layers = job->layers;
    (void)snprintf(out->dtype, sizeof out->dtype, "%s", dtype_name(job->dtype));
    if (job->recipe != job->dtype) {
        (void)snprintf(out->recipe, sizeof out->recipe, "%s", dtype_name(job->recipe));
    }
    if (job->kv_dtype != DTYPE_NONE) {
        (void)snprintf(out->kv_dtype, sizeof out->kv_dtype, "%s", dtype_name(job->kv_dtype));
    }
    out->threads = measure->session->threads;
    (void)snprintf(out->smt, sizeof out->smt, "%s",
                   session_shares_cores(measure->session) ? "on" : "off");
    (void)snprintf(out->placement, sizeof out->placement, "%s",
                   session_numa_name(measure->session->options.numa));
    out->m = job->op == MODEL_OP_ATTENTION ? job->rows * job->batch : job->rows;
    out->n = job->op == MODEL_OP_ATTENTION ? job->attention.heads * job->attention.v_dim : job->n;
    out->k = job->op == MODEL_OP_ATTENTION ? tokens_seen(job) : job->k;
    out->integer_operations = run_job_is_integer(job);
    out->flop = job->flop;
    out->flop_executed = (double)NAN;
    out->bytes_modelled = job->bytes;
    out->flop_per_byte_predicted = job->flop / job->bytes;
    out->time_share_fraction = (double)NAN;
    out->attainable_flop_per_s = (double)NAN;
    out->max_relative_error = (double)NAN;
    out->tolerance = (double)NAN;
    out->bytes_residual_fraction = (double)NAN;
    out->joules_per_token = (double)NAN;
    run_point_absent(out, ABSENT_NOT_SCHEDULED, "the run was ended before this point", NULL);
    const struct reading uncounted =
        reading_absent(ABSENT_NOT_ASKED, "no counters were asked for", "--counters auto");
    out->bytes_per_s_counted = uncounted;
    out->flop_per_byte_counted = uncounted;
    out->roof_fraction_counted = uncounted;
}

static void warn_of_attempts(struct result_run *out, const struct result_point *point,
                             const struct run_measure *measure)
{
    static const char kernel[] = "it took longer than both its twins, and its kernel was chosen "
                                 "again";
    static const char roof[] = "it was above its roof, and the roof's kernel was chosen again";
    bool both = measure->questioned_kernel && measure->questioned_roof;
    const char *first = measure->questioned_kernel ? kernel : roof;
    result_warn(out, "measured_again", NULL, "%s was measured %u times: %s%s%s", point->id,
                point->attempts, first, both ? "; also " : "", both ? roof : "");
}

void run_point_warn(struct result_run *out, const struct result_point *point,
                    const struct run_measure *measure)
{
    if (point->attempts > 1) {
        warn_of_attempts(out, point, measure);
    }
    // Few disturbed rounds have an interval that reaches anywhere: then the value tells.
    const struct reading *fraction = &point->roof_fraction;
    bool above =
        reading_is_present(fraction) && (fraction->ci95_low > 1 || fraction->value > VERDICT_ABOVE);
    if (above) {
        result_warn(out, "above_roof", "measure again on a quiet machine",
                    "%s runs at %.2f of its roof%s: suspect data served from a cache, a roof "
                    "measured under disturbance, or another scope",
                    point->id, fraction->value,
                    point->disturbed ? ", in rounds that other work disturbed" : "");
    }
    if (point->resident_level[0] == '\0' && reading_is_present(&point->seconds)) {
        result_warn(out, "partly_cached", NULL,
                    "the model is larger than half of the caches and smaller than 4 times them: "
                    "which level serves %s is not clear",
                    point->id);
    }
}
