#include "profiler/fields_json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_TEXT = 160 };

static void format_place(char *out, const struct json_place *place)
{
    if (place == NULL) {
        out[0] = '\0';
        return;
    }
    format_place(out, place->parent);
    size_t used = strlen(out);
    char *end = out + used;
    size_t room = PLACE_TEXT - used;
    if (place->key == NULL) {
        (void)snprintf(end, room, "[%zu]", place->index);
    } else if (place->parent == NULL || place->parent->parent == NULL) {
        (void)snprintf(end, room, "%s%s", place->key, place->parent == NULL ? ": " : "");
    } else {
        (void)snprintf(end, room, ".%s", place->key);
    }
}

static void describe(char *out, size_t size, const json_t *value)
{
    if (value == NULL) {
        (void)snprintf(out, size, "nothing");
        return;
    }
    switch (json_typeof(value)) {
    case JSON_STRING:
        (void)snprintf(out, size, "\"%.40s\"", json_string_value(value));
        return;
    case JSON_INTEGER:
    case JSON_REAL:
        (void)snprintf(out, size, "%.6g", json_number_value(value));
        return;
    case JSON_OBJECT:
        (void)snprintf(out, size, "an object");
        return;
    case JSON_ARRAY:
        (void)snprintf(out, size, "an array of %zu", json_array_size(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        (void)snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
        return;
    case JSON_NULL:
        (void)snprintf(out, size, "null");
        return;
    }
}

struct status json_place_error(const struct json_place *place, const json_t *value,
                               const char *accepted)
{
    char where[PLACE_TEXT];
    char found[64];
    format_place(where, place);
    describe(found, sizeof found, value);
    bool named = place == NULL || place->parent == NULL; // a document's own name has its colon
    return status_error(STATUS_INVALID, "%s%sfound %s, accepted %s", where, named ? "" : ": ",
                        found, accepted);
}

// Texts of a file end in terminals: an escape sequence in one must not.
static void defuse(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)text[0];
        unsigned char next = (unsigned char)text[1];
        bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080..U+009F in UTF-8
        if (c1) {
            text[1] = '?';
        }
        if (c < 0x20 || c == 0x7f || c1) {
            *text = '?';
        }
    }
}

void text_copy(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memmove(out, text, length);
    out[length] = '\0';
    defuse(out);
}

struct status text_from_json(char *out, size_t size, const json_t *value,
                             const struct json_place *place)
{
    enum { PROSE = 192 };
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)) {
        return json_place_error(place, value, "text");
    }
    if (json_string_length(value) >= size && size < PROSE) {
        char accepted[48];
        (void)snprintf(accepted, sizeof accepted, "text of at most %zu bytes", size - 1);
        return json_place_error(place, value, accepted);
    }
    text_copy(out, size, json_string_value(value));
    return status_ok();
}

static struct reading absent_from_json(const json_t *parent, const char *key)
{
    static const enum absent_state states[] = {ABSENT_NOT_ASKED,          ABSENT_UNSUPPORTED,
                                               ABSENT_NOT_PERMITTED,      ABSENT_NOT_SCHEDULED,
                                               ABSENT_FAILED_CERTIFICATE, ABSENT_FAILED};
    const json_t *why = json_object_get(json_object_get(parent, "why_absent"), key);
    const char *state = json_string_value(json_object_get(why, "state"));
    const char *text = json_string_value(json_object_get(why, "text"));
    const char *try_ = json_string_value(json_object_get(why, "try"));
    for (size_t i = 0; state != NULL && i < sizeof states / sizeof *states; i++) {
        if (strcmp(state, absent_state_name(states[i])) == 0) {
            return reading_absent(states[i], text == NULL ? "" : text, try_);
        }
    }
    return reading_absent(ABSENT_NOT_ASKED, "the file gives no reason", NULL);
}

static struct status finite_from_json(double *out, const json_t *parent, const char *key,
                                      const struct json_place *place)
{
    const json_t *value = json_object_get(parent, key);
    const struct json_place at = {.parent = place, .key = key};
    if (!json_is_number(value)) {
        return json_place_error(&at, value, "a number");
    }
    *out = json_number_value(value);
    return status_ok();
}

static struct status ci95_from_json(struct reading *out, const json_t *value,
                                    const struct json_place *place)
{
    const json_t *pair = json_object_get(value, "ci95");
    out->ci95_low = out->ci95_high = (double)NAN;
    if (pair == NULL || json_is_null(pair)) {
        return status_ok();
    }
    const json_t *low = json_array_get(pair, 0);
    const json_t *high = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_number(low) || !json_is_number(high) ||
        json_number_value(low) > json_number_value(high)) {
        const struct json_place at = {.parent = place, .key = "ci95"};
        return json_place_error(&at, pair, "[low, high], two numbers in order");
    }
    out->ci95_low = json_number_value(low);
    out->ci95_high = json_number_value(high);
    return status_ok();
}

static struct status samples_from_json(struct reading *out, const json_t *value,
                                       const struct json_place *place)
{
    const json_t *samples = json_object_get(value, "samples");
    const struct json_place at = {.parent = place, .key = "samples"};
    if (samples != NULL && !json_is_array(samples)) {
        return json_place_error(&at, samples, "an array of numbers");
    }
    size_t n = json_array_size(samples);
    out->n = n < READING_SAMPLES_MAX ? n : READING_SAMPLES_MAX;
    for (size_t i = 0; i < out->n; i++) {
        const json_t *sample = json_array_get(samples, i);
        const struct json_place element = {.parent = &at, .index = i};
        if (!json_is_number(sample)) {
            return json_place_error(&element, sample, "a number");
        }
        out->samples[i] = json_number_value(sample);
    }
    return status_ok();
}

static struct status origin_from_json(enum origin *out, const json_t *value,
                                      const struct json_place *place)
{
    const char *name = json_string_value(value);
    for (int i = ORIGIN_COUNTED; name != NULL && i <= ORIGIN_IMPORTED; i++) {
        if (strcmp(name, origin_name((enum origin)i)) == 0) {
            *out = (enum origin)i;
            return status_ok();
        }
    }
    return json_place_error(place, value,
                            "counted, timed, modelled, simulated, datasheet or imported");
}

struct status reading_from_json(struct reading *out, const json_t *value, const json_t *parent,
                                const struct json_place *place)
{
    if (value == NULL || json_is_null(value)) {
        *out = absent_from_json(parent, place->key);
        defuse(out->absence.text);
        defuse(out->absence.try_);
        return status_ok();
    }
    if (json_is_number(value)) {
        *out = reading_plain(json_number_value(value), ORIGIN_MODELLED);
        return status_ok();
    }
    if (!json_is_object(value)) {
        return json_place_error(place, value, "a measured or derived number, or null");
    }
    TRY(finite_from_json(&out->value, value, "value", place));
    TRY(ci95_from_json(out, value, place));
    TRY(samples_from_json(out, value, place));
    out->best = out->value;
    if (json_object_get(value, "best") != NULL) {
        TRY(finite_from_json(&out->best, value, "best", place));
    }
    const json_t *from = json_object_get(value, "from");
    if (from == NULL) {
        const struct json_place at = {.parent = place, .key = "origin"};
        return origin_from_json(&out->origin, json_object_get(value, "origin"), &at);
    }
    // A derived number is as good as its least modelled part: its clock, else its counters.
    const char *part = json_object_get(from, "seconds") != NULL ? "seconds" : "bytes";
    const struct json_place at = {.parent = place, .key = "from"};
    const struct json_place last = {.parent = &at, .key = part};
    return origin_from_json(&out->origin, json_object_get(from, part), &last);
}
