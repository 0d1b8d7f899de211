#include "profiler/json_text.h"
#include "profiler/place_rows.h"

#include <jansson.h>

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 4, VALUES_MAX = 1 << 23 };

struct reading_json {
    const char *name;
    place_take *take;
    void *context;
    struct place_row row;
};

static struct status too_wide(const struct reading_json *reading)
{
    return status_error(STATUS_INVALID, "%s: row %zu has more than %d values, accepted fewer",
                        reading->name, reading->row.number, (int)PLACE_CELLS_MAX);
}

static struct status add_scalar(struct reading_json *reading, const char *key, const json_t *value)
{
    char number[64] = "";
    const char *text = number;
    switch (json_typeof(value)) {
    case JSON_STRING:
        text = json_string_value(value);
        break;
    case JSON_INTEGER:
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        (void)snprintf(number, sizeof number, "%.17g", json_real_value(value));
        break;
    case JSON_TRUE:
        text = "1";
        break;
    case JSON_FALSE:
        text = "0";
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        return status_ok(); // samples, percentiles: not needed
    }
    return place_row_add(&reading->row, key, strlen(key), text, strlen(text)) ? status_ok()
                                                                              : too_wide(reading);
}

static struct status add_members(struct reading_json *reading, const char *prefix, json_t *object,
                                 unsigned depth)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        char whole[PLACE_KEY];
        (void)snprintf(whole, sizeof whole, "%s%s%s", prefix, prefix[0] == '\0' ? "" : ".", key);
        if (json_is_object(value) && depth < DEPTH_MAX) {
            TRY(add_members(reading, whole, value, depth + 1));
        } else {
            TRY(add_scalar(reading, whole, value));
        }
    }
    return status_ok();
}

static struct status take_object(struct reading_json *reading, json_t *object)
{
    if (!json_is_object(object)) {
        return status_error(STATUS_INVALID, "%s: row %zu is no JSON object, accepted objects",
                            reading->name, reading->row.number + 1);
    }
    if (reading->row.number == PLACE_ROWS_MAX) {
        return status_error(STATUS_INVALID, "%s: found more than %d rows, accepted fewer",
                            reading->name, (int)PLACE_ROWS_MAX);
    }
    reading->row.number++;
    reading->row.count = 0;
    TRY(add_members(reading, "", object, 1));
    return status_prefix(reading->take(reading->context, &reading->row), "%s", reading->name);
}

static struct status take_document(struct reading_json *reading, json_t *document)
{
    if (!json_is_array(document)) {
        return take_object(reading, document);
    }
    size_t index = 0;
    json_t *element = NULL;
    json_array_foreach(document, index, element)
    {
        TRY(take_object(reading, element));
    }
    return status_ok();
}

// Where the next value starts: lines of a log between values are skipped.
static const char *next_value(const char *at)
{
    at += strspn(at, " \t\r\n");
    while (*at != '\0' && *at != '{' && *at != '[') {
        at = strchr(at, '\n');
        if (at == NULL) {
            return NULL;
        }
        at += strspn(at, " \t\r\n");
    }
    return *at == '\0' ? NULL : at;
}

struct status place_rows_json(const char *text, size_t size, const char *name, place_take *take,
                              void *context)
{
    struct reading_json reading = {.name = name, .take = take, .context = context};
    const char *end = text + size;
    TRY(json_text_bounded(text, size, VALUES_MAX, name));
    for (const char *at = next_value(text); at != NULL; at = next_value(at)) {
        json_error_t error;
        json_t *document = json_loadb(at, (size_t)(end - at),
                                      JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
        if (document == NULL) {
            return status_error(STATUS_INVALID, "%s: not JSON behind row %zu: %s", name,
                                reading.row.number, error.text);
        }
        struct status status = take_document(&reading, document);
        json_decref(document);
        TRY(status);
        at += error.position;
    }
    return reading.row.number > 0
               ? status_ok()
               : status_error(STATUS_INVALID, "%s: found no row in it, accepted at least one",
                              name);
}
