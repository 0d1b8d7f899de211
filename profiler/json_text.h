#ifndef PROFILER_JSON_TEXT_H
#define PROFILER_JSON_TEXT_H

/** JSON as text: what can be done to a large document without taking it apart. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Removes the blanks between tokens of text[0..size), in place, and with drop_samples also every
 *  member "samples" whose value is an array of numbers. Returns the new size. Valid JSON stays
 *  valid; of other text the result is unspecified, but within bounds. */
size_t json_text_compact(char *text, size_t size, bool drop_samples);

/** Values of all kinds in a JSON text, an empty array or object counted twice: a parser takes some
 *  50 to 150 bytes for each, however few it has in the text. */
size_t json_text_values(const char *text, size_t size);

/** Refuses a text that holds more than `most` values, before a parser takes memory for them.
 *  Errors: INVALID, naming `name`. */
CHECKED struct status json_text_bounded(const char *text, size_t size, size_t most,
                                        const char *name);

/** Writes JSON so that it can stand in a script element of HTML: '<', which occurs only in
 *  strings, as its escape. */
void json_text_write_escaped(FILE *out, const char *text, size_t size);

#endif
