#ifndef PROFILER_JSON_TEXT_H
#define PROFILER_JSON_TEXT_H

/** JSON as text: what can be done to a large document without taking it apart. */

#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Copies text[0..size) to out, which has room for as much or is text itself, without the blanks
 *  between tokens and with drop_samples also without every member "samples" whose value is an array
 *  of numbers. Returns the new size. Valid JSON stays valid; of other text the result is
 *  unspecified, but within bounds. */
size_t json_text_compact(char *out, const char *text, size_t size, bool drop_samples);

/** text[from..to). */
struct json_span {
    size_t from;
    size_t to;
};

struct json_elements {
    struct json_span array;  /**< with its brackets */
    struct json_span *spans; /**< one an element; owned: free() */
    size_t count;
};

/** Finds the elements of the array that is the member key of the object text[0..size), so that they
 *  can be taken apart one by one. Valid elements between valid rests make a valid document; what is
 *  within a span is not looked at. False if there is no such array, for broken text or without
 *  memory: then the document is to be taken as a whole. The caller frees out->spans in either
 *  case. */
bool json_text_elements(struct json_elements *out, const char *text, size_t size, const char *key);

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
