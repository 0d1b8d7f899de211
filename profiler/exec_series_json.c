#include "profiler/exec_series_json.h"

#include "profiler/document_json.h"
#include "profiler/exec_result.h"

#include <math.h>

static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static void put_no_io(json_t *object, const char *key, enum process_io io)
{
    bool rights = io == PROCESS_IO_NOT_PERMITTED;
    json_put_absent_because(object, key, rights ? ABSENT_NOT_PERMITTED : ABSENT_UNSUPPORTED,
                            process_io_why(io),
                            rights ? "watch it as its own user, or as root" : NULL);
}

json_t *exec_totals_json(const struct watch *watch)
{
    const struct tree_totals *a = &watch->samples[0].totals;
    const struct tree_totals *b = &watch->samples[watch->count - 1].totals;
    json_t *out = json_object();
    json_put_number(out, "user_seconds", fmax(b->user_seconds - a->user_seconds, 0));
    json_put_number(out, "system_seconds", fmax(b->system_seconds - a->system_seconds, 0));
    json_put_count(out, "rss_peak_bytes", watch->rss_peak_bytes);
    json_put_count(out, "minor_faults", grown(a->minor_faults, b->minor_faults));
    json_put_count(out, "major_faults", grown(a->major_faults, b->major_faults));
    json_put_count(out, "voluntary_switches", grown(a->voluntary_switches, b->voluntary_switches));
    json_put_count(out, "involuntary_switches",
                   grown(a->involuntary_switches, b->involuntary_switches));
    if (b->io == PROCESS_IO_KNOWN) {
        json_put_count(out, "read_bytes", grown(a->read_bytes, b->read_bytes));
        json_put_count(out, "write_bytes", grown(a->write_bytes, b->write_bytes));
    } else {
        put_no_io(out, "read_bytes", b->io);
        put_no_io(out, "write_bytes", b->io);
    }
    return out;
}

enum column {
    COLUMN_SECONDS,
    COLUMN_CPU,
    COLUMN_RSS,
    COLUMN_THREADS,
    COLUMN_PROCESSES,
    COLUMN_MINOR,
    COLUMN_MAJOR,
    COLUMN_VOLUNTARY,
    COLUMN_INVOLUNTARY,
    COLUMN_READ,
    COLUMN_WRITE,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {
    [COLUMN_SECONDS] = "seconds",
    [COLUMN_CPU] = "cpu_seconds",
    [COLUMN_RSS] = "rss_bytes",
    [COLUMN_THREADS] = "threads",
    [COLUMN_PROCESSES] = "processes",
    [COLUMN_MINOR] = "minor_faults",
    [COLUMN_MAJOR] = "major_faults",
    [COLUMN_VOLUNTARY] = "voluntary_switches",
    [COLUMN_INVOLUNTARY] = "involuntary_switches",
    [COLUMN_READ] = "read_bytes",
    [COLUMN_WRITE] = "write_bytes",
};

// One element: between samples a and b.
static json_t *element(enum column column, const struct watch_sample *a,
                       const struct watch_sample *b)
{
    const struct tree_totals *x = &a->totals;
    const struct tree_totals *y = &b->totals;
    const uint64_t counts[COLUMNS] = {
        [COLUMN_RSS] = y->rss_bytes,
        [COLUMN_THREADS] = y->threads,
        [COLUMN_PROCESSES] = y->processes,
        [COLUMN_MINOR] = grown(x->minor_faults, y->minor_faults),
        [COLUMN_MAJOR] = grown(x->major_faults, y->major_faults),
        [COLUMN_VOLUNTARY] = grown(x->voluntary_switches, y->voluntary_switches),
        [COLUMN_INVOLUNTARY] = grown(x->involuntary_switches, y->involuntary_switches),
        [COLUMN_READ] = grown(x->read_bytes, y->read_bytes),
        [COLUMN_WRITE] = grown(x->write_bytes, y->write_bytes),
    };
    if (column == COLUMN_SECONDS) {
        return json_real(b->seconds);
    }
    if (column == COLUMN_CPU) {
        return json_real(fmax(exec_cpu_seconds(b) - exec_cpu_seconds(a), 0));
    }
    return json_integer((json_int_t)counts[column]);
}

static json_t *column_json(const struct watch *watch, enum column column)
{
    json_t *list = json_array();
    for (size_t i = 1; i < watch->count; i++) {
        (void)json_array_append_new(list,
                                    element(column, &watch->samples[i - 1], &watch->samples[i]));
    }
    return list;
}

// A metric that stopped being counted midway has no series: its list would have holes.
static void put_metric(json_t *counters, const struct watch *watch, enum metric metric)
{
    json_t *list = json_array();
    bool whole = true;
    for (size_t i = 1; i < watch->count; i++) {
        double count = watch->samples[i].counts[metric] - watch->samples[i - 1].counts[metric];
        whole = whole && isfinite(count);
        (void)json_array_append_new(list, json_real(isfinite(count) ? count : 0));
    }
    if (whole && watch->count > 1) {
        (void)json_object_set_new(counters, metric_row(metric)->name, list);
    } else {
        json_decref(list);
    }
}

json_t *exec_series_json(const struct watch *watch)
{
    json_t *out = json_object();
    enum process_io io = watch->samples[watch->count - 1].totals.io;
    for (int c = 0; c < COLUMNS; c++) {
        if ((c == COLUMN_READ || c == COLUMN_WRITE) && io != PROCESS_IO_KNOWN) {
            put_no_io(out, column_names[c], io);
        } else {
            (void)json_object_set_new(out, column_names[c], column_json(watch, (enum column)c));
        }
    }
    json_t *counters = json_object();
    for (int m = 0; m < METRIC_COUNT; m++) {
        put_metric(counters, watch, (enum metric)m);
    }
    (void)json_object_set_new(out, "counters", counters);
    return out;
}
