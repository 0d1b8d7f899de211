#include "profiler/fields_json.h"

#include "profiler/document_json.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *at(void *object, size_t offset)
{
    return (char *)object + offset;
}

static void put_derived(json_t *out, const char *key, const struct reading *reading, unsigned from)
{
    struct derived_from origins = {ORIGIN_ABSENT, ORIGIN_ABSENT, ORIGIN_ABSENT};
    if ((from & (FROM_FLOP | FROM_FLOP_COUNTED)) != 0) {
        origins.flop = (from & FROM_FLOP) != 0 ? ORIGIN_MODELLED : ORIGIN_COUNTED;
    }
    if ((from & (FROM_BYTES | FROM_BYTES_COUNTED)) != 0) {
        origins.bytes = (from & FROM_BYTES) != 0 ? ORIGIN_MODELLED : ORIGIN_COUNTED;
    }
    if ((from & FROM_SECONDS) != 0) {
        origins.seconds = reading->origin;
    }
    json_put_derived(out, key, reading, origins);
}

static void put_modelled(json_t *out, const char *key, const struct reading *reading)
{
    if (reading_is_present(reading)) {
        json_put_number(out, key, reading->value);
    } else {
        json_put_absent(out, key, &reading->absence);
    }
}

static void put_array(json_t *out, const void *object, const struct field *field)
{
    const char *elements = field->kind == FIELD_LIST ? *(const char *const *)field_of(object, field)
                                                     : field_of(object, field);
    size_t count = *(const size_t *)(const void *)((const char *)object + field->count_offset);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *element = json_object();
        fields_to_json(element, elements + i * field->element_bytes, field->fields);
        (void)json_array_append_new(array, element);
    }
    (void)json_object_set_new(out, field->key, array);
}

static void put_value(json_t *out, const void *object, const struct field *field)
{
    const void *value = field_of(object, field);
    json_t *members = NULL;
    switch (field->kind) {
    case FIELD_TEXT:
        json_put_text(out, field->key, value);
        break;
    case FIELD_UNSIGNED:
        json_put_count(out, field->key, *(const unsigned *)value);
        break;
    case FIELD_U64:
        json_put_count(out, field->key, *(const uint64_t *)value);
        break;
    case FIELD_NUMBER:
        json_put_number(out, field->key, *(const double *)value);
        break;
    case FIELD_BOOL:
        (void)json_object_set_new(out, field->key, json_boolean(*(const bool *)value));
        break;
    case FIELD_MEASURED:
        json_put_measured(out, field->key, value);
        break;
    case FIELD_DERIVED:
        put_derived(out, field->key, value,
                    field->from_of != NULL ? field->from_of(object) : field->from);
        break;
    case FIELD_MODELLED:
        put_modelled(out, field->key, value);
        break;
    case FIELD_OBJECT:
        members = json_object();
        fields_to_json(members, object, field->fields);
        (void)json_object_set_new(out, field->key, members);
        break;
    case FIELD_ARRAY:
    case FIELD_LIST:
        put_array(out, object, field);
        break;
    case FIELD_WORD:
        json_put_text(out, field->key, field->word(object));
        break;
    case FIELD_CUSTOM:
        field->to_json(out, field->key, object);
        break;
    }
}

static bool is_reading(const struct field *field)
{
    return field->kind == FIELD_MEASURED || field->kind == FIELD_DERIVED ||
           field->kind == FIELD_MODELLED;
}

static bool may_be_null(const struct field *field)
{
    return field->kind == FIELD_NUMBER || is_reading(field) ||
           (field->flags & (FIELD_EMPTY_ABSENT | FIELD_EMPTY_NULL)) != 0;
}

static void put_null(json_t *out, const void *object, const struct field *field)
{
    struct absence absence = {.state = ABSENT_NOT_ASKED};
    const struct reading *reading = field_of(object, field);
    if (is_reading(field) && reading_is_present(reading)) {
        absence =
            reading_absent(ABSENT_FAILED, "what it is computed from is missing or 0", NULL).absence;
    } else if (is_reading(field)) {
        absence = reading->absence;
    }
    if (absence.text[0] == '\0') {
        (void)snprintf(absence.text, sizeof absence.text, "%s",
                       field->why == NULL ? "not measured in this run" : field->why);
    }
    json_put_absent(out, field->key, &absence);
}

void fields_to_json(json_t *out, const void *object, const struct field *fields)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        bool empty = field_is_empty(object, field);
        if (empty && (field->flags & FIELD_EMPTY_OMIT) != 0) {
            continue;
        }
        if (empty && (field->flags & FIELD_EMPTY_NULL) != 0) {
            (void)json_object_set_new(out, field->key, json_null());
        } else if (empty && may_be_null(field)) {
            put_null(out, object, field);
        } else {
            put_value(out, object, field);
        }
    }
    // why_absent goes last, after the keys that it explains.
    json_t *reasons = json_incref(json_object_get(out, "why_absent"));
    if (reasons != NULL) {
        (void)json_object_del(out, "why_absent");
        (void)json_object_set_new(out, "why_absent", reasons);
    }
}

static struct status integer_from_json(uint64_t *out, uint64_t max, const json_t *value,
                                       const struct json_place *place)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > max) {
        return json_place_error(place, value, "a whole number that is not negative");
    }
    *out = (uint64_t)json_integer_value(value);
    return status_ok();
}

static struct status elements_from_json(char *elements, const json_t *value,
                                        const struct field *field, const struct json_place *place)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct json_place element = {.parent = place, .index = i};
        TRY(fields_from_json(elements + i * field->element_bytes, json_array_get(value, i),
                             field->fields, &element));
    }
    return status_ok();
}

static struct status array_from_json(void *object, json_t *value, const struct field *field,
                                     const struct json_place *place)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > field->max) {
        char accepted[64];
        (void)snprintf(accepted, sizeof accepted, "an array of at most %zu", field->max);
        return json_place_error(place, value, accepted);
    }
    char *elements = at(object, field->offset);
    if (field->kind == FIELD_LIST && count > 0) {
        elements = calloc(count, field->element_bytes);
        if (elements == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for %zu elements of '%s'", count,
                                field->key);
        }
        *(char **)at(object, field->offset) = elements;
    }
    *(size_t *)at(object, field->count_offset) = count;
    return elements_from_json(elements, value, field, place);
}

static struct status value_from_json(void *object, const json_t *parent, json_t *value,
                                     const struct field *field, const struct json_place *place)
{
    void *out = at(object, field->offset);
    uint64_t number = 0;
    switch (field->kind) {
    case FIELD_TEXT:
        return text_from_json(out, field->size, value, place);
    case FIELD_UNSIGNED:
        TRY(integer_from_json(&number, UINT_MAX, value, place));
        *(unsigned *)out = (unsigned)number;
        return status_ok();
    case FIELD_U64:
        return integer_from_json(out, INT64_MAX, value, place);
    case FIELD_NUMBER:
        if (!json_is_number(value)) {
            return json_place_error(place, value, "a number or null");
        }
        *(double *)out = json_number_value(value);
        return status_ok();
    case FIELD_BOOL:
        if (!json_is_boolean(value)) {
            return json_place_error(place, value, "true or false");
        }
        *(bool *)out = json_is_true(value);
        return status_ok();
    case FIELD_MEASURED:
    case FIELD_DERIVED:
    case FIELD_MODELLED:
        return reading_from_json(out, value, parent, place);
    case FIELD_OBJECT:
        return fields_from_json(object, value, field->fields, place);
    case FIELD_ARRAY:
    case FIELD_LIST:
        return array_from_json(object, value, field, place);
    case FIELD_WORD:
        if (!json_is_string(value) || !field->find_word(object, json_string_value(value))) {
            return json_place_error(place, value, field->accepted);
        }
        return status_ok();
    case FIELD_CUSTOM:
        break;
    }
    return field->from_json(object, value, place);
}

static void set_absent(void *object, const struct field *field)
{
    if (field->kind == FIELD_NUMBER) {
        *(double *)at(object, field->offset) = (double)NAN;
    } else if (field->kind == FIELD_OBJECT) {
        for (const struct field *member = field->fields; member->key != NULL; member++) {
            set_absent(object, member);
        }
    }
}

struct status fields_from_json(void *object, const json_t *json, const struct field *fields,
                               const struct json_place *place)
{
    if (!json_is_object(json)) {
        return json_place_error(place, json, "an object");
    }
    for (const struct field *field = fields; field->key != NULL; field++) {
        json_t *value = json_object_get(json, field->key);
        const struct json_place member = {.parent = place, .key = field->key};
        if (value == NULL && (field->flags & FIELD_REQUIRED) != 0) {
            return json_place_error(&member, NULL, "this key, which every such object has");
        }
        if ((value == NULL || json_is_null(value)) && !is_reading(field)) {
            if (value != NULL && !may_be_null(field)) {
                bool list = field->kind == FIELD_LIST || field->kind == FIELD_ARRAY;
                return json_place_error(&member, value,
                                        list ? "an array, which may be empty"
                                             : "a value other than null");
            }
            set_absent(object, field);
            continue;
        }
        TRY(value_from_json(object, json, value, field, &member));
    }
    return status_ok();
}
