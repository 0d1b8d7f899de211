#include "profiler/events_json.h"

#include <jansson.h>

#include <errno.h>
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

/** Where in the file an error is. */
struct place {
    const char *path;
    const char *key; /**< of the list; "" at the top */
    size_t index;
};

static struct status bad(const struct place *place, const char *key, const char *found,
                         const char *accepted)
{
    if (place->key[0] == '\0') {
        return status_error(STATUS_INVALID, "%s: %s: found %s, accepted %s", place->path, key,
                            found, accepted);
    }
    return status_error(STATUS_INVALID, "%s: %s[%zu].%s: found %s, accepted %s", place->path,
                        place->key, place->index, key, found, accepted);
}

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return json_string_value(value);
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

static bool is_absent(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

static struct status get_text(const char **out, const struct place *place, const json_t *object,
                              const char *key, size_t longest)
{
    const json_t *value = json_object_get(object, key);
    if (is_absent(value)) {
        return status_ok();
    }
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0' || strlen(text) > longest) {
        return bad(place, key, text == NULL ? kind_of(value) : "a text of that length",
                   "a text that is not empty and not long");
    }
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') {
            return bad(place, key, "a control character", "printable text");
        }
    }
    *out = text;
    return status_ok();
}

// A whole number, in JSON or as text such as "0x1b7".
static struct status get_count(uint64_t *out, const struct place *place, const json_t *object,
                               const char *key, uint64_t most)
{
    const json_t *value = json_object_get(object, key);
    if (is_absent(value)) {
        return status_ok();
    }
    const char *text = json_string_value(value);
    if (text != NULL) {
        char *end = NULL;
        errno = 0;
        *out = strtoull(text, &end, 0);
        if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || *out > most) {
            return bad(place, key, text, "a number within its range, decimal or 0x");
        }
        return status_ok();
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        return bad(place, key, kind_of(value), "a whole number within its range");
    }
    *out = (uint64_t)json_integer_value(value);
    return status_ok();
}

static struct status get_unsigned(unsigned *out, const struct place *place, const json_t *object,
                                  const char *key, unsigned most)
{
    uint64_t value = *out;
    TRY(get_count(&value, place, object, key, most));
    *out = (unsigned)value;
    return status_ok();
}

// Unknown keys are mistakes: a misspelt one would silently count something else.
static struct status check_keys(const struct place *place, json_t *object, const char *const *keys)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0) {
            i++;
        }
        if (keys[i] == NULL) {
            return bad(place, key, "an unknown key",
                       "the keys that 'lmroof counters --help' lists");
        }
    }
    return status_ok();
}

static struct status read_type(struct event_row *row, const struct place *place,
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
    TRY(get_text(&name, place, object, "type", 16));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            row->type = types[i].type;
            return status_ok();
        }
    }
    return bad(place, "type", name, "raw, hardware, sysfs or papi");
}

static struct status read_works(struct event_row *row, const struct place *place,
                                const json_t *object)
{
    const json_t *list = json_object_get(object, "counts");
    if (is_absent(list)) {
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
            return bad(place, "counts", kind_of(value), "names of kernels such as f32-256 or read");
        }
        row->work |= KNOWN_BIT(work);
    }
    return json_is_array(list) ? status_ok() : bad(place, "counts", kind_of(list), "a list");
}

// What the planner relies on.
static struct status check_row(const struct event_row *row, const struct place *place)
{
    bool system = row->pmu != NULL;
    if (row->type == EVENT_TYPE_SYSFS && !system) {
        return bad(place, "pmu", "nothing", "the sysfs PMU of an event of type sysfs");
    }
    if (row->type != EVENT_TYPE_SYSFS && (system || row->terms != NULL || row->papi_pmu != NULL)) {
        return bad(place, "type", "pmu, terms or papi_pmu with another type", "sysfs");
    }
    if (row->type == EVENT_TYPE_NONE && row->event == NULL) {
        return bad(place, "event", "nothing", "the name of an event of type papi");
    }
    const char *names[] = {row->pmu, row->terms};
    for (size_t i = 0; i < 2; i++) {
        if (names[i] != NULL && (strchr(names[i], '/') != NULL || names[i][0] == '.')) {
            return bad(place, i == 0 ? "pmu" : "terms", names[i], "a name without '/'");
        }
    }
    return status_ok();
}

static struct status read_row(struct event_row *row, const struct place *place, json_t *object)
{
    static const char *const keys[] = {"metric",     "rank",   "event", "type",     "config",
                                       "config1",    "pmu",    "terms", "papi_pmu", "weight",
                                       "per_vector", "counts", "note",  NULL};
    const char *metric = "";
    if (!json_is_object(object)) {
        return bad(place, "", kind_of(object), "an object");
    }
    TRY(check_keys(place, object, keys));
    TRY(get_text(&metric, place, object, "metric", 32));
    if (!metric_of_name(&row->metric, metric)) {
        return bad(place, "metric", metric[0] == '\0' ? "nothing" : metric,
                   "a metric that 'lmroof counters' lists");
    }
    TRY(get_unsigned(&row->rank, place, object, "rank", EVENT_RANKS_MAX - 1));
    TRY(get_text(&row->event, place, object, "event", COUNTER_EVENT_TEXT));
    TRY(read_type(row, place, object));
    TRY(get_count(&row->config, place, object, "config", UINT64_MAX));
    TRY(get_count(&row->config1, place, object, "config1", UINT64_MAX));
    TRY(get_text(&row->pmu, place, object, "pmu", 48));
    TRY(get_text(&row->terms, place, object, "terms", COUNTER_EVENT_TEXT));
    TRY(get_text(&row->papi_pmu, place, object, "papi_pmu", 32));
    TRY(get_text(&row->note, place, object, "note", 200));
    const json_t *weight = json_object_get(object, "weight");
    row->weight = json_number_value(weight);
    if (!json_is_number(weight) || !isfinite(row->weight) || !(fabs(row->weight) > 0) ||
        fabs(row->weight) > 1e9) {
        return bad(place, "weight", weight == NULL ? "nothing" : kind_of(weight),
                   "units of the metric per count, not 0");
    }
    const json_t *per_vector = json_object_get(object, "per_vector");
    row->per_vector = json_is_true(per_vector);
    if (!is_absent(per_vector) && !json_is_boolean(per_vector)) {
        return bad(place, "per_vector", kind_of(per_vector), "true or false");
    }
    TRY(read_works(row, place, object));
    return check_row(row, place);
}

static struct status read_range(unsigned *first, unsigned *last, const struct place *place,
                                const json_t *object, const char *key, unsigned most)
{
    const json_t *range = json_object_get(object, key);
    *first = 0;
    *last = most;
    if (is_absent(range)) {
        return status_ok();
    }
    json_int_t low = json_integer_value(json_array_get(range, 0));
    json_int_t high = json_integer_value(json_array_get(range, 1));
    if (json_array_size(range) != 2 || !json_is_integer(json_array_get(range, 0)) ||
        !json_is_integer(json_array_get(range, 1)) || low < 0 || high < low ||
        high > (json_int_t)most) {
        return bad(place, key, kind_of(range), "[first, last]");
    }
    *first = (unsigned)low;
    *last = (unsigned)high;
    return status_ok();
}

static struct status read_match(struct event_match *match, const struct place *place,
                                json_t *object)
{
    static const char *const keys[] = {"vendor", "family", "model", "stepping", NULL};
    if (!json_is_object(object)) {
        return bad(place, "", kind_of(object), "an object");
    }
    TRY(check_keys(place, object, keys));
    TRY(get_text(&match->vendor, place, object, "vendor", 31));
    if (match->vendor == NULL) {
        return bad(place, "vendor", "nothing", "a CPU vendor such as AuthenticAMD, or 0x41");
    }
    TRY(get_unsigned(&match->family, place, object, "family", 4096));
    TRY(read_range(&match->model_first, &match->model_last, place, object, "model", 65535));
    return read_range(&match->stepping_first, &match->stepping_last, place, object, "stepping",
                      255);
}

static struct status read_absent(struct event_table *table, const struct place *place,
                                 json_t *object)
{
    json_t *list = json_object_get(object, "absent");
    const char *key = NULL;
    json_t *value = NULL;
    if (!is_absent(list) && !json_is_object(list)) {
        return bad(place, "absent", kind_of(list), "an object of metric and reason");
    }
    json_object_foreach(list, key, value)
    {
        enum metric metric = METRIC_COUNT;
        if (!metric_of_name(&metric, key)) {
            return bad(place, "absent", key, "names of metrics");
        }
        TRY(get_text(&table->absent[metric], place, list, key, 120));
    }
    return status_ok();
}

static struct status read_lists(struct event_file *file, const char *path)
{
    struct place place = {.path = path, .key = "match"};
    json_t *value = NULL;
    const json_t *matches = json_object_get(file->document, "match");
    const json_t *events = json_object_get(file->document, "events");
    if ((!is_absent(matches) && !json_is_array(matches)) ||
        json_array_size(matches) > MATCHES_MAX) {
        return bad(&(struct place){.path = path, .key = ""}, "match", kind_of(matches),
                   "a list of at most 64 CPUs");
    }
    json_array_foreach(matches, place.index, value)
    {
        TRY(read_match(&file->matches[place.index], &place, value));
    }
    size_t count = json_array_size(events);
    if (count == 0 || count > EVENT_FILE_ROWS_MAX) {
        return bad(&(struct place){.path = path, .key = ""}, "events",
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
    const struct place place = {.path = path, .key = ""};
    const char *schema = "nothing";
    struct event_table *table = &file->table;
    *table = (struct event_table){.name = "file",
                                  .family = "from a file",
                                  .matches = file->matches,
                                  .pmus = "",
                                  .rows = file->rows,
                                  .source = "the user's file"};
    if (!json_is_object(file->document)) {
        return bad(&place, "the file", kind_of(file->document), "an object");
    }
    TRY(check_keys(&place, file->document, keys));
    TRY(get_text(&schema, &place, file->document, "schema", 32));
    if (strcmp(schema, "lmroof.events/1") != 0) {
        return bad(&place, "schema", schema, "lmroof.events/1");
    }
    TRY(get_text(&table->name, &place, file->document, "name", 48));
    TRY(get_text(&table->family, &place, file->document, "family", 96));
    TRY(get_text(&table->pmus, &place, file->document, "pmus", 96));
    TRY(get_text(&table->core_pmu, &place, file->document, "core_pmu", 48));
    TRY(get_text(&table->source, &place, file->document, "source", 300));
    TRY(get_unsigned(&table->counters, &place, file->document, "counters", 64));
    TRY(get_unsigned(&table->width_bits, &place, file->document, "width_bits", 64));
    TRY(read_absent(table, &place, file->document));
    return read_lists(file, path);
}

static struct status load(json_t **out, const char *path)
{
    json_error_t error;
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return status_error(STATUS_INVALID, "%s: cannot read the event file: %s", path,
                            strerror(errno));
    }
    char *text = calloc(1, EVENT_FILE_BYTES_MAX + 1);
    size_t size = text == NULL ? 0 : fread(text, 1, EVENT_FILE_BYTES_MAX, stream);
    bool whole = text != NULL && feof(stream) != 0;
    (void)fclose(stream);
    *out = whole ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    free(text);
    if (!whole) {
        return status_error(STATUS_INVALID,
                            "%s: cannot be read as a whole; accepted: an event "
                            "file of at most 1 MiB",
                            path);
    }
    if (*out == NULL) {
        return status_error(STATUS_INVALID, "%s: line %d: not JSON: %s", path, error.line,
                            error.text);
    }
    return status_ok();
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
