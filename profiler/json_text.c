#include "profiler/json_text.h"

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

size_t json_text_compact(char *text, size_t size, bool drop_samples)
{
    static const char key[] = "\"samples\"";
    const size_t key_length = sizeof key - 1;
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        if (is_blank(text[at])) {
            at++;
            continue;
        }
        if (text[at] != '"') {
            text[kept++] = text[at++];
            continue;
        }
        size_t length = string_length(text + at, size - at);
        size_t end = 0;
        if (drop_samples && length == key_length && memcmp(text + at, key, key_length) == 0) {
            end = numbers_end(text, size, at + length);
        }
        if (end == 0) {
            memmove(text + kept, text + at, length);
            kept += length;
            at += length;
            continue;
        }
        // The member goes, and one of the commas around it.
        at = skip_blanks(text, size, end);
        if (kept > 0 && text[kept - 1] == ',') {
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
