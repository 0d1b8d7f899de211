#include "profiler/document_json.h"
#include "profiler/exec.h"
#include "profiler/exec_regions_json.h"
#include "profiler/exec_series_json.h"
#include "profiler/fields_json.h"
#include "profiler/results_json.h"

#include <math.h>
#include <sys/wait.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *end_json(const struct exec_result *result)
{
    const struct watch *watch = &result->watch;
    json_t *end = json_object();
    bool known = watch->ended && !result->attached;
    bool signalled = known && WIFSIGNALED(watch->wait_status);
    json_put_text(end, "how",
                  signalled            ? "signalled"
                  : watch->ended       ? "exited"
                  : watch->signal != 0 ? "interrupted"
                                       : "time");
    if (known && !signalled) {
        json_put_count(end, "exit_status", (uint64_t)WEXITSTATUS(watch->wait_status));
    } else {
        json_put_absent_because(end, "exit_status", ABSENT_UNSUPPORTED,
                                signalled       ? "a signal ended it"
                                : !watch->ended ? "it still runs"
                                                : "only its parent is told",
                                NULL);
    }
    if (signalled) {
        json_put_count(end, "signal", (uint64_t)WTERMSIG(watch->wait_status));
    } else {
        json_put_absent_because(
            end, "signal", ABSENT_UNSUPPORTED,
            known || !watch->ended ? "no signal ended it" : "only its parent is told", NULL);
    }
    return end;
}

static json_t *process_json(const struct exec_result *result)
{
    json_t *process = json_object();
    json_put_count(process, "pid", (uint64_t)result->pid);
    json_put_text(process, "name", result->name[0] != '\0' ? result->name : "?");
    set(process, "end", end_json(result));
    json_put_count(process, "processes", result->watch.processes_seen);
    json_put_count(process, "left_running", result->watch.left_running);
    return process;
}

static json_t *counters_json(const struct result_counter counters[METRIC_COUNT])
{
    json_t *out = json_object();
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct result_counter *counter = &counters[m];
        const char *name = metric_row((enum metric)m)->name;
        json_put_measured(out, name, &counter->value);
        json_t *value = json_object_get(out, name);
        if (json_is_object(value)) {
            fields_to_json(value, counter, result_counter_fields);
        }
    }
    return out;
}

static json_t *phases_json(const struct phases *phases)
{
    json_t *list = json_array();
    for (size_t i = 0; i < phases->count; i++) {
        json_t *phase = json_object();
        json_put_text(phase, "phase", phase_name(phases->list[i].kind));
        json_put_number(phase, "begin_seconds", phases->list[i].begin_seconds);
        json_put_number(phase, "end_seconds", phases->list[i].end_seconds);
        (void)json_array_append_new(list, phase);
    }
    return list;
}

static void put_window(json_t *document, const struct exec_result *result)
{
    const struct exec_window *window = &result->window;
    if (!window->known) {
        json_put_absent_because(document, "window", ABSENT_FAILED,
                                "no steady stretch of five intervals was found",
                                "--window A:B, or a smaller --interval");
        return;
    }
    json_t *out = json_object();
    json_put_text(out, "found", window->given ? "given" : "automatic");
    json_put_number(out, "begin_seconds", window->begin_seconds);
    json_put_number(out, "end_seconds", window->end_seconds);
    json_put_text(out, "phase",
                  window->given                  ? "as_given"
                  : window->kind == PHASE_DECODE ? "decode"
                                                 : "cannot_tell");
    json_put_number(out, "busy_cpus", window->cores);
    if (isnan(window->error_fraction)) {
        json_put_absent_because(out, "length_error_fraction", ABSENT_NOT_ASKED,
                                "the window was given", NULL);
    } else {
        json_put_number(out, "length_error_fraction", window->error_fraction);
    }
    set(out, "counters", counters_json(result->in_window));
    set(document, "window", out);
}

static void put_plain(json_t *object, const char *key, const struct reading *reading)
{
    if (reading_is_present(reading)) {
        json_put_number(object, key, reading->value);
    } else {
        json_put_absent(object, key, &reading->absence);
    }
}

static void put_placement(json_t *document, const struct exec_placement *place)
{
    const enum origin counted = ORIGIN_COUNTED;
    const struct derived_from tokens = {.seconds = ORIGIN_TIMED};
    const struct derived_from flop = {.flop = ORIGIN_MODELLED, .seconds = ORIGIN_TIMED};
    const struct derived_from bytes = {.bytes = ORIGIN_MODELLED, .seconds = ORIGIN_TIMED};
    if (!place->placed) {
        json_put_absent(document, "placement", &place->why);
        return;
    }
    json_t *out = json_object();
    json_put_text(out, "model", place->model);
    json_put_text(out, "dtype", place->dtype);
    json_put_text(out, "phase", "decode");
    json_put_count(out, "tokens", place->tokens);
    json_put_count(out, "batch", place->batch);
    json_put_count(out, "context", place->context);
    set(out, "lower_bound", json_boolean(place->lower_bound));
    json_put_number(out, "flop_per_token", place->flop_per_token);
    json_put_number(out, "bytes_per_token", place->bytes_per_token);
    json_put_number(out, "flop_per_byte_predicted", place->flop_per_byte_predicted);
    json_put_derived(out, "tokens_per_s", &place->tokens_per_s, tokens);
    json_put_derived(out, "flop_per_s", &place->flop_per_s, flop);
    json_put_derived(out, "bytes_per_s_modelled", &place->bytes_per_s_modelled, bytes);
    json_put_derived(out, "bytes_per_s_counted", &place->bytes_per_s_counted,
                     (struct derived_from){.bytes = counted, .seconds = ORIGIN_TIMED});
    json_put_derived(out, "flop_per_byte_counted", &place->flop_per_byte_counted,
                     (struct derived_from){.flop = counted, .bytes = counted});
    json_put_text(out, "flop_metrics_counted",
                  reading_is_present(&place->flop_per_byte_counted) ? place->flop_metrics : "");
    put_plain(out, "joules_per_token", &place->joules_per_token);
    json_put_derived(out, "roof_fraction", &place->roof_fraction, flop);
    set(out, "roof", exec_roof_json(place, &place->roof));
    set(document, "placement", out);
}

struct status exec_write_json(const struct exec_result *result,
                              const struct command_context *context, const char *path,
                              bool to_stdout)
{
    json_t *document = measured_document("exec", &result->run, context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    const struct watch *watch = &result->watch;
    double seconds = watch->samples[watch->count - 1].seconds;
    json_put_text(document, "mode", result->attached ? "attach" : "exec");
    set(document, "process", process_json(result));
    json_put_number(document, "seconds", seconds);
    json_put_number(document, "interval_seconds", watch->interval_seconds);
    json_put_number(document, "own_cpu_seconds", watch->own_cpu_seconds);
    set(document, "totals", exec_totals_json(watch));
    set(document, "counters", counters_json(result->whole));
    set(document, "series", exec_series_json(watch));
    set(document, "phases", phases_json(&result->phases));
    set(document, "regions", exec_regions_json(result));
    put_window(document, result);
    put_placement(document, &result->place);
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}
