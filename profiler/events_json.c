#include "profiler/events_json.h"

#include "profiler/event_values_json.h"
#include "profiler/input.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MATCHES_MAX = 64 };

struct event_file {
    json_t *document; /**< owns every text of the table */
    struct event_table table;
    struct event_match matches[MATCHES_MAX + 1];
    struct event_row rows[EVENT_FILE_ROWS_MAX];
};

static struct status read_type(struct event_row *row, const struct event_place *place,
                               const json_t *object)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {{"raw", EVENT_TYPE_RAW},
                 {"hardware", EVENT_TYPE_HARDWARE},
                 {"sysfs", EVENT_TYPE_SYSFS},
                 {"papi", EVENT_TYPE_NONE}};
    const char *name = "raw";
    TRY(event_text(&name, place, object, "type", 16));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            row->type = types[i].type;
            return status_ok();
        }
    }
    return event_value_error(place, "type", name, "raw, hardware, sysfs or papi");
}

static struct status read_works(struct event_row *row, const struct event_place *place,
                                const json_t *object)
{
    const json_t *list = json_object_get(object, "counts");
    if (event_value_absent(list)) {
        return status_ok();
    }
    size_t i = 0;
    json_t *value = NULL;
    json_array_foreach(list, i, value)
    {
        const char *name = json_string_value(value);
        unsigned work = 0;
        while (name != NULL && work < KNOWN_WORK_COUNT &&
               strcmp(known_work_name((enum known_work)work), name) != 0) {
            work++;
        }
        if (name == NULL || work == KNOWN_WORK_COUNT) {
            return event_value_error(place, "counts", event_value_kind(value),
                                     "names of kernels such as f32-256 or read");
        }
        row->work |= KNOWN_BIT(work);
    }
    return json_is_array(list)
               ? status_ok()
               : event_value_error(place, "counts", event_value_kind(list), "a list");
}

// What the planner relies on.
static struct status check_row(const struct event_row *row, const struct event_place *place)
{
    bool system = row->pmu != NULL;
    if (row->type == EVENT_TYPE_SYSFS && !system) {
        return event_value_error(place, "pmu", "nothing",
                                 "the sysfs PMU of an event of type sysfs");
    }
    if (row->type != EVENT_TYPE_SYSFS && (system || row->terms != NULL || row->papi_pmu != NULL)) {
        return event_value_error(place, "type", "pmu, terms or papi_pmu with another type",
                                 "sysfs");
    }
    if (row->type == EVENT_TYPE_NONE && row->event == NULL) {
        return event_value_error(place, "event", "nothing", "the name of an event of type papi");
    }
    const char *names[] = {row->pmu, row->terms};
    for (size_t i = 0; i < 2; i++) {
        if (names[i] != NULL && (strchr(names[i], '/') != NULL || names[i][0] == '.')) {
            return event_value_error(place, i == 0 ? "pmu" : "terms", names[i],
                                     "a name without '/'");
        }
    }
    return status_ok();
}

static struct status read_row(struct event_row *row, const struct event_place *place,
                              json_t *object)
{
    static const char *const keys[] = {"metric",     "rank",   "event", "type",     "config",
                                       "config1",    "pmu",    "terms", "papi_pmu", "weight",
                                       "per_vector", "counts", "note",  NULL};
    const char *metric = "";
    if (!json_is_object(object)) {
        return event_value_error(place, "", event_value_kind(object), "an object");
    }
    TRY(event_keys(place, object, keys));
    TRY(event_text(&metric, place, object, "metric", 32));
    if (!metric_of_name(&row->metric, metric)) {
        return event_value_error(place, "metric", metric[0] == '\0' ? "nothing" : metric,
                                 "a metric that 'lmroof counters' lists");
    }
    TRY(event_unsigned(&row->rank, place, object, "rank", EVENT_RANKS_MAX - 1));
    TRY(event_text(&row->event, place, object, "event", COUNTER_EVENT_TEXT));
    TRY(read_type(row, place, object));
    TRY(event_count(&row->config, place, object, "config", UINT64_MAX));
    TRY(event_count(&row->config1, place, object, "config1", UINT64_MAX));
    TRY(event_text(&row->pmu, place, object, "pmu", 48));
    TRY(event_text(&row->terms, place, object, "terms", COUNTER_EVENT_TEXT));
    TRY(event_text(&row->papi_pmu, place, object, "papi_pmu", 32));
    TRY(event_text(&row->note, place, object, "note", 200));
    const json_t *weight = json_object_get(object, "weight");
    row->weight = json_number_value(weight);
    if (!json_is_number(weight) || !isfinite(row->weight) || !(fabs(row->weight) > 0) ||
        fabs(row->weight) > 1e9) {
        return event_value_error(place, "weight",
                                 weight == NULL ? "nothing" : event_value_kind(weight),
                                 "units of the metric per count, not 0");
    }
    const json_t *per_vector = json_object_get(object, "per_vector");
    row->per_vector = json_is_true(per_vector);
    if (!event_value_absent(per_vector) && !json_is_boolean(per_vector)) {
        return event_value_error(place, "per_vector", event_value_kind(per_vector),
                                 "true or false");
    }
    TRY(read_works(row, place, object));
    return check_row(row, place);
}

static struct status read_match(struct event_match *match, const struct event_place *place,
                                json_t *object)
{
    static const char *const keys[] = {"vendor", "family", "model", "stepping", NULL};
    if (!json_is_object(object)) {
        return event_value_error(place, "", event_value_kind(object), "an object");
    }
    TRY(event_keys(place, object, keys));
    TRY(event_text(&match->vendor, place, object, "vendor", 31));
    if (match->vendor == NULL) {
        return event_value_error(place, "vendor", "nothing",
                                 "a CPU vendor such as AuthenticAMD, or 0x41");
    }
    TRY(event_unsigned(&match->family, place, object, "family", 4096));
    TRY(event_range(&match->model_first, &match->model_last, place, object, "model", 65535));
    return event_range(&match->stepping_first, &match->stepping_last, place, object, "stepping",
                       255);
}

static struct status read_absent(struct event_table *table, const struct event_place *place,
                                 json_t *object)
{
    json_t *list = json_object_get(object, "absent");
    const char *key = NULL;
    json_t *value = NULL;
    if (!event_value_absent(list) && !json_is_object(list)) {
        return event_value_error(place, "absent", event_value_kind(list),
                                 "an object of metric and reason");
    }
    json_object_foreach(list, key, value)
    {
        enum metric metric = METRIC_COUNT;
        if (!metric_of_name(&metric, key)) {
            return event_value_error(place, "absent", key, "names of metrics");
        }
        TRY(event_text(&table->absent[metric], place, list, key, 120));
    }
    return status_ok();
}

static struct status read_lists(struct event_file *file, const char *path)
{
    struct event_place place = {.path = path, .key = "match"};
    json_t *value = NULL;
    const json_t *matches = json_object_get(file->document, "match");
    const json_t *events = json_object_get(file->document, "events");
    if ((!event_value_absent(matches) && !json_is_array(matches)) ||
        json_array_size(matches) > MATCHES_MAX) {
        return event_value_error(&(struct event_place){.path = path, .key = ""}, "match",
                                 event_value_kind(matches), "a list of at most 64 CPUs");
    }
    json_array_foreach(matches, place.index, value)
    {
        TRY(read_match(&file->matches[place.index], &place, value));
    }
    size_t count = json_array_size(events);
    if (count == 0 || count > EVENT_FILE_ROWS_MAX) {
        return event_value_error(&(struct event_place){.path = path, .key = ""}, "events",
                                 events == NULL ? "nothing" : "a list of another length",
                                 "a list of 1 to 512 events");
    }
    place.key = "events";
    json_array_foreach(events, place.index, value)
    {
        TRY(read_row(&file->rows[place.index], &place, value));
    }
    file->table.row_count = count;
    return status_ok();
}

static struct status read_table(struct event_file *file, const char *path)
{
    static const char *const keys[] = {"schema", "name",     "family",   "match",
                                       "pmus",   "core_pmu", "counters", "width_bits",
                                       "events", "absent",   "source",   NULL};
    const struct event_place place = {.path = path, .key = ""};
    const char *schema = "nothing";
    struct event_table *table = &file->table;
    *table = (struct event_table){.name = "file",
                                  .family = "from a file",
                                  .matches = file->matches,
                                  .pmus = "",
                                  .rows = file->rows,
                                  .source = "the user's file"};
    if (!json_is_object(file->document)) {
        return event_value_error(&place, "the file", event_value_kind(file->document), "an object");
    }
    TRY(event_keys(&place, file->document, keys));
    TRY(event_text(&schema, &place, file->document, "schema", 32));
    if (strcmp(schema, "lmroof.events/1") != 0) {
        return event_value_error(&place, "schema", schema, "lmroof.events/1");
    }
    TRY(event_text(&table->name, &place, file->document, "name", 48));
    TRY(event_text(&table->family, &place, file->document, "family", 96));
    TRY(event_text(&table->pmus, &place, file->document, "pmus", 96));
    TRY(event_text(&table->core_pmu, &place, file->document, "core_pmu", 48));
    TRY(event_text(&table->source, &place, file->document, "source", 300));
    TRY(event_unsigned(&table->counters, &place, file->document, "counters", 64));
    TRY(event_unsigned(&table->width_bits, &place, file->document, "width_bits", 64));
    TRY(read_absent(table, &place, file->document));
    return read_lists(file, path);
}

static struct status parse_document(json_t **out, const char *text, size_t size, const char *path)
{
    json_error_t error;
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    return *out != NULL ? status_ok()
                        : status_error(STATUS_INVALID, "%s: line %d: not JSON: %s", path,
                                       error.line, error.text);
}

static struct status load(json_t **out, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    struct status status = input_read(&text, &size, path, EVENT_FILE_BYTES_MAX);
    if (status_is_ok(status)) {
        status = parse_document(out, text, size, path);
    }
    free(text);
    return status.code == STATUS_INTERRUPTED ? status : status_prefix(status, "event file");
}

struct status event_file_read(struct event_file **out, const char *path)
{
    struct event_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the events of %s", path);
    }
    struct status status = load(&file->document, path);
    if (status_is_ok(status)) {
        status = read_table(file, path);
    }
    if (!status_is_ok(status)) {
        event_file_free(file);
        return status;
    }
    *out = file;
    return status_ok();
}

const struct event_table *event_file_table(const struct event_file *file)
{
    return file == NULL ? NULL : &file->table;
}

void event_file_free(struct event_file *file)
{
    if (file != NULL) {
        json_decref(file->document);
        free(file);
    }
}
