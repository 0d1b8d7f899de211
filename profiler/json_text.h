#ifndef PROFILER_JSON_TEXT_H
#define PROFILER_JSON_TEXT_H

/** JSON as text: what can be done to a large document without taking it apart. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Removes the blanks between tokens of text[0..size), in place, and with drop_samples also every
 *  member "samples" whose value is an array of numbers. Returns the new size. Valid JSON stays
 *  valid; of other text the result is unspecified, but within bounds. */
size_t json_text_compact(char *text, size_t size, bool drop_samples);

/** Writes JSON so that it can stand in a script element of HTML: '<', which occurs only in
 *  strings, as its escape. */
void json_text_write_escaped(FILE *out, const char *text, size_t size);

#endif
