#include "roofline/model.h"
#include "workloads/config_keys.h"
#include "workloads/config_tree_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64, VALUE_TEXT = 80 };

void config_printable(char *out, size_t size, const char *text)
{
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < size; i++) {
        bool plain = text[i] >= 0x20 && text[i] < 0x7f;
        out[i] = (char)(plain ? text[i] : '?');
    }
    out[i] = '\0';
}

const char *config_label(const struct config *config)
{
    return config->label;
}

bool config_is_nested(const struct config *config)
{
    return config->nested;
}

void config_release(struct config *config)
{
    for (size_t i = 0; i < config->child_count; i++) {
        config_release(config->children[i]);
        free(config->children[i]);
    }
    config->child_count = 0;
}

void config_describe(char *out, size_t size, const json_t *value)
{
    char text[48];
    if (value == NULL) {
        (void)snprintf(out, size, "nothing");
    } else if (json_is_integer(value)) {
        (void)snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        // A point, so that 64.0 is not told as the 64 that would have been accepted.
        (void)snprintf(text, sizeof text, "%.17g", json_real_value(value));
        (void)snprintf(out, size, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
    } else if (json_is_string(value)) {
        config_printable(text, sizeof text, json_string_value(value));
        (void)snprintf(out, size, "the text '%s'", text);
    } else if (json_is_boolean(value)) {
        (void)snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
    } else {
        (void)snprintf(out, size, "%s",
                       json_is_null(value)    ? "null"
                       : json_is_array(value) ? "a list"
                                              : "an object");
    }
}

struct status config_error(const struct config *config, const char *name, const char *format, ...)
{
    char text[256];
    char printable[NAME_MAX_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config_printable(printable, sizeof printable, name);
    return status_error(STATUS_INVALID, "%s: key '%s%s%s': %s", config->label, config->path,
                        config->path[0] == 0 ? "" : ".", printable, text);
}

static struct status wrong_value(const struct config *config, const char *name, const json_t *value,
                                 const char *accepted)
{
    char found[VALUE_TEXT];
    config_describe(found, sizeof found, value);
    return config_error(config, name, "found %s, accepted %s", found, accepted);
}

static void mark_seen(struct config *config, const char *names)
{
    for (size_t i = 0; i < config->seen_count; i++) {
        if (strcmp(config->seen[i], names) == 0) {
            return;
        }
    }
    if (config->seen_count < CONFIG_SEEN_MAX) {
        config->seen[config->seen_count++] = names;
    }
}

void config_ignore(struct config *config, const char *names)
{
    mark_seen(config, names);
}

// Copies the next alternative of "a|b" into name; returns the rest, or NULL after the last.
static const char *next_name(char *name, const char *names)
{
    size_t length = strcspn(names, "|");
    (void)snprintf(name, NAME_MAX_BYTES, "%.*s", (int)length, names);
    return names[length] == '|' ? names + length + 1 : NULL;
}

bool config_name_matches(const char *names, const char *name)
{
    char one[NAME_MAX_BYTES];
    while (names != NULL) {
        names = next_name(one, names);
        if (strcmp(one, name) == 0) {
            return true;
        }
    }
    return false;
}

// The value of the first alternative that is present and not null, its name in `name`; NULL if
// there is none (name: the first alternative). Values of further alternatives must be equal.
static struct status find_value(const json_t **out, char *name, struct config *config,
                                const char *names)
{
    mark_seen(config, names);
    *out = NULL;
    (void)next_name(name, names);
    const char *rest = names;
    while (rest != NULL) {
        char one[NAME_MAX_BYTES];
        rest = next_name(one, rest);
        const json_t *value = json_object_get(config->object, one);
        if (value == NULL || json_is_null(value)) {
            continue;
        }
        if (*out != NULL && !json_equal(*out, value)) {
            char found[VALUE_TEXT];
            config_describe(found, sizeof found, *out);
            char accepted[VALUE_TEXT + NAME_MAX_BYTES + 40];
            (void)snprintf(accepted, sizeof accepted, "the %s of key '%s', which means the same",
                           found, name);
            return wrong_value(config, one, value, accepted);
        }
        if (*out == NULL) {
            *out = value;
            memcpy(name, one, sizeof one);
        }
    }
    return status_ok();
}

bool config_has(struct config *config, const char *names)
{
    mark_seen(config, names);
    while (names != NULL) {
        char one[NAME_MAX_BYTES];
        names = next_name(one, names);
        const json_t *value = json_object_get(config->object, one);
        if (value != NULL && !json_is_null(value)) {
            return true;
        }
    }
    return false;
}

bool config_is_null(const struct config *config, const char *names)
{
    while (names != NULL) {
        char one[NAME_MAX_BYTES];
        names = next_name(one, names);
        const json_t *value = json_object_get(config->object, one);
        if (value != NULL && json_is_null(value)) {
            return true;
        }
    }
    return false;
}

static struct status read_uint(uint64_t *out, const struct config *config, const char *name,
                               const json_t *value, uint64_t low, uint64_t high)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        if (*out >= low && *out <= high) {
            return status_ok();
        }
    }
    char accepted[96];
    (void)snprintf(accepted, sizeof accepted, "an integer %" PRIu64 "..%" PRIu64, low, high);
    return wrong_value(config, name, value, accepted);
}

struct status config_uint(uint64_t *out, struct config *config, const char *names,
                          uint64_t default_value, uint64_t low, uint64_t high)
{
    const json_t *value = NULL;
    char name[NAME_MAX_BYTES];
    TRY(find_value(&value, name, config, names));
    if (value == NULL && default_value == CONFIG_REQUIRED) {
        const json_t *there = json_object_get(config->object, name);
        return read_uint(out, config, name, there, low, high);
    }
    if (value == NULL) {
        *out = default_value;
        return status_ok();
    }
    return read_uint(out, config, name, value, low, high);
}

struct status config_uint_not_null(uint64_t *out, struct config *config, const char *names,
                                   uint64_t default_value, uint64_t low, uint64_t high)
{
    bool null = config_is_null(config, names);
    return config_uint(out, config, names, null ? CONFIG_REQUIRED : default_value, low, high);
}

struct status config_bool(bool *out, struct config *config, const char *name, bool default_value)
{
    mark_seen(config, name);
    const json_t *value = json_object_get(config->object, name);
    *out = value == NULL ? default_value : json_is_true(value);
    if (value == NULL || json_is_boolean(value) || json_is_null(value)) {
        return status_ok();
    }
    return wrong_value(config, name, value, "true or false");
}

struct status config_expect_bool(struct config *config, const char *name, bool expected,
                                 const char *why)
{
    bool value = expected;
    TRY(config_bool(&value, config, name, expected));
    return value == expected
               ? status_ok()
               : config_error(config, name, "found %s, accepted %s: %s", value ? "true" : "false",
                              expected ? "true" : "false", why);
}

struct status config_expect_text(struct config *config, const char *name, const char *words)
{
    char text[64];
    TRY(config_text(text, sizeof text, config, name));
    if (text[0] == '\0' || config_name_matches(words, text)) {
        return status_ok();
    }
    char printable[sizeof text];
    config_printable(printable, sizeof printable, text);
    return config_error(config, name, "found '%s', accepted %s", printable, words);
}

struct status config_real(double *out, struct config *config, const char *name,
                          double default_value)
{
    mark_seen(config, name);
    const json_t *value = json_object_get(config->object, name);
    *out = default_value;
    if (value == NULL || json_is_null(value)) {
        return status_ok();
    }
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out >= 0)) {
        return wrong_value(config, name, value, "a number of at least 0");
    }
    return status_ok();
}

struct status config_text(char *out, size_t size, struct config *config, const char *name)
{
    mark_seen(config, name);
    const json_t *value = json_object_get(config->object, name);
    out[0] = '\0';
    if (value == NULL || json_is_null(value)) {
        return status_ok();
    }
    if (!json_is_string(value)) {
        return wrong_value(config, name, value, "a text");
    }
    (void)snprintf(out, size, "%s", json_string_value(value));
    return status_ok();
}

struct status config_uint_list(uint64_t *out, size_t max, size_t *count, struct config *config,
                               const char *name)
{
    mark_seen(config, name);
    const json_t *list = json_object_get(config->object, name);
    *count = SIZE_MAX;
    if (list == NULL || json_is_null(list)) {
        return status_ok();
    }
    if (!json_is_array(list) || json_array_size(list) > max) {
        char accepted[64];
        (void)snprintf(accepted, sizeof accepted, "a list of at most %zu integers", max);
        return wrong_value(config, name, list, accepted);
    }
    *count = json_array_size(list);
    for (size_t i = 0; i < *count; i++) {
        TRY(read_uint(&out[i], config, name, json_array_get(list, i), 0, MODEL_DIM_MAX));
    }
    return status_ok();
}

static struct status find_word(uint8_t *out, const struct config *config, const char *name,
                               const json_t *value, const char *const *words, size_t word_count)
{
    const char *text = json_string_value(value);
    char accepted[160] = "the words";
    for (size_t w = 0; w < word_count; w++) {
        if (text != NULL && strcmp(text, words[w]) == 0) {
            *out = (uint8_t)w;
            return status_ok();
        }
        size_t used = strlen(accepted);
        (void)snprintf(accepted + used, sizeof accepted - used, " %s", words[w]);
    }
    return wrong_value(config, name, value, accepted);
}

struct status config_word_list(uint8_t *out, bool *present, size_t layers, struct config *config,
                               const char *name, const char *const *words, size_t word_count)
{
    mark_seen(config, name);
    const json_t *list = json_object_get(config->object, name);
    *present = list != NULL && !json_is_null(list);
    if (!*present) {
        return status_ok();
    }
    if (!json_is_array(list)) {
        return wrong_value(config, name, list, "a list of words, one per layer");
    }
    if (json_array_size(list) != layers) {
        return config_error(config, name, "found a list of %zu, accepted one of %zu, the layers",
                            json_array_size(list), layers);
    }
    for (size_t i = 0; i < layers; i++) {
        TRY(find_word(&out[i], config, name, json_array_get(list, i), words, word_count));
    }
    return status_ok();
}

void config_drop_object(struct config *config)
{
    struct config *last = config->children[--config->child_count];
    config_release(last);
    free(last);
}

struct status config_object(struct config **out, struct config *config, const char *name)
{
    mark_seen(config, name);
    json_t *value = json_object_get(config->object, name);
    *out = NULL;
    if (value == NULL || json_is_null(value)) {
        return status_ok();
    }
    if (!json_is_object(value)) {
        return wrong_value(config, name, value, "an object");
    }
    struct config *child =
        config->child_count < CONFIG_CHILDREN_MAX ? calloc(1, sizeof *child) : NULL;
    if (child == NULL) {
        return status_error(STATUS_SYSTEM, "%s: no memory for key '%s'", config->label, name);
    }
    child->object = value;
    child->label = config->label;
    child->path = name;
    child->nested = true;
    config->children[config->child_count++] = child;
    *out = child;
    return status_ok();
}
