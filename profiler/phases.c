#include "profiler/phases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// How much of the usual CPUs an interval keeps busy where the program works evenly, and where it
// waits.
static const double even_fraction = 0.75;
static const double idle_fraction = 0.1;
// Growth of memory, as a fraction of its peak in a second, that is no noise of an allocator.
static const double growth_per_s = 0.02;
// Storage reads, as a fraction of the peak of memory in a second, that are loading.
static const double reading_per_s = 0.02;
// Pages faulted in, as a fraction of the pages of the peak in a second: first touch, or mapping of
// a file that the kernel has cached.
static const double faulting_per_s = 0.05;
static const double page_bytes = 4096;
// Less than this in an interval is no model.
static const double growth_min_bytes = 1 << 20;

// Ratio of rates, and distance in standard deviations, of two stretches of different work.
static const double change_ratio = 1.25;
static const double change_deviations = 4;
// Intervals of uneven work that do not end an even stretch.
enum { HICCUP_MAX = 3 };

const char *phase_name(enum phase_kind kind)
{
    static const char *const names[] = {
        [PHASE_IDLE] = "idle",     [PHASE_LOAD] = "load",     [PHASE_PREPARE] = "prepare",
        [PHASE_OTHER] = "other",   [PHASE_STEADY] = "steady", [PHASE_PROMPT] = "prompt",
        [PHASE_DECODE] = "decode",
    };
    return names[kind];
}

static double length(const struct phase_interval *interval)
{
    return interval->end_seconds - interval->begin_seconds;
}

static double cores(const struct phase_interval *interval)
{
    double seconds = length(interval);
    return seconds > 0 ? interval->cpu_seconds / seconds : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// CPUs that the program keeps busy when it works: the upper quartile of what it ever did.
static double usual_cores(const struct phase_interval *intervals, size_t count)
{
    double *values = calloc(count, sizeof *values);
    if (values == NULL) {
        return (double)NAN;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = cores(&intervals[i]);
    }
    qsort(values, count, sizeof *values, compare_doubles);
    double usual = values[count * 3 / 4 < count ? count * 3 / 4 : count - 1];
    if (usual < idle_fraction) { // busy for less than a quarter of the time
        usual = values[count - 1];
    }
    free(values);
    return usual;
}

static double peak_rss(const struct phase_interval *intervals, size_t count)
{
    double peak = 0;
    for (size_t i = 0; i < count; i++) {
        peak = fmax(peak, intervals[i].rss_bytes);
    }
    return peak;
}

static enum phase_kind kind_of(const struct phase_interval *interval, double usual, double peak)
{
    double seconds = length(interval);
    double scale = peak * seconds;
    double busy = cores(interval);
    double grown = interval->rss_bytes - interval->rss_before;
    double faulted = interval->minor_faults * page_bytes;
    bool reads = interval->read_bytes > fmax(reading_per_s * scale, growth_min_bytes);
    bool grows = grown > fmax(growth_per_s * scale, growth_min_bytes) ||
                 faulted > fmax(faulting_per_s * scale, growth_min_bytes);
    bool several = busy > 1.2;
    if (reads) { // never where it is not known: NaN
        return PHASE_LOAD;
    }
    if (grows) {
        return several ? PHASE_PREPARE : PHASE_LOAD;
    }
    if (!(usual > 0) || busy < idle_fraction * usual) {
        return PHASE_IDLE;
    }
    return busy >= even_fraction * usual ? PHASE_STEADY : PHASE_OTHER;
}

static void append(struct phases *out, enum phase_kind kind, size_t first, size_t last,
                   const struct phase_interval *intervals)
{
    struct phase *previous = out->count > 0 ? &out->list[out->count - 1] : NULL;
    if (previous != NULL && (previous->kind == kind || out->count == PHASES_MAX)) {
        // More stretches than there is room for are no phases: the last one takes the rest.
        previous->kind = previous->kind == kind ? kind : PHASE_OTHER;
        previous->last = last;
        previous->end_seconds = intervals[last].end_seconds;
        return;
    }
    out->list[out->count++] = (struct phase){.kind = kind,
                                             .first = first,
                                             .last = last,
                                             .begin_seconds = intervals[first].begin_seconds,
                                             .end_seconds = intervals[last].end_seconds};
}

// A short stretch of uneven work between even ones is a hiccup.
static void bridge_gaps(enum phase_kind *kinds, size_t count)
{
    for (size_t first = 1; first < count; first++) {
        size_t end = first;
        while (end < count && kinds[end] == PHASE_OTHER) {
            end++;
        }
        bool between =
            kinds[first - 1] == PHASE_STEADY && end < count && kinds[end] == PHASE_STEADY;
        for (size_t i = first; between && end - first <= HICCUP_MAX && i < end; i++) {
            kinds[i] = PHASE_STEADY;
        }
    }
}

// Stretches too short to be called even.
static void drop_short(enum phase_kind *kinds, size_t count)
{
    for (size_t first = 0; first < count;) {
        size_t end = first;
        while (end < count && kinds[end] == kinds[first]) {
            end++;
        }
        bool is_short = kinds[first] == PHASE_STEADY && end - first < PHASE_STEADY_MIN;
        for (size_t i = first; is_short && i < end; i++) {
            kinds[i] = PHASE_OTHER;
        }
        first = end;
    }
}

/** A rate that decode and prompt differ in. */
typedef double (*rate_of)(const struct phase_interval *interval);

static double dram_rate(const struct phase_interval *interval)
{
    return interval->dram_bytes / length(interval);
}

static double work_rate(const struct phase_interval *interval)
{
    return interval->instructions / interval->cycles;
}

struct moments {
    double mean;
    double variance;
};

static struct moments moments_of(const struct phase_interval *intervals, size_t first, size_t end,
                                 rate_of rate)
{
    double n = (double)(end - first);
    struct moments out = {.mean = 0};
    for (size_t i = first; i < end; i++) {
        out.mean += rate(&intervals[i]) / n;
    }
    for (size_t i = first; i < end; i++) {
        double off = rate(&intervals[i]) - out.mean;
        out.variance += off * off / n;
    }
    return out;
}

// The place where the rate changes most clearly; 0 if it does not, or is not counted. *rises: it is
// higher behind it.
static size_t find_change(bool *rises, const struct phase_interval *intervals, size_t first,
                          size_t end, rate_of rate)
{
    size_t best = 0;
    double least = (double)INFINITY;
    for (size_t at = first + PHASE_STEADY_MIN; at + PHASE_STEADY_MIN <= end; at++) {
        struct moments a = moments_of(intervals, first, at, rate);
        struct moments b = moments_of(intervals, at, end, rate);
        double within = a.variance * (double)(at - first) + b.variance * (double)(end - at);
        if (within < least) {
            least = within;
            best = at;
        }
    }
    if (best == 0) {
        return 0;
    }
    struct moments a = moments_of(intervals, first, best, rate);
    struct moments b = moments_of(intervals, best, end, rate);
    double deviation = sqrt((a.variance + b.variance) / 2);
    double low = fmin(a.mean, b.mean);
    double high = fmax(a.mean, b.mean);
    *rises = b.mean > a.mean;
    bool clear = high > change_ratio * low && high - low > change_deviations * deviation;
    return clear ? best : 0;
}

static void append_steady(struct phases *out, size_t first, size_t end,
                          const struct phase_interval *intervals)
{
    bool rises = false;
    size_t at = find_change(&rises, intervals, first, end, dram_rate);
    bool decode_last = at != 0 && rises; // decode moves more bytes in a second than a prompt
    if (at == 0) {
        at = find_change(&rises, intervals, first, end, work_rate);
        decode_last = at != 0 && !rises; // and waits for them
    }
    if (at == 0 || out->count + 2 > PHASES_MAX) {
        append(out, PHASE_STEADY, first, end - 1, intervals);
        return;
    }
    append(out, decode_last ? PHASE_PROMPT : PHASE_DECODE, first, at - 1, intervals);
    append(out, decode_last ? PHASE_DECODE : PHASE_PROMPT, at, end - 1, intervals);
}

// The stretch that stands for the program: the longest decode, else the longest steady one.
static void choose(struct phases *out, const struct phase_interval *intervals)
{
    double longest = 0;
    bool decode = false;
    out->steady = out->count;
    out->cores = (double)NAN;
    out->rate_error_fraction = (double)NAN;
    for (size_t i = 0; i < out->count; i++) {
        const struct phase *phase = &out->list[i];
        double seconds = phase->end_seconds - phase->begin_seconds;
        bool candidate = phase->kind == PHASE_DECODE || (!decode && phase->kind == PHASE_STEADY);
        if (candidate && (seconds > longest || (!decode && phase->kind == PHASE_DECODE))) {
            longest = seconds;
            decode = phase->kind == PHASE_DECODE;
            out->steady = i;
        }
    }
    if (out->steady == out->count) {
        return;
    }
    const struct phase *phase = &out->list[out->steady];
    double cpu = 0;
    for (size_t i = phase->first; i <= phase->last; i++) {
        cpu += intervals[i].cpu_seconds;
    }
    double seconds = phase->end_seconds - phase->begin_seconds;
    out->cores = cpu / seconds;
    // Its ends are known to an interval each.
    out->rate_error_fraction =
        (length(&intervals[phase->first]) + length(&intervals[phase->last])) / seconds;
}

void phases_find(struct phases *out, const struct phase_interval *intervals, size_t count)
{
    memset(out, 0, sizeof *out);
    enum phase_kind *kinds = count > 0 ? calloc(count, sizeof *kinds) : NULL;
    double usual = count > 0 ? usual_cores(intervals, count) : 0;
    double peak = peak_rss(intervals, count);
    for (size_t i = 0; kinds != NULL && i < count; i++) {
        kinds[i] = kind_of(&intervals[i], usual, peak);
    }
    if (kinds != NULL) {
        bridge_gaps(kinds, count);
        drop_short(kinds, count);
    }
    for (size_t first = 0; kinds != NULL && first < count;) {
        size_t end = first;
        while (end < count && kinds[end] == kinds[first]) {
            end++;
        }
        if (kinds[first] == PHASE_STEADY) {
            append_steady(out, first, end, intervals);
        } else {
            append(out, kinds[first], first, end - 1, intervals);
        }
        first = end;
    }
    free(kinds);
    choose(out, intervals);
}
