#include "profiler/exec_window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double exec_cpu_seconds(const struct watch_sample *sample)
{
    return sample->totals.user_seconds + sample->totals.system_seconds;
}

void exec_result_free(struct exec_result *result)
{
    watch_free(&result->watch);
    free(result->intervals);
    result->intervals = NULL;
    result_run_free(&result->run);
}

static double grown(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) : 0;
}

static double counted(const struct watch_sample *a, const struct watch_sample *b,
                      enum metric metric)
{
    return b->counts[metric] - a->counts[metric];
}

// Reads and writes where both are counted, else reads.
static double dram(const struct watch_sample *a, const struct watch_sample *b)
{
    double writes = counted(a, b, METRIC_DRAM_WRITE_BYTES);
    return counted(a, b, METRIC_DRAM_READ_BYTES) + (isnan(writes) ? 0 : writes);
}

static struct phase_interval interval_between(const struct watch_sample *a,
                                              const struct watch_sample *b)
{
    const struct tree_totals *x = &a->totals;
    const struct tree_totals *y = &b->totals;
    return (struct phase_interval){
        .begin_seconds = a->seconds,
        .end_seconds = b->seconds,
        .cpu_seconds = fmax(exec_cpu_seconds(b) - exec_cpu_seconds(a), 0),
        .rss_bytes = (double)y->rss_bytes,
        .rss_before = (double)x->rss_bytes,
        .minor_faults = grown(x->minor_faults, y->minor_faults),
        .major_faults = grown(x->major_faults, y->major_faults),
        .read_bytes = y->io == PROCESS_IO_KNOWN ? grown(x->read_bytes, y->read_bytes) : (double)NAN,
        .instructions = counted(a, b, METRIC_INSTRUCTIONS),
        .cycles = counted(a, b, METRIC_CYCLES),
        .dram_bytes = dram(a, b)};
}

static struct status make_intervals(struct exec_result *out)
{
    const struct watch *watch = &out->watch;
    out->interval_count = watch->count > 0 ? watch->count - 1 : 0;
    out->intervals = calloc(out->interval_count + 1, sizeof *out->intervals);
    if (out->intervals == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a time series");
    }
    for (size_t i = 0; i < out->interval_count; i++) {
        out->intervals[i] = interval_between(&watch->samples[i], &watch->samples[i + 1]);
    }
    return status_ok();
}

/** What grew until a moment between two samples, as if evenly. */
struct moment {
    double cpu_seconds;
    double counts[METRIC_COUNT];
};

static struct moment moment_at(const struct watch *watch, double seconds)
{
    size_t i = 1;
    while (i + 1 < watch->count && watch->samples[i].seconds < seconds) {
        i++;
    }
    const struct watch_sample *a = &watch->samples[i - 1];
    const struct watch_sample *b = &watch->samples[i];
    double length = b->seconds - a->seconds;
    double share = length > 0 ? (seconds - a->seconds) / length : 1;
    share = fmin(fmax(share, 0), 1);
    struct moment out = {.cpu_seconds = exec_cpu_seconds(a) +
                                        share * (exec_cpu_seconds(b) - exec_cpu_seconds(a))};
    for (int m = 0; m < METRIC_COUNT; m++) {
        out.counts[m] = a->counts[m] + share * (b->counts[m] - a->counts[m]);
    }
    return out;
}

static void fill_window(struct exec_result *out)
{
    struct exec_window *window = &out->window;
    struct moment begin = moment_at(&out->watch, window->begin_seconds);
    struct moment end = moment_at(&out->watch, window->end_seconds);
    double seconds = window->end_seconds - window->begin_seconds;
    window->cores = (end.cpu_seconds - begin.cpu_seconds) / seconds;
    for (int m = 0; m < METRIC_COUNT; m++) {
        window->counts[m] = end.counts[m] - begin.counts[m];
    }
}

static struct status take_given(struct exec_result *out, const struct exec_request *request)
{
    struct exec_window *window = &out->window;
    double last = out->watch.samples[out->watch.count - 1].seconds;
    if (request->window_begin >= last ||
        (isfinite(request->window_end) && request->window_end > last)) {
        return status_error(STATUS_INVALID,
                            "--window %g:%g: the process was watched for %.3g s; accepted is a "
                            "window within them",
                            request->window_begin, request->window_end, last);
    }
    window->known = true;
    window->given = true;
    window->begin_seconds = request->window_begin;
    window->end_seconds = fmin(request->window_end, last);
    window->error_fraction = (double)NAN;
    return status_ok();
}

static void take_found(struct exec_result *out)
{
    const struct phases *phases = &out->phases;
    struct exec_window *window = &out->window;
    if (phases->steady == phases->count) {
        return;
    }
    const struct phase *phase = &phases->list[phases->steady];
    window->known = true;
    window->kind = phase->kind;
    window->begin_seconds = phase->begin_seconds;
    window->end_seconds = phase->end_seconds;
    window->error_fraction = phases->rate_error_fraction;
}

static void fill_counters(struct exec_result *out, const struct process_counters *counters)
{
    const struct watch *watch = &out->watch;
    const struct watch_sample *last = &watch->samples[watch->count - 1];
    double seconds = out->window.end_seconds - out->window.begin_seconds;
    for (int m = 0; m < METRIC_COUNT; m++) {
        process_counters_report(&out->whole[m], counters, (enum metric)m,
                                last->counts[m] - watch->samples[0].counts[m], last->seconds);
        process_counters_report(&out->in_window[m], counters, (enum metric)m, out->window.counts[m],
                                seconds);
    }
}

struct status exec_window_find(struct exec_result *out, const struct exec_request *request,
                               const struct process_counters *counters)
{
    TRY(make_intervals(out));
    phases_find(&out->phases, out->intervals, out->interval_count);
    if (out->watch.count > 1) {
        struct status status = status_ok();
        if (request->has_window) {
            status = take_given(out, request);
        } else {
            take_found(out);
        }
        if (out->window.known) {
            fill_window(out);
        }
        fill_counters(out, counters);
        return status;
    }
    fill_counters(out, counters);
    return status_ok();
}
