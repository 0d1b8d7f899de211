#include "profiler/json_text.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Length of the string that starts at text[0] == '"', with its quotes; size if it does not end.
static size_t string_length(const char *text, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    return size;
}

static size_t skip_blanks(const char *text, size_t size, size_t at)
{
    while (at < size && is_blank(text[at])) {
        at++;
    }
    return at;
}

// Where `: [numbers]` that follows a key ends; 0 if something else follows.
static size_t numbers_end(const char *text, size_t size, size_t at)
{
    at = skip_blanks(text, size, at);
    if (at >= size || text[at] != ':') {
        return 0;
    }
    at = skip_blanks(text, size, at + 1);
    if (at >= size || text[at] != '[') {
        return 0;
    }
    for (at++; at < size; at++) {
        if (text[at] == ']') {
            return at + 1;
        }
        if (memchr("0123456789+-.eE, \n\t\r", text[at], 21) == NULL) {
            return 0;
        }
    }
    return 0;
}

// Where what is neither blank nor string ends.
static size_t plain_end(const char *text, size_t size, size_t at)
{
    while (at < size && text[at] != '"' && !is_blank(text[at])) {
        at++;
    }
    return at;
}

// Copies text[from..to) to out[kept..); the two may be one text.
static size_t keep(char *out, size_t kept, const char *text, size_t from, size_t to)
{
    memmove(out + kept, text + from, to - from);
    return kept + (to - from);
}

// Where the member "samples" that starts at at ends, if it is one to drop; 0 if not.
static size_t samples_end(const char *text, size_t size, size_t at, size_t length)
{
    static const char key[] = "\"samples\"";
    return length == sizeof key - 1 && memcmp(text + at, key, length) == 0
               ? numbers_end(text, size, at + length)
               : 0;
}

size_t json_text_compact(char *out, const char *text, size_t size, bool drop_samples)
{
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        at = skip_blanks(text, size, at);
        size_t next = plain_end(text, size, at);
        kept = keep(out, kept, text, at, next);
        at = next;
        if (at >= size || text[at] != '"') {
            continue;
        }
        size_t length = string_length(text + at, size - at);
        size_t end = drop_samples ? samples_end(text, size, at, length) : 0;
        if (end == 0) {
            kept = keep(out, kept, text, at, at + length);
            at += length;
            continue;
        }
        // The member goes, and one of the commas around it.
        at = skip_blanks(text, size, end);
        if (kept > 0 && out[kept - 1] == ',') {
            kept--;
        } else if (at < size && text[at] == ',') {
            at++;
        }
    }
    return kept;
}

// One behind each comma and each opening bracket, and the whole.
size_t json_text_values(const char *text, size_t size)
{
    size_t values = size > 0;
    for (size_t at = 0; at < size; at++) {
        if (text[at] == '"') {
            at += string_length(text + at, size - at) - 1;
        } else if (text[at] == ',' || text[at] == '[' || text[at] == '{') {
            values++;
        }
    }
    return values;
}

struct status json_text_bounded(const char *text, size_t size, size_t most, const char *name)
{
    size_t values = json_text_values(text, size);
    return values <= most ? status_ok()
                          : status_error(STATUS_INVALID,
                                         "%s: found some %zu JSON values, accepted at most %zu",
                                         name, values, most);
}

// Where the value that starts at at ends: at the ',', '}' or ']' behind it that are not its own.
static size_t value_end(const char *text, size_t size, size_t at)
{
    size_t depth = 0;
    while (at < size) {
        char c = text[at];
        if (c == '"') {
            at += string_length(text + at, size - at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            return at;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
    }
    return size;
}

// Where the value of the member stands in the object text[0..size); size if it has none.
static size_t find_member(const char *text, size_t size, const char *key)
{
    size_t key_length = strlen(key);
    size_t at = skip_blanks(text, size, 0);
    if (at >= size || text[at] != '{') {
        return size;
    }
    for (at++; at < size; at++) {
        at = skip_blanks(text, size, at);
        if (at >= size || text[at] != '"') {
            return size;
        }
        size_t length = string_length(text + at, size - at);
        bool found = length == key_length + 2 && memcmp(text + at + 1, key, key_length) == 0;
        at = skip_blanks(text, size, at + length);
        if (at >= size || text[at] != ':') {
            return size;
        }
        at = skip_blanks(text, size, at + 1);
        if (found) {
            return at;
        }
        at = value_end(text, size, at);
    }
    return size;
}

static bool grow(struct json_span **spans, size_t count, size_t *room)
{
    if (count < *room) {
        return true;
    }
    size_t wanted = *room == 0 ? 64 : 2 * *room;
    struct json_span *grown = realloc(*spans, wanted * sizeof **spans);
    if (grown != NULL) {
        *spans = grown;
        *room = wanted;
    }
    return grown != NULL;
}

bool json_text_elements(struct json_elements *out, const char *text, size_t size, const char *key)
{
    size_t room = 0;
    size_t at = find_member(text, size, key);
    *out = (struct json_elements){.array = {at, at}};
    if (at >= size || text[at] != '[') {
        return false;
    }
    at = skip_blanks(text, size, at + 1);
    while (at < size && text[at] != ']') {
        size_t end = value_end(text, size, at);
        if (end >= size || text[end] == '}' || !grow(&out->spans, out->count, &room)) {
            return false;
        }
        out->spans[out->count++] = (struct json_span){at, end};
        at = text[end] == ',' ? skip_blanks(text, size, end + 1) : end;
        if (text[end] == ',' && at < size && text[at] == ']') {
            return false; // a comma without an element behind it
        }
    }
    out->array.to = at + 1;
    return at < size;
}

void json_text_write_escaped(FILE *out, const char *text, size_t size)
{
    while (size > 0) {
        const char *found = memchr(text, '<', size);
        size_t clean = found == NULL ? size : (size_t)(found - text);
        (void)fwrite(text, 1, clean, out);
        if (found != NULL) {
            (void)fputs("\\u003c", out);
            clean++;
        }
        text += clean;
        size -= clean;
    }
}
