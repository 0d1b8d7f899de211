#include "profiler/event_values_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct status event_value_error(const struct event_place *place, const char *key, const char *found,
                                const char *accepted)
{
    if (place->key[0] == '\0') {
        return status_error(STATUS_INVALID, "%s: %s: found %s, accepted %s", place->path, key,
                            found, accepted);
    }
    return status_error(STATUS_INVALID, "%s: %s[%zu].%s: found %s, accepted %s", place->path,
                        place->key, place->index, key, found, accepted);
}

const char *event_value_kind(const json_t *value)
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

bool event_value_absent(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

struct status event_text(const char **out, const struct event_place *place, const json_t *object,
                         const char *key, size_t longest)
{
    const json_t *value = json_object_get(object, key);
    if (event_value_absent(value)) {
        return status_ok();
    }
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0' || strlen(text) > longest) {
        return event_value_error(place, key,
                                 text == NULL ? event_value_kind(value) : "a text of that length",
                                 "a text that is not empty and not long");
    }
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') {
            return event_value_error(place, key, "a control character", "printable text");
        }
    }
    *out = text;
    return status_ok();
}

struct status event_count(uint64_t *out, const struct event_place *place, const json_t *object,
                          const char *key, uint64_t most)
{
    const json_t *value = json_object_get(object, key);
    if (event_value_absent(value)) {
        return status_ok();
    }
    const char *text = json_string_value(value);
    if (text != NULL) {
        char *end = NULL;
        errno = 0;
        *out = strtoull(text, &end, 0);
        if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || *out > most) {
            return event_value_error(place, key, text, "a number within its range, decimal or 0x");
        }
        return status_ok();
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        return event_value_error(place, key, event_value_kind(value),
                                 "a whole number within its range");
    }
    *out = (uint64_t)json_integer_value(value);
    return status_ok();
}

struct status event_unsigned(unsigned *out, const struct event_place *place, const json_t *object,
                             const char *key, unsigned most)
{
    uint64_t value = *out;
    TRY(event_count(&value, place, object, key, most));
    *out = (unsigned)value;
    return status_ok();
}

struct status event_keys(const struct event_place *place, json_t *object, const char *const *keys)
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
            return event_value_error(place, key, "an unknown key",
                                     "the keys that 'lmroof counters --help' lists");
        }
    }
    return status_ok();
}

struct status event_range(unsigned *first, unsigned *last, const struct event_place *place,
                          const json_t *object, const char *key, unsigned most)
{
    const json_t *range = json_object_get(object, key);
    *first = 0;
    *last = most;
    if (event_value_absent(range)) {
        return status_ok();
    }
    json_int_t low = json_integer_value(json_array_get(range, 0));
    json_int_t high = json_integer_value(json_array_get(range, 1));
    if (json_array_size(range) != 2 || !json_is_integer(json_array_get(range, 0)) ||
        !json_is_integer(json_array_get(range, 1)) || low < 0 || high < low ||
        high > (json_int_t)most) {
        return event_value_error(place, key, event_value_kind(range), "[first, last]");
    }
    *first = (unsigned)low;
    *last = (unsigned)high;
    return status_ok();
}
