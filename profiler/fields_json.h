#ifndef PROFILER_FIELDS_JSON_H
#define PROFILER_FIELDS_JSON_H

/** Structs as JSON and back by the tables of fields.h. Knows the contract's forms of numbers:
 * measured, derived, modelled, and absent (null with "why_absent" in the same object). Knows no
 * particular document. */

#include "profiler/fields.h"

#include <jansson.h>

/** Where a value stands in a document: for messages such as "run.json: points[3].seconds". */
struct json_place {
    const struct json_place *parent; /**< NULL at the top */
    const char *key;                 /**< of an object's member; the file's name at the top */
    size_t index;                    /**< of an array's element, where key is NULL */
};

/** out[key] = ... for the table's keys in its order; why_absent last. Like json_put_...(), leaves
 *  a key out if memory is short. */
void fields_to_json(json_t *out, const void *object, const struct field *fields);

/** Fills object, which the caller has zeroed. Lists that were allocated before an error stay
 *  with the object: the caller frees it in both cases. Errors: INVALID with place, what was
 *  found and what is accepted; SYSTEM if memory is short. */
CHECKED struct status fields_from_json(void *object, const json_t *json, const struct field *fields,
                                       const struct json_place *place);

/** Reads a measured object; null gives an absent reading with the reason that parent's
 *  why_absent holds for key. */
CHECKED struct status reading_from_json(struct reading *out, const json_t *value,
                                        const json_t *parent, const struct json_place *place);

/** Copies UTF-8 text into size bytes, cut between characters; control characters become '?'. */
void text_copy(char *out, size_t size, const char *text);

/** Copies a JSON string into size bytes. Longer names (size below 192) are an error, longer
 *  prose is cut between characters; control characters become '?'. */
CHECKED struct status text_from_json(char *out, size_t size, const json_t *value,
                                     const struct json_place *place);

/** to_json and from_json of a point's counters: {metric: a measured object with scope, source,
 *  events, running_fraction}. */
void counters_to_json(json_t *out, const char *key, const void *point);
CHECKED struct status counters_from_json(void *point, json_t *value,
                                         const struct json_place *place);

/** INVALID: "FILE: points[3].dtype: found X, accepted Y". value may be NULL: missing. */
CHECKED struct status json_place_error(const struct json_place *place, const json_t *value,
                                       const char *accepted);

#endif
