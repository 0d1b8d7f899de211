#include "workloads/gguf_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The shortest pair: key of one byte (9), type (4), value of one byte.
enum { PAIR_BYTES_MIN = 14 };

static const struct {
    const char *name;
    size_t bytes; // 0: not of fixed size
} types[GGUF_VALUE_TYPES] = {
    [GGUF_UINT8] = {"uint8", 1},     [GGUF_INT8] = {"int8", 1},     [GGUF_UINT16] = {"uint16", 2},
    [GGUF_INT16] = {"int16", 2},     [GGUF_UINT32] = {"uint32", 4}, [GGUF_INT32] = {"int32", 4},
    [GGUF_FLOAT32] = {"float32", 4}, [GGUF_BOOL] = {"bool", 1},     [GGUF_STRING] = {"string", 0},
    [GGUF_ARRAY] = {"array", 0},     [GGUF_UINT64] = {"uint64", 8}, [GGUF_INT64] = {"int64", 8},
    [GGUF_FLOAT64] = {"float64", 8},
};

static struct status read_error(const struct gguf *gguf, const char *key)
{
    char what[GGUF_SHOWN + 32];
    (void)snprintf(what, sizeof what, "the value of key '%.*s'", GGUF_SHOWN, key);
    return gguf_source_error(&gguf->source, what);
}

static struct status read_type(enum gguf_value_type *out, struct gguf *gguf, const char *key)
{
    uint64_t id = 0;
    if (!gguf_take_uint(&gguf->source, &id, 4)) {
        return read_error(gguf, key);
    }
    if (id >= GGUF_VALUE_TYPES) {
        return status_error(STATUS_INVALID, "key '%.80s': value type %" PRIu64 ", accepted 0 to %d",
                            key, id, GGUF_VALUE_TYPES - 1);
    }
    *out = (enum gguf_value_type)id;
    return status_ok();
}

static struct status skip_string(struct gguf *gguf, uint64_t *bytes, const char *key)
{
    if (!gguf_take_uint(&gguf->source, bytes, 8) || !gguf_skip(&gguf->source, *bytes)) {
        return read_error(gguf, key);
    }
    return status_ok();
}

static struct status not_a_bool(const char *key, uint64_t found)
{
    return status_error(STATUS_INVALID,
                        "key '%.80s': found %" PRIu64 " as a bool, accepted 0 and 1", key, found);
}

static struct status skip_bools(struct gguf *gguf, uint64_t count, const char *key)
{
    unsigned char bits[4096];
    for (uint64_t done = 0; done < count;) {
        size_t n = count - done < sizeof bits ? (size_t)(count - done) : sizeof bits;
        if (!gguf_take(&gguf->source, bits, n)) {
            return read_error(gguf, key);
        }
        for (size_t i = 0; i < n; i++) {
            if (bits[i] > 1) {
                return not_a_bool(key, bits[i]);
            }
        }
        done += n;
    }
    return status_ok();
}

static struct status skip_elements(struct gguf *gguf, const struct gguf_value *value,
                                   const char *key)
{
    if (value->element == GGUF_BOOL) {
        return skip_bools(gguf, value->count, key);
    }
    if (value->element != GGUF_STRING) {
        return gguf_skip(&gguf->source, value->count * types[value->element].bytes)
                   ? status_ok()
                   : read_error(gguf, key);
    }
    for (uint64_t i = 0; i < value->count; i++) {
        uint64_t bytes = 0;
        if (!gguf_take_uint(&gguf->source, &bytes, 8) || !gguf_skip(&gguf->source, bytes)) {
            return read_error(gguf, key);
        }
    }
    return status_ok();
}

static struct status read_array(struct gguf *gguf, struct gguf_value *value, const char *key)
{
    TRY(read_type(&value->element, gguf, key));
    if (value->element == GGUF_ARRAY) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': an array of arrays, accepted an array "
                            "of numbers, bools or strings",
                            key);
    }
    if (!gguf_take_uint(&gguf->source, &value->count, 8)) {
        return read_error(gguf, key);
    }
    size_t least = value->element == GGUF_STRING ? 8 : types[value->element].bytes;
    uint64_t left = gguf_source_left(&gguf->source);
    if (value->count > GGUF_ARRAY_MAX || value->count > left / least) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': an array of %" PRIu64 " elements of %s, "
                            "but only %" PRIu64 " bytes follow",
                            key, value->count, types[value->element].name, left);
    }
    value->at = gguf->source.at;
    return skip_elements(gguf, value, key);
}

static struct status read_contents(struct gguf *gguf, struct gguf_value *value, const char *key)
{
    TRY(read_type(&value->type, gguf, key));
    if (value->type == GGUF_ARRAY) {
        return read_array(gguf, value, key);
    }
    if (value->type == GGUF_STRING) {
        TRY(skip_string(gguf, &value->count, key));
        value->at = gguf->source.at - value->count;
        return status_ok();
    }
    if (!gguf_take_uint(&gguf->source, &value->bits, types[value->type].bytes)) {
        return read_error(gguf, key);
    }
    return value->type == GGUF_BOOL && value->bits > 1 ? not_a_bool(key, value->bits) : status_ok();
}

static int compare_keys(const void *a, const void *b)
{
    const struct gguf_value *first = a;
    const struct gguf_value *second = b;
    return strcmp(first->key, second->key);
}

// Sorting makes duplicates neighbours, whatever names a hostile file chooses.
static struct status sort_values(struct gguf *gguf)
{
    gguf_point_names(gguf);
    if (gguf->value_count > 1) {
        qsort(gguf->values, gguf->value_count, sizeof *gguf->values, compare_keys);
    }
    for (size_t i = 1; i < gguf->value_count; i++) {
        if (strcmp(gguf->values[i - 1].key, gguf->values[i].key) == 0) {
            return status_error(STATUS_INVALID, "key '%.80s' occurs twice", gguf->values[i].key);
        }
    }
    return status_ok();
}

struct status gguf_read_values(struct gguf *gguf, size_t *text_capacity, uint64_t count)
{
    uint64_t left = gguf_source_left(&gguf->source);
    if (count > GGUF_KEYS_MAX || count > left / PAIR_BYTES_MIN) {
        return status_error(STATUS_INVALID,
                            "metadata_kv_count is %" PRIu64 ", accepted at most %d "
                            "and what fits into the %" PRIu64 " bytes that follow",
                            count, GGUF_KEYS_MAX, left);
    }
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        struct gguf_value *values = gguf_grow(gguf->values, &capacity, i, sizeof *values);
        if (values == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for %zu metadata keys", i);
        }
        gguf->values = values;
        struct gguf_value *value = &values[i];
        memset(value, 0, sizeof *value);
        char what[48];
        (void)snprintf(what, sizeof what, "metadata key %zu", i + 1);
        TRY(gguf_read_name(&value->key_at, gguf, text_capacity, GGUF_KEY_BYTES_MAX, what));
        TRY(read_contents(gguf, value, gguf->text + value->key_at));
        gguf->value_count = i + 1;
    }
    return sort_values(gguf);
}

const struct gguf_value *gguf_find_value(const struct gguf *gguf, const char *key)
{
    if (gguf->value_count == 0) {
        return NULL;
    }
    struct gguf_value wanted = {.key = key};
    return bsearch(&wanted, gguf->values, gguf->value_count, sizeof wanted, compare_keys);
}

char *gguf_value_type_text(char *out, const struct gguf_value *value)
{
    bool array = value->type == GGUF_ARRAY;
    (void)snprintf(out, GGUF_SHOWN, "%s%s", array ? "array of " : "",
                   types[array ? value->element : value->type].name);
    return out;
}

static struct status wrong_type(const struct gguf_value *value, const char *accepted)
{
    char found[GGUF_SHOWN];
    return status_error(STATUS_INVALID, "key '%.80s': found %s, accepted %s", value->key,
                        gguf_value_type_text(found, value), accepted);
}

// One integer of a type as it is in the file, sign-extended; false if the type is no integer.
static bool integer_of(int64_t *out, bool *above, enum gguf_value_type type, uint64_t bits)
{
    bool is_unsigned =
        type == GGUF_UINT8 || type == GGUF_UINT16 || type == GGUF_UINT32 || type == GGUF_UINT64;
    bool is_signed =
        type == GGUF_INT8 || type == GGUF_INT16 || type == GGUF_INT32 || type == GGUF_INT64;
    *above = is_unsigned && bits > INT64_MAX;
    uint64_t sign = is_signed ? (uint64_t)1 << (8 * types[type].bytes - 1) : 0;
    *out = *above ? INT64_MAX : (int64_t)((bits ^ sign) - sign);
    return is_unsigned || is_signed;
}

static struct status check_integer(uint64_t *out, int64_t found, bool above,
                                   const struct gguf_value *value)
{
    if (above) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': found more than %" PRId64 ", accepted less", value->key,
                            INT64_MAX);
    }
    if (found < 0) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': found %" PRId64 ", accepted no negative "
                            "number",
                            value->key, found);
    }
    *out = (uint64_t)found;
    return status_ok();
}

struct status gguf_value_uint(uint64_t *out, const struct gguf_value *value)
{
    int64_t found = 0;
    bool above = false;
    if (!integer_of(&found, &above, value->type, value->bits)) {
        return wrong_type(value, "an integer");
    }
    return check_integer(out, found, above, value);
}

struct status gguf_value_bool(bool *out, const struct gguf_value *value)
{
    if (value->type != GGUF_BOOL) {
        return wrong_type(value, "bool");
    }
    *out = value->bits != 0;
    return status_ok();
}

static struct status read_element(uint64_t *out, struct gguf *gguf, const struct gguf_value *value)
{
    uint64_t bits = 0;
    if (!gguf_take_uint(&gguf->source, &bits, types[value->element].bytes)) {
        return read_error(gguf, value->key);
    }
    if (value->element == GGUF_BOOL) {
        *out = bits;
        return status_ok();
    }
    int64_t found = 0;
    bool above = false;
    (void)integer_of(&found, &above, value->element, bits);
    return check_integer(out, found, above, value);
}

struct status gguf_value_uints(uint64_t *out, size_t count, struct gguf *gguf,
                               const struct gguf_value *value)
{
    int64_t unused = 0;
    bool above = false;
    bool numbers = value->type == GGUF_ARRAY &&
                   (value->element == GGUF_BOOL || integer_of(&unused, &above, value->element, 0));
    if (!numbers) {
        return wrong_type(value, "an array of integers or bools");
    }
    if (value->count != count) {
        return status_error(STATUS_INVALID,
                            "key '%.80s': found %" PRIu64 " elements, accepted %zu "
                            "(one a layer)",
                            value->key, value->count, count);
    }
    gguf->source.at = value->at;
    for (size_t i = 0; i < count; i++) {
        TRY(read_element(&out[i], gguf, value));
    }
    return status_ok();
}

struct status gguf_value_text(char *out, size_t size, struct gguf *gguf,
                              const struct gguf_value *value)
{
    if (value->type != GGUF_STRING) {
        return wrong_type(value, "string");
    }
    char bytes[4 * GGUF_SHOWN];
    size_t length = value->count < sizeof bytes ? (size_t)value->count : sizeof bytes;
    gguf->source.at = value->at;
    if (!gguf_take(&gguf->source, bytes, length)) {
        return read_error(gguf, value->key);
    }
    gguf_printable(out, size, bytes, length);
    return status_ok();
}
