#include "profiler/run_counters.h"

#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A residual within this needs no explanation: activations and norms are not in the model's bytes.
static const double residual_small = 0.1;
static const double background_large = 0.1;

static void report_certificate(struct result_run *run, const struct counter_session *session)
{
    size_t count = 0;
    const struct certificate_entry *entries = counter_session_certificate(&count, session);
    for (size_t i = 0; i < count; i++) {
        struct result_certificate *out =
            result_append(&run->certificate, &run->certificate_count, sizeof *out);
        if (out != NULL) {
            certificate_result(out, &entries[i]);
        }
        if (entries[i].fault != FAULT_NONE) {
            result_warn(run, "counter_lies", "lmroof counters --certify",
                        "%.90s counted %.6g where %.6g were certain: it is not used",
                        entries[i].event, entries[i].counted, entries[i].expected);
        }
    }
    const struct certificate_suspicion *suspicions = counter_session_suspicions(&count, session);
    for (size_t i = 0; i < count; i++) {
        result_warn(run, "channels", "lmroof counters --certify", "%s", suspicions[i].text);
    }
}

struct status run_counters_open(struct run_counters *out, struct result_run *run,
                                const struct session *session, const struct run_request *request)
{
    *out = (struct run_counters){.session = NULL};
    if (request->events_path != NULL) {
        TRY(event_file_read(&out->events, request->events_path));
    }
    const struct counter_options options = {.policy = request->counters,
                                            .table = event_file_table(out->events)};
    TRY(counter_session_open(&out->session, &session->machine, session->team, &options));
    report_certificate(run, out->session);
    result_fact(&run->conditions, &run->condition_count, "event_table", "%s",
                counter_session_table(out->session)->name);
    return status_ok();
}

void run_counters_close(struct run_counters *counters)
{
    counter_session_close(counters->session);
    event_file_free(counters->events);
    *counters = (struct run_counters){.session = NULL};
}

static double run_rotation(void *context, struct team_probe probe)
{
    struct team_sample timing;
    uint64_t instances = 1;
    (void)rotation_sample_probed(&timing, &instances, context, probe);
    return (double)instances;
}

static double call_rotation(void *context)
{
    struct rotation *rotation = context;
    struct team_sample timing;
    (void)rotation_sample(&timing, rotation, LINEAR_FULL);
    return (double)rotation->per_sample;
}

// Intel's events see neither vdpbf16ps nor tile products; where the family counts them, or the
// kernel converts and uses the ordinary multiply-add, the count is of the operations.
static bool flop_is_countable(const struct event_table *table, const char *class_)
{
    bool bf16 = strstr(class_, "dpbf16") != NULL || strstr(class_, "bfdot") != NULL ||
                strstr(class_, "bfmmla") != NULL;
    bool tiles = strstr(class_, "amx") != NULL || strstr(class_, "tdp") != NULL;
    return !tiles && !(bf16 && table->absent[METRIC_FLOP_BF16] != NULL);
}

static const char *likely_cause(const struct result_point *point)
{
    double residual = point->bytes_residual_fraction;
    if (!(fabs(residual) > residual_small)) {
        return "";
    }
    if (residual > 0) {
        return strcmp(point->bytes_source, "uncore") == 0
                   ? "outputs, write-allocate and prefetches beyond the data, or other users of "
                     "the memory: the controllers count all"
                   : "outputs, write-allocate and prefetches beyond the data";
    }
    if (strcmp(point->bytes_source, "core") == 0) {
        return "counts at the core leave out what prefetchers bring and what is written back";
    }
    return strcmp(point->resident_level, "DRAM") == 0
               ? "part of the data was still in a cache"
               : "the data is served from a cache, not from memory";
}

static void fill_counts(struct result_point *out, const struct counter_session *session)
{
    out->counter_count = 0;
    _Static_assert((int)METRIC_COUNT <= (int)RESULT_COUNTERS_MAX, "every metric has a place");
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        counter_session_read(&out->counters[out->counter_count++], session, (enum metric)m);
    }
}

// Tokens that one step yields, or reads.
static double tokens_of(const char *phase, unsigned batch, uint64_t prompt)
{
    return (double)batch * (strcmp(phase, "prefill") == 0 ? (double)prompt : 1);
}

void run_counters_step(struct result_step *out, struct run_counters *counters,
                       const struct counter_work *work, unsigned samples)
{
    struct reading joules;
    struct counter_session *session = counters->session;
    counter_session_reset(session);
    for (unsigned i = 0; i < samples && counter_session_has_energy(session); i++) {
        counter_session_measure_energy(session, work);
    }
    counter_session_joules(&joules, session);
    out->joules_per_token = out->layers_measured == out->layers
                                ? joules.value / tokens_of(out->phase, out->batch, out->prompt)
                                : (double)NAN;
}

void run_counters_measure(struct result_point *out, struct run_counters *counters,
                          struct rotation *rotation, const char *class_, unsigned samples,
                          const struct limit *limit)
{
    struct counter_session *session = counters->session;
    const struct counter_work work = {
        .run = work_is_library(rotation->work) ? NULL : run_rotation,
        .call = work_is_library(rotation->work) ? call_rotation : NULL,
        .context = rotation,
    };
    counter_session_reset(session);
    for (unsigned i = 0; i < samples && counter_session_counts(session); i++) {
        if (i > 0 && limit_reached(limit)) {
            break;
        }
        counter_session_measure(session, &work);
    }
    fill_counts(out, session);
    struct reading flop;
    struct reading bytes;
    struct reading joules;
    const char *place = NULL;
    counter_session_flop(&flop, session);
    counter_session_dram_bytes(&bytes, &place, session);
    counter_session_joules(&joules, session);
    out->joules_per_token =
        joules.value * out->layers / tokens_of(out->phase, out->batch, out->prompt);
    out->bytes_residual_fraction = (double)NAN;
    if (reading_is_present(&bytes)) {
        bool counted =
            reading_is_present(&flop) && flop_is_countable(counter_session_table(session), class_);
        (void)snprintf(out->flop_source, sizeof out->flop_source, "%s",
                       counted ? "counted" : "modelled");
        (void)snprintf(out->bytes_source, sizeof out->bytes_source, "%s", place);
        out->bytes_residual_fraction = bytes.value / out->bytes_modelled - 1;
        (void)snprintf(out->residual_cause, sizeof out->residual_cause, "%s", likely_cause(out));
    }
}

// Intensities of the same samples; without operations counted, the model's stand in. A sample
// without operations or bytes has none.
static size_t intensities(double *out, const struct result_point *point, const struct reading *flop,
                          const struct reading *bytes)
{
    bool counted = strcmp(point->flop_source, "counted") == 0;
    size_t n = counted && flop->n < bytes->n ? flop->n : bytes->n;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        double operations = counted ? flop->samples[i] : point->flop;
        if (operations > 0 && bytes->samples[i] > 0) {
            out[kept++] = operations / bytes->samples[i];
        }
    }
    return kept;
}

void run_counters_place(struct result_point *out, const struct run_counters *counters)
{
    struct reading flop;
    struct reading bytes;
    const char *place = NULL;
    double values[READING_SAMPLES_MAX];
    counter_session_flop(&flop, counters->session);
    counter_session_dram_bytes(&bytes, &place, counters->session);
    if (reading_is_present(&bytes) && !(bytes.value > 0)) {
        bytes = reading_absent(ABSENT_FAILED, "no byte was counted: a cache served everything",
                               "--context or a model larger than the caches");
    }
    if (!reading_is_present(&bytes)) {
        out->bytes_per_s_counted = bytes;
        out->flop_per_byte_counted = bytes;
        out->roof_fraction_counted = bytes;
        return;
    }
    for (size_t i = 0; i < bytes.n; i++) {
        values[i] = bytes.samples[i] / out->seconds.value;
    }
    out->bytes_per_s_counted = reading_of_samples(values, bytes.n, BETTER_HIGHER, ORIGIN_TIMED);
    size_t n = intensities(values, out, &flop, &bytes);
    out->flop_per_byte_counted = reading_of_samples(values, n, BETTER_HIGHER, ORIGIN_COUNTED);
    if (n == 0) {
        out->flop_per_byte_counted =
            reading_absent(ABSENT_FAILED, "no operation was counted", NULL);
        out->roof_fraction_counted = out->flop_per_byte_counted;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double attainable =
            fmin(out->roof_flop_per_s.value, values[i] * out->roof_bytes_per_s.value);
        values[i] = out->flop_per_s.value / attainable;
    }
    out->roof_fraction_counted = reading_of_samples(values, n, BETTER_HIGHER, ORIGIN_TIMED);
}

static const struct result_counter *find(const struct result_point *point, enum metric metric)
{
    for (size_t i = 0; i < point->counter_count; i++) {
        if (strcmp(point->counters[i].metric, metric_row(metric)->name) == 0) {
            return &point->counters[i];
        }
    }
    return NULL;
}

// A count that held a counter for less than 95 % of the time is shown, but proves nothing.
static double evidence_value(const struct result_point *point, enum metric metric)
{
    const struct result_counter *counter = find(point, metric);
    if (counter == NULL || !reading_is_present(&counter->value) ||
        counter->running_fraction < COUNTER_RUNNING_EVIDENCE ||
        counter->background_fraction > background_large) {
        return (double)NAN;
    }
    return counter->value.value;
}

void run_counters_evidence(double *byte_ratio, double *stall_fraction,
                           const struct result_point *point)
{
    bool sure = !isnan(evidence_value(point, METRIC_DRAM_READ_BYTES));
    *byte_ratio = sure ? 1 + point->bytes_residual_fraction : (double)NAN;
    *stall_fraction =
        evidence_value(point, METRIC_MEMORY_STALL_CYCLES) / evidence_value(point, METRIC_CYCLES);
}

bool run_counters_levels(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_counter *near = find(&run->points[i], METRIC_L1_L2_BYTES);
        const struct result_counter *far = find(&run->points[i], METRIC_L2_L3_BYTES);
        if ((near != NULL && reading_is_present(&near->value)) ||
            (far != NULL && reading_is_present(&far->value))) {
            return true;
        }
    }
    return false;
}
