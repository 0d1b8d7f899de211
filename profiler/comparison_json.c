#include "profiler/comparison_json.h"

#include "profiler/document_json.h"
#include "profiler/prediction_json.h"

#include <math.h>

static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void put_count_or_absent(json_t *object, const char *key, uint64_t value)
{
    if (value > 0) {
        json_put_count(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, "the profile does not tell it",
                                NULL);
    }
}

static json_t *machine_json(const struct comparison *comparison, size_t index)
{
    const struct machine_source *source = &comparison->machines[index];
    const struct comparison_conditions *conditions = &comparison->conditions[index];
    const char *title = machine_source_fact(source, "name");
    json_t *object = json_object();
    json_put_text(object, "name", source->label);
    json_put_text(object, "title", title == NULL ? source->label : title);
    json_put_text(object, "origin", source->is_datasheet ? "datasheet" : "timed");
    json_put_text(object, "tool", source->run.tool);
    put_count_or_absent(object, "threads", conditions->threads);
    put_count_or_absent(object, "threads_per_core", conditions->threads_per_core);
    put_count_or_absent(object, "page_bytes", conditions->page_bytes);
    put(object, "unsteady", json_boolean(conditions->unsteady));
    put(object, "complete", json_boolean(conditions->complete));
    return object;
}

static void put_differs(json_t *object, const struct comparison_entry *entry)
{
    char why[192];
    switch (entry->outcome) {
    case COMPARISON_DIFFERS:
    case COMPARISON_SAME:
        put(object, "differs", json_boolean(entry->outcome == COMPARISON_DIFFERS));
        return;
    case COMPARISON_CANNOT_TELL:
        (void)snprintf(why, sizeof why,
                       "the intervals overlap and are too wide to tell: they allow ratios of %.3g "
                       "to %.3g, and are the same within %.3g to %.3g",
                       entry->ratio_low, entry->ratio_high, 1 / COMPARISON_MARGIN,
                       COMPARISON_MARGIN);
        json_put_absent_because(object, "differs", ABSENT_FAILED, why,
                                "lmroof probe again on quiet machines");
        return;
    case COMPARISON_NO_INTERVAL:
        json_put_absent_because(object, "differs", ABSENT_UNSUPPORTED,
                                "one of the two has no interval", NULL);
        return;
    }
}

static void put_ratio(json_t *object, const struct comparison_entry *entry)
{
    if (isfinite(entry->ratio)) {
        json_put_number(object, "ratio", entry->ratio);
    } else {
        json_put_absent_because(object, "ratio", ABSENT_UNSUPPORTED,
                                entry->refused ? "refused: simulated beside measured"
                                               : "the first machine has no such ceiling",
                                NULL);
    }
}

static json_t *marks_json(unsigned marks)
{
    json_t *array = json_array();
    for (unsigned mark = 1; mark <= COMPARISON_UNSTEADY; mark <<= 1) {
        if ((marks & mark) != 0) {
            (void)json_array_append_new(
                array, json_string(comparison_mark_name((enum comparison_mark)mark)));
        }
    }
    return array;
}

static json_t *entry_json(const struct comparison_entry *entry, const char *name)
{
    const struct reading *reading = entry->reading;
    json_t *object = json_object();
    json_put_text(object, "machine", name);
    json_put_number(object, "value", reading->value);
    bool known = isfinite(reading->ci95_low) && isfinite(reading->ci95_high);
    put(object, "ci95",
        known ? json_pack("[f, f]", reading->ci95_low, reading->ci95_high) : json_null());
    json_put_text(object, "origin", origin_name(reading->origin));
    put_count_or_absent(object, "threads", entry->threads);
    if (entry->class_ != NULL && entry->class_[0] != '\0') {
        json_put_text(object, "class", entry->class_);
    }
    put_ratio(object, entry);
    put_differs(object, entry);
    put(object, "marks", marks_json(entry->marks));
    return object;
}

static json_t *row_json(const struct comparison *comparison, const struct comparison_row *row)
{
    json_t *object = json_object();
    json_put_text(object, "name", row->name);
    json_put_text(object, "unit", comparison_unit_name(row->unit));
    json_t *entries = json_array();
    for (size_t i = 0; i < comparison->machine_count; i++) {
        if (row->entries[i].reading != NULL) {
            (void)json_array_append_new(
                entries, entry_json(&row->entries[i], comparison->machines[i].label));
        }
    }
    put(object, "machines", entries);
    return object;
}

static json_t *prediction_json(const struct prediction *prediction)
{
    json_t *object = json_object();
    put(object, "model", prediction_model_json(prediction));
    json_put_text(object, "kv_dtype", dtype_name(prediction->request.kv_dtype));
    json_put_text(object, "ranked_by", "tokens_per_s_bound of the first step");
    json_t *machines = json_array();
    for (size_t i = 0; i < prediction->machine_count; i++) {
        (void)json_array_append_new(
            machines,
            prediction_machine_json(prediction, &prediction->machines[prediction->order[i]]));
    }
    put(object, "machines", machines);
    return object;
}

static void put_body(json_t *document, const struct comparison *comparison,
                     const struct prediction *prediction)
{
    put(document, "complete", json_true());
    json_t *machines = json_array();
    for (size_t i = 0; i < comparison->machine_count; i++) {
        (void)json_array_append_new(machines, machine_json(comparison, i));
    }
    put(document, "machines", machines);
    json_t *rows = json_array();
    for (size_t i = 0; i < comparison->row_count; i++) {
        (void)json_array_append_new(rows, row_json(comparison, &comparison->rows[i]));
    }
    put(document, "ceilings", rows);
    if (prediction != NULL) {
        put(document, "prediction", prediction_json(prediction));
    } else {
        json_put_absent_because(document, "prediction", ABSENT_NOT_ASKED, "no model was given",
                                "-m MODEL");
    }
}

struct status comparison_write(const struct command_context *context,
                               const struct comparison *comparison,
                               const struct prediction *prediction, const char *path,
                               bool to_stdout)
{
    json_t *document = document_new("comparison", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    for (size_t i = 0; i < comparison->unlike_count; i++) {
        char code[64];
        (void)snprintf(code, sizeof code, "unlike_%s", comparison->unlike[i].code);
        document_warn(document, code, comparison->unlike[i].text, NULL);
    }
    if (prediction != NULL) {
        prediction_warn(document, prediction);
    }
    put_body(document, comparison, prediction);
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}
