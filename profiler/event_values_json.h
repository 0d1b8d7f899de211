#ifndef PROFILER_EVENT_VALUES_JSON_H
#define PROFILER_EVENT_VALUES_JSON_H

/** Single values of an event file, checked; every error names file, key, what was found and what
 *  is accepted. A key that is missing or null leaves *out as it is. */

#include "roofline/status.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

/** Where in the file an error is. */
struct event_place {
    const char *path;
    const char *key; /**< of the list; "" at the top */
    size_t index;
};

/** INVALID: "FILE: events[3].weight: found X, accepted Y". */
CHECKED struct status event_value_error(const struct event_place *place, const char *key,
                                        const char *found, const char *accepted);

/** What a value is, for such errors: its text, or its kind. */
const char *event_value_kind(const json_t *value);

/** True for a missing or null value. */
bool event_value_absent(const json_t *value);

/** A text of 1 to longest printable bytes, borrowed from the document. */
CHECKED struct status event_text(const char **out, const struct event_place *place,
                                 const json_t *object, const char *key, size_t longest);

/** A whole number of at most most, in JSON or as text such as "0x1b7". */
CHECKED struct status event_count(uint64_t *out, const struct event_place *place,
                                  const json_t *object, const char *key, uint64_t most);
CHECKED struct status event_unsigned(unsigned *out, const struct event_place *place,
                                     const json_t *object, const char *key, unsigned most);

/** [first, last], 0 <= first <= last <= most; all of it if it is missing. */
CHECKED struct status event_range(unsigned *first, unsigned *last, const struct event_place *place,
                                  const json_t *object, const char *key, unsigned most);

/** Unknown keys are mistakes: a misspelt one would silently count something else. keys ends with
 *  NULL. */
CHECKED struct status event_keys(const struct event_place *place, json_t *object,
                                 const char *const *keys);

#endif
