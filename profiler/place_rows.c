#include "profiler/place_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_cut(char *out, size_t size, const char *text, size_t length)
{
    size_t n = length < size ? length : size - 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    out[n] = '\0';
}

bool place_row_add(struct place_row *row, const char *key, size_t key_length, const char *value,
                   size_t value_length)
{
    if (row->count == PLACE_CELLS_MAX) {
        return false;
    }
    struct place_cell *cell = &row->cells[row->count++];
    copy_cut(cell->key, sizeof cell->key, key, key_length);
    copy_cut(cell->value, sizeof cell->value, value, value_length);
    return true;
}

const char *place_row_text(const struct place_row *row, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        for (size_t i = 0; i < row->count; i++) {
            if (strcmp(row->cells[i].key, *keys) == 0 && row->cells[i].value[0] != '\0') {
                return row->cells[i].value;
            }
        }
    }
    return NULL;
}

struct status place_row_number(double *out, const struct place_row *row, const char *const *keys,
                               double least)
{
    const char *text = place_row_text(row, keys);
    *out = (double)NAN;
    if (text == NULL) {
        return status_ok();
    }
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < least) {
        return status_error(STATUS_INVALID,
                            "row %zu: '%s': found '%.40s', accepted a number of at least %g",
                            row->number, keys[0], text, least);
    }
    *out = value;
    return status_ok();
}

// The first line that starts (blanks aside) with one of the characters; NULL if there is none.
static const char *line_starting_with(const char *text, const char *characters)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *at = line + strspn(line, " \t\r");
        if (*at != '\0' && *at != '\n' && strchr(characters, *at) != NULL) {
            return at;
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

struct status place_rows_read(const char *text, size_t size, const char *name, place_take *take,
                              void *context)
{
    if (strlen(text) != size) {
        return status_error(STATUS_INVALID, "%s: found a zero byte, accepted text", name);
    }
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) { // a byte order mark
        text += 3;
        size -= 3;
    }
    const char *json = line_starting_with(text, "{[");
    const char *table = line_starting_with(text, "|");
    if (json != NULL && (table == NULL || json < table)) {
        return place_rows_json(json, size - (size_t)(json - text), name, take, context);
    }
    if (table != NULL) {
        return place_rows_markdown(text, name, take, context);
    }
    if (strchr(text, ',') != NULL && strchr(text, '\n') != NULL) {
        return place_rows_csv(text, name, take, context);
    }
    return status_error(STATUS_INVALID,
                        "%s: found neither JSON nor CSV nor a Markdown table, accepted the output "
                        "of the tool that --from names",
                        name);
}
