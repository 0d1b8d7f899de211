#include "profiler/measurement.h"

#include "roofline/embedded.h"
#include "roofline/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct embedded_file machine_measurements[];

enum {
    COLUMN_MACHINE,
    COLUMN_MODEL,
    COLUMN_DTYPE,
    COLUMN_PHASE,
    COLUMN_TOKENS,
    COLUMN_FILE_GIB,
    COLUMN_TOKENS_PER_S,
    COLUMN_FRACTION,
    COLUMN_SOURCE,
    COLUMNS
};

struct line {
    const char *name; // of the file
    unsigned number;
    char *words[COLUMNS];
};

static struct status wrong(const struct line *line, int column, const char *accepted)
{
    return status_error(STATUS_INVALID, "%s: line %u, column %d: found '%.40s', accepted %s",
                        line->name, line->number, column + 1, line->words[column], accepted);
}

static struct status take_text(char *out, size_t size, const struct line *line, int column)
{
    size_t length = strlen(line->words[column]);
    if (length == 0 || length >= size) {
        char accepted[48];
        (void)snprintf(accepted, sizeof accepted, "1 to %zu characters", size - 1);
        return wrong(line, column, accepted);
    }
    memcpy(out, line->words[column], length + 1);
    return status_ok();
}

static struct status take_number(double *out, const struct line *line, int column, bool may_miss)
{
    char *end = NULL;
    *out = strtod(line->words[column], &end);
    if (may_miss && strcmp(line->words[column], "-") == 0) {
        *out = (double)NAN;
        return status_ok();
    }
    if (end == line->words[column] || *end != '\0' || !isfinite(*out) || !(*out > 0)) {
        return wrong(line, column, "a number above 0");
    }
    return status_ok();
}

static struct status take_line(struct measurement *out, const struct line *line)
{
    double tokens = 0;
    TRY(take_text(out->machine, sizeof out->machine, line, COLUMN_MACHINE));
    TRY(take_text(out->model, sizeof out->model, line, COLUMN_MODEL));
    TRY(take_text(out->dtype, sizeof out->dtype, line, COLUMN_DTYPE));
    TRY(take_text(out->source, sizeof out->source, line, COLUMN_SOURCE));
    TRY(take_number(&tokens, line, COLUMN_TOKENS, false));
    TRY(take_number(&out->file_bytes, line, COLUMN_FILE_GIB, true));
    TRY(take_number(&out->tokens_per_s, line, COLUMN_TOKENS_PER_S, false));
    TRY(take_number(&out->fraction, line, COLUMN_FRACTION, false));
    out->file_bytes *= 1024.0 * 1024.0 * 1024.0;
    bool decode = strcmp(line->words[COLUMN_PHASE], "decode") == 0;
    if (!decode && strcmp(line->words[COLUMN_PHASE], "prefill") != 0) {
        return wrong(line, COLUMN_PHASE, "decode or prefill");
    }
    out->phase = decode ? STEP_DECODE : STEP_PREFILL;
    out->context = decode ? (uint64_t)tokens : 0;
    out->prompt = decode ? 1 : (uint64_t)tokens;
    return status_ok();
}

// Splits the line in place; false if it has another number of columns.
static bool split(struct line *line, char *text)
{
    int count = 0;
    for (char *word = text; word != NULL; count++) {
        char *tab = strchr(word, '\t');
        if (count == COLUMNS) {
            return false;
        }
        line->words[count] = word;
        if (tab != NULL) {
            *tab++ = '\0';
        }
        word = tab;
    }
    return count == COLUMNS;
}

static struct status parse_lines(struct measurement *out, size_t max, size_t *count, char *text,
                                 const char *name)
{
    struct line line = {.name = name};
    for (char *at = text; at != NULL && *at != '\0';) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        line.number++;
        if (at[0] != '#' && at[0] != '\0') {
            if (*count == max || !split(&line, at)) {
                return status_error(STATUS_INVALID,
                                    "%s: line %u: accepted %d columns and at most "
                                    "%zu lines",
                                    name, line.number, (int)COLUMNS, max);
            }
            TRY(take_line(&out[(*count)++], &line));
        }
        at = end;
    }
    return status_ok();
}

struct status measurement_parse(struct measurement *out, size_t max, size_t *count,
                                const char *text, const char *name)
{
    *count = 0;
    char *copy = strdup(text);
    if (copy == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", name);
    }
    struct status status = parse_lines(out, max, count, copy, name);
    free(copy);
    return status;
}

struct status measurement_load(struct measurement *out, size_t max, size_t *count)
{
    return measurement_parse(out, max, count, (const char *)machine_measurements[0].bytes,
                             "measurements.tsv");
}

static bool is_of(const struct measurement *row, const char *machine)
{
    size_t length = strcspn(machine, "/@");
    return strcspn(row->machine, "/@") == length && memcmp(row->machine, machine, length) == 0;
}

static enum dtype_kind kind_of(const struct measurement *row)
{
    enum dtype_id dtype = dtype_find(row->dtype);
    return dtype < DTYPE_COUNT ? dtype_get(dtype)->kind : DTYPE_INT;
}

void measurement_band(struct measurement_band *out, const struct measurement *rows, size_t count,
                      const char *machine, enum step_phase phase, enum dtype_kind kind)
{
    enum { OWN_AT_LEAST = 3 };
    double own[MEASUREMENTS_MAX];
    double all[MEASUREMENTS_MAX];
    size_t own_count = 0;
    size_t all_count = 0;
    for (size_t i = 0; i < count && i < MEASUREMENTS_MAX; i++) {
        if (rows[i].phase == phase && (phase == STEP_DECODE || kind_of(&rows[i]) == kind)) {
            all[all_count++] = rows[i].fraction;
            if (is_of(&rows[i], machine)) {
                own[own_count++] = rows[i].fraction;
            }
        }
    }
    memset(out, 0, sizeof *out);
    out->own = own_count >= OWN_AT_LEAST;
    out->count = out->own ? own_count : all_count;
    if (out->count > 0) {
        const double *fractions = out->own ? own : all;
        out->low = stats_quantile(fractions, out->count, 0);
        out->median = stats_median(fractions, out->count);
        out->high = stats_quantile(fractions, out->count, 1);
    }
}
