#ifndef PROFILER_PLACE_ROWS_H
#define PROFILER_PLACE_ROWS_H

/** Output of other tools as rows of named texts, whatever it is written in: JSON (an array of
 *  objects, one object, or one a line), CSV with a header, a Markdown table; lines of a log around
 *  them do not matter. Knows no tool. The input is untrusted: everything is bounded. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLACE_CELLS_MAX = 96,
    PLACE_KEY = 48,
    PLACE_VALUE = 160,
    PLACE_ROWS_MAX = 100000,
};

struct place_cell {
    char key[PLACE_KEY];     /**< nested keys with points: "args.model" */
    char value[PLACE_VALUE]; /**< longer texts are cut; control characters are '?' */
};

struct place_row {
    size_t number; /**< 1 is the first */
    size_t count;
    struct place_cell cells[PLACE_CELLS_MAX];
};

/** Called for each row; a failure ends the reading. */
typedef struct status place_take(void *context, const struct place_row *row);

/** Calls take(context, row) for each row of text[0..size), text[size] == 0. name stands in front of
 *  errors. Errors: INVALID if it is none of the formats, broken, or beyond the bounds; those of
 *  take. */
CHECKED struct status place_rows_read(const char *text, size_t size, const char *name,
                                      place_take *take, void *context);

/** The parts of place_rows_read(). */
CHECKED struct status place_rows_json(const char *text, size_t size, const char *name,
                                      place_take *take, void *context);
CHECKED struct status place_rows_csv(const char *text, const char *name, place_take *take,
                                     void *context);
CHECKED struct status place_rows_markdown(const char *text, const char *name, place_take *take,
                                          void *context);

/** Appends a cell; false if the row is full. key and value are cut to their fields. */
bool place_row_add(struct place_row *row, const char *key, size_t key_length, const char *value,
                   size_t value_length);

/** The value of the first of the keys that the row has ("" counts as missing); NULL if none.
 *  Borrowed. keys end with NULL. */
const char *place_row_text(const struct place_row *row, const char *const *keys);

/** The same as a number. *out is NaN if the row has none of the keys. Errors: INVALID if the text
 * is no finite number of at least least. */
CHECKED struct status place_row_number(double *out, const struct place_row *row,
                                       const char *const *keys, double least);

#endif
