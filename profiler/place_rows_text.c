#include "profiler/place_rows.h"

#include <stdio.h>
#include <string.h>

struct reading_text {
    const char *name;
    place_take *take;
    void *context;
    size_t column_count; // 0: no header yet
    char columns[PLACE_CELLS_MAX][PLACE_KEY];
    struct place_row row;
};

static struct status take_row(struct reading_text *reading)
{
    reading->row.number++;
    if (reading->row.number > PLACE_ROWS_MAX) {
        return status_error(STATUS_INVALID, "%s: found more than %d rows, accepted fewer",
                            reading->name, (int)PLACE_ROWS_MAX);
    }
    return status_prefix(reading->take(reading->context, &reading->row), "%s", reading->name);
}

static struct status check_width(const struct reading_text *reading, size_t found)
{
    return found == reading->column_count
               ? status_ok()
               : status_error(STATUS_INVALID,
                              "%s: row %zu has %zu cells, accepted %zu as in the header",
                              reading->name, reading->row.number + 1, found, reading->column_count);
}

static struct status add_column(struct reading_text *reading, const char *text, size_t length)
{
    if (reading->column_count == PLACE_CELLS_MAX) {
        return status_error(STATUS_INVALID, "%s: found more than %d columns, accepted fewer",
                            reading->name, (int)PLACE_CELLS_MAX);
    }
    (void)snprintf(reading->columns[reading->column_count++], PLACE_KEY, "%.*s",
                   (int)(length < PLACE_KEY ? length : PLACE_KEY - 1), text);
    return status_ok();
}

// A cell of the header, or of a row under the header's name. Cells beyond it are counted by the
// caller and refused there.
static struct status add_cell(struct reading_text *reading, size_t index, bool header,
                              const char *text, size_t length)
{
    if (header) {
        return add_column(reading, text, length);
    }
    if (index < reading->column_count) {
        const char *key = reading->columns[index];
        (void)place_row_add(&reading->row, key, strlen(key), text, length);
    }
    return status_ok();
}

// One cell from at on, unquoted into value; returns where it ends: at ',', a line's end or 0. NULL:
// the quotes do not end.
static const char *csv_cell(char value[PLACE_VALUE], size_t *length, const char *at)
{
    *length = 0;
    if (*at != '"') {
        size_t n = strcspn(at, ",\r\n");
        *length = n < PLACE_VALUE ? n : PLACE_VALUE - 1;
        memcpy(value, at, *length);
        return at + n;
    }
    for (at++; *at != '\0'; at++) {
        if (*at == '"' && at[1] != '"') {
            return at + 1;
        }
        at += *at == '"' ? 1 : 0;
        if (*length + 1 < PLACE_VALUE) {
            value[(*length)++] = *at;
        }
    }
    return NULL;
}

static struct status csv_line(struct reading_text *reading, const char **at)
{
    bool header = reading->column_count == 0;
    reading->row.count = 0;
    for (size_t index = 0;; index++) {
        char value[PLACE_VALUE];
        size_t length = 0;
        const char *end = csv_cell(value, &length, *at);
        if (end == NULL || strchr(",\r\n", *end) == NULL) {
            return status_error(STATUS_INVALID,
                                "%s: row %zu: a quoted cell does not end as it must, accepted "
                                "\"...\" before a comma or the end of the line",
                                reading->name, reading->row.number + 1);
        }
        TRY(add_cell(reading, index, header, value, length));
        *at = end;
        if (*end == ',') {
            (*at)++;
            continue;
        }
        *at += strspn(*at, "\r\n");
        if (header) {
            return status_ok();
        }
        TRY(check_width(reading, index + 1));
        return take_row(reading);
    }
}

static struct status some_rows(const struct reading_text *reading)
{
    return reading->row.number > 0
               ? status_ok()
               : status_error(STATUS_INVALID, "%s: found no row in it, accepted at least one",
                              reading->name);
}

struct status place_rows_csv(const char *text, const char *name, place_take *take, void *context)
{
    struct reading_text reading = {.name = name, .take = take, .context = context};
    const char *at = text + strspn(text, "\r\n");
    while (*at != '\0') {
        TRY(csv_line(&reading, &at));
    }
    return some_rows(&reading);
}

// "main: n_kv_max = 4096, n_threads = 8, ...": settings that a log tells once, for every row.
static void add_settings(struct reading_text *reading, const char *settings, size_t length)
{
    const char *end = settings + length;
    for (const char *at = settings; at != NULL && at < end;) {
        const char *equals = memchr(at, '=', (size_t)(end - at));
        if (equals == NULL) {
            return;
        }
        const char *key = at + strspn(at, " ,");
        const char *value = equals + 1 + strspn(equals + 1, " ");
        size_t key_length = (size_t)(equals - key);
        while (key_length > 0 && key[key_length - 1] == ' ') {
            key_length--;
        }
        const char *comma = memchr(value, ',', value < end ? (size_t)(end - value) : 0);
        size_t value_length = value < end ? (size_t)((comma == NULL ? end : comma) - value) : 0;
        if (reading->row.count + 1 < PLACE_CELLS_MAX) {
            (void)place_row_add(&reading->row, key, key_length, value, value_length);
        }
        at = comma;
    }
}

struct markdown_settings {
    const char *text;
    size_t length;
};

static struct status markdown_line(struct reading_text *reading, const char *line, size_t length,
                                   const struct markdown_settings *settings)
{
    bool header = reading->column_count == 0;
    size_t index = 0;
    reading->row.count = 0;
    for (const char *at = line + 1; at < line + length; index++) {
        const char *bar = memchr(at, '|', (size_t)(line + length - at));
        const char *end = bar == NULL ? line + length : bar;
        const char *from = at;
        while (from < end && (*from == ' ' || *from == '\t')) {
            from++;
        }
        const char *to = end;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) {
            to--;
        }
        if (bar == NULL && from == to) {
            break; // behind the last bar
        }
        TRY(add_cell(reading, index, header, from, (size_t)(to - from)));
        at = end + 1;
    }
    if (header) {
        return status_ok();
    }
    TRY(check_width(reading, index));
    add_settings(reading, settings->text, settings->length);
    return take_row(reading);
}

// "| --- | ---: |"
static bool is_rule(const char *line, size_t length)
{
    return strspn(line, "|-: \t\r") >= length;
}

// A table that starts again with its header, as several runs in one file leave it.
static bool repeats_header(const struct reading_text *reading, const char *line, size_t length)
{
    const char *first = line + 1 + strspn(line + 1, " \t");
    size_t n = strlen(reading->columns[0]);
    return reading->column_count > 0 && n > 0 && (size_t)(line + length - first) > n &&
           memcmp(first, reading->columns[0], n) == 0 && strchr(" |", first[n]) != NULL;
}

struct status place_rows_markdown(const char *text, const char *name, place_take *take,
                                  void *context)
{
    struct reading_text reading = {.name = name, .take = take, .context = context};
    struct markdown_settings settings = {"", 0};
    for (const char *line = text; line != NULL && *line != '\0';) {
        line += strspn(line, " \t");
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "main:", 5) == 0 && memchr(line, '=', length) != NULL) {
            settings = (struct markdown_settings){line + 5, length - 5};
        } else if (*line == '|' && repeats_header(&reading, line, length)) {
            reading.column_count = 0;
            TRY(markdown_line(&reading, line, length, &settings));
        } else if (*line == '|' && !is_rule(line, length)) {
            TRY(markdown_line(&reading, line, length, &settings));
        }
        line += length;
        line = *line == '\0' ? NULL : line + 1;
    }
    return some_rows(&reading);
}
