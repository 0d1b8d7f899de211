#include "profiler/probe_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool apart(const struct reading *a, const struct reading *b)
{
    return a->ci95_high < b->ci95_low || b->ci95_high < a->ci95_low;
}

static void compare_readings(struct probe_drift *out, const struct reading *before,
                             const struct reading *after)
{
    out->old_per_s = before->value;
    out->new_per_s = after->value;
    out->ratio = after->value / before->value;
    out->drifted = apart(before, after) && fabs(out->ratio - 1) > DRIFT_FRACTION;
}

static bool same_bandwidth(const struct result_bandwidth *a, const struct result_bandwidth *b)
{
    return strcmp(a->level, b->level) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           a->threads == b->threads;
}

static bool same_compute(const struct result_compute *a, const struct result_compute *b)
{
    return strcmp(a->dtype, b->dtype) == 0 && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->class_, b->class_) == 0 && a->threads == b->threads;
}

static bool both_present(const struct reading *a, const struct reading *b)
{
    return reading_is_present(a) && reading_is_present(b);
}

static size_t compare_bandwidths(struct probe_drift *out, size_t max,
                                 const struct result_machine *before,
                                 const struct result_machine *after)
{
    size_t count = 0;
    for (size_t i = 0; i < before->bandwidth_count; i++) {
        for (size_t j = 0; j < after->bandwidth_count && count < max; j++) {
            const struct result_bandwidth *a = &before->bandwidth[i];
            const struct result_bandwidth *b = &after->bandwidth[j];
            if (same_bandwidth(a, b) && both_present(&a->bytes_per_s, &b->bytes_per_s)) {
                (void)snprintf(out[count].name, sizeof out->name, "%s %s, %u threads", a->level,
                               a->kernel, a->threads);
                compare_readings(&out[count++], &a->bytes_per_s, &b->bytes_per_s);
                break;
            }
        }
    }
    return count;
}

static size_t compare_computes(struct probe_drift *out, size_t max,
                               const struct result_machine *before,
                               const struct result_machine *after)
{
    size_t count = 0;
    for (size_t i = 0; i < before->compute_count; i++) {
        for (size_t j = 0; j < after->compute_count && count < max; j++) {
            const struct result_compute *a = &before->compute[i];
            const struct result_compute *b = &after->compute[j];
            if (same_compute(a, b) && both_present(&a->flop_per_s, &b->flop_per_s)) {
                (void)snprintf(out[count].name, sizeof out->name, "%s %s %s, %u threads", a->dtype,
                               a->kind, a->class_, a->threads);
                compare_readings(&out[count++], &a->flop_per_s, &b->flop_per_s);
                break;
            }
        }
    }
    return count;
}

static bool same_latency(const struct result_latency *a, const struct result_latency *b)
{
    return strcmp(a->level, b->level) == 0 && a->page_bytes == b->page_bytes;
}

// As dependent loads per second, so that more is better here too.
static size_t compare_latencies(struct probe_drift *out, size_t max,
                                const struct result_machine *before,
                                const struct result_machine *after)
{
    size_t count = 0;
    for (size_t i = 0; i < before->latency_count; i++) {
        for (size_t j = 0; j < after->latency_count && count < max; j++) {
            const struct result_latency *a = &before->latency[i];
            const struct result_latency *b = &after->latency[j];
            if (same_latency(a, b) && both_present(&a->seconds, &b->seconds)) {
                struct reading old = reading_rate(1, &a->seconds);
                struct reading now = reading_rate(1, &b->seconds);
                (void)snprintf(out[count].name, sizeof out->name,
                               "%s dependent loads, pages of %" PRIu64 " bytes", a->level,
                               a->page_bytes);
                compare_readings(&out[count++], &old, &now);
                break;
            }
        }
    }
    return count;
}

size_t probe_compare(struct probe_drift *out, size_t max, size_t *drifted,
                     const struct result_machine *before, const struct result_machine *after)
{
    size_t count = compare_bandwidths(out, max, before, after);
    count += compare_computes(out + count, max - count, before, after);
    count += compare_latencies(out + count, max - count, before, after);
    *drifted = 0;
    for (size_t i = 0; i < count; i++) {
        *drifted += out[i].drifted ? 1 : 0;
    }
    return count;
}
