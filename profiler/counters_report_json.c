#include "profiler/counters_report.h"
#include "profiler/document_json.h"
#include "profiler/fields_json.h"

#include <math.h>

static json_t *cpu_json(const struct machine *machine)
{
    json_t *cpu = json_object();
    json_put_text(cpu, "name", machine->name);
    json_put_text(cpu, "vendor", machine->vendor);
    json_put_count(cpu, "family", machine->family);
    json_put_count(cpu, "model", machine->model);
    json_put_count(cpu, "stepping", machine->stepping);
    json_put_text(cpu, "virtualized", machine->virtualized);
    return cpu;
}

static json_t *table_json(const struct event_table *table)
{
    json_t *object = json_object();
    json_put_text(object, "name", table->name);
    json_put_text(object, "family", table->family);
    json_put_text(object, "source", table->source);
    return object;
}

static json_t *rights_json(const struct counter_surroundings *here)
{
    json_t *rights = json_object();
    if (here->paranoid == COUNTER_NO_FILE) {
        json_put_absent_because(rights, "perf_event_paranoid", ABSENT_UNSUPPORTED,
                                "/proc/sys/kernel/perf_event_paranoid is not there", NULL);
    } else {
        (void)json_object_set_new(rights, "perf_event_paranoid", json_integer(here->paranoid));
    }
    (void)json_object_set_new(rights, "cap_perfmon", json_boolean(here->capable));
    (void)json_object_set_new(rights, "seccomp_filter", json_boolean(here->sandboxed));
    (void)json_object_set_new(rights, "nmi_watchdog", json_boolean(here->watchdog));
    (void)json_object_set_new(rights, "core_pmu_in_sysfs", json_boolean(here->core_pmu));
    return rights;
}

static json_t *metric_json(const struct counters_report *report, enum metric metric,
                           const struct result_counter *counter)
{
    json_t *object = json_object();
    (void)json_object_set_new(object, "available", json_true());
    json_put_text(object, "unit", metric_row(metric)->unit);
    json_put_text(object, "meaning", metric_row(metric)->meaning);
    fields_to_json(object, counter, result_counter_fields);
    json_put_text(object, "excludes", counter_session_note(report->session, metric));
    return object;
}

static json_t *metrics_json(const struct counters_report *report)
{
    json_t *metrics = json_object();
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        struct result_counter counter;
        counter_session_read(&counter, report->session, (enum metric)m);
        if (reading_is_present(&counter.value)) {
            (void)json_object_set_new(metrics, counter.metric,
                                      metric_json(report, (enum metric)m, &counter));
        } else {
            json_put_absent(metrics, counter.metric, &counter.value.absence);
        }
    }
    return metrics;
}

static json_t *certificate_json(const struct counter_session *session)
{
    size_t count = 0;
    const struct certificate_entry *entries = counter_session_certificate(&count, session);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        struct result_certificate entry;
        json_t *object = json_object();
        certificate_result(&entry, &entries[i]);
        fields_to_json(object, &entry, result_certificate_fields);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static void add_warnings(json_t *document, const struct counter_session *session)
{
    size_t count = 0;
    const struct certificate_suspicion *list = counter_session_suspicions(&count, session);
    for (size_t i = 0; i < count; i++) {
        document_warn(document, "channels", list[i].text, NULL);
    }
}

static json_t *overhead_json(const struct counters_report *report)
{
    json_t *overhead = json_object();
    if (counter_session_counts(report->session)) {
        json_put_number(overhead, "start_stop_seconds",
                        report->counted_seconds - report->uncounted_seconds);
    } else {
        json_put_absent_because(overhead, "start_stop_seconds", ABSENT_UNSUPPORTED,
                                "nothing is counted here", NULL);
    }
    json_put_text(overhead, "text", "points are timed without counters and counted apart");
    return overhead;
}

struct status counters_report_write(const struct counters_report *report,
                                    const struct command_context *context, const char *path,
                                    bool to_stdout)
{
    json_t *document = document_new("counters", context);
    if (document != NULL) {
        const struct counter_session *session = report->session;
        (void)json_object_set_new(document, "cpu", cpu_json(report->machine));
        (void)json_object_set_new(document, "event_table",
                                  table_json(counter_session_table(session)));
        (void)json_object_set_new(document, "rights",
                                  rights_json(counter_session_surroundings(session)));
        json_put_count(document, "threads", report->threads);
        json_put_text(document, "mode", "user");
        json_put_count(document, "sets", counter_session_passes(session));
        (void)json_object_set_new(document, "metrics", metrics_json(report));
        (void)json_object_set_new(document, "certificate", certificate_json(session));
        (void)json_object_set_new(document, "overhead", overhead_json(report));
        add_warnings(document, session);
    }
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}
