#ifndef PROFILER_FIELDS_JSON_H
#define PROFILER_FIELDS_JSON_H

/** Structs as JSON and back, from one const table a struct, so that what is written and what is
 *  read cannot drift. Knows the contract's forms of numbers: measured, derived, modelled, and
 *  absent (null with "why_absent" in the same object). Knows no particular document. */

#include "roofline/reading.h"
#include "roofline/status.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

/** Where a value stands in a document: for messages such as "run.json: points[3].seconds". */
struct json_place {
    const struct json_place *parent; /**< NULL at the top */
    const char *key;                 /**< of an object's member; the file's name at the top */
    size_t index;                    /**< of an array's element, where key is NULL */
};

enum field_kind {
    FIELD_TEXT,     /**< char[size] */
    FIELD_UNSIGNED, /**< unsigned */
    FIELD_U64,      /**< uint64_t */
    FIELD_NUMBER,   /**< double; NaN is absent */
    FIELD_BOOL,     /**< bool */
    FIELD_MEASURED, /**< struct reading: value, ci95, n, best, samples, origin */
    FIELD_DERIVED,  /**< struct reading: value, ci95, from; samples are not kept */
    FIELD_MODELLED, /**< struct reading: a plain number of origin modelled */
    FIELD_OBJECT,   /**< members of the same struct grouped in an object: fields */
    FIELD_ARRAY,    /**< struct[max] inside, of element_bytes each; its count at count_offset */
    FIELD_LIST,     /**< the same behind an owned pointer; at most max when read */
    FIELD_CUSTOM    /**< to_json and from_json do it */
};

enum {
    FIELD_REQUIRED = 1,     /**< reading fails without the key */
    FIELD_EMPTY_ABSENT = 2, /**< "" or 0 means absent: null, with why as the reason */
    FIELD_EMPTY_OMIT = 4,   /**< "" or 0 or no element: the key is not written */
    FIELD_EMPTY_NULL = 8    /**< "" is null without a reason: there is nothing to say */
};

/** What a derived number comes from. The origin of its seconds is that of the reading. */
enum {
    FROM_FLOP = 1,          /**< analytic: modelled */
    FROM_BYTES = 2,         /**< analytic: modelled */
    FROM_BYTES_COUNTED = 4, /**< counted */
    FROM_SECONDS = 8
};

/** One key. A table ends with a NULL key. */
struct field {
    const char *key;
    enum field_kind kind;
    unsigned flags;
    unsigned from; /**< of FIELD_DERIVED */
    size_t offset;
    size_t size;         /**< of FIELD_TEXT: the array's, with its 0 */
    const char *why;     /**< of FIELD_EMPTY_ABSENT and of an absent FIELD_NUMBER */
    size_t count_offset; /**< of FIELD_ARRAY, FIELD_LIST: offset of a size_t */
    size_t element_bytes;
    size_t max;
    const struct field *fields; /**< of FIELD_OBJECT: same struct; FIELD_ARRAY, _LIST: elements */
    void (*to_json)(json_t *out, const char *key, const void *object);
    struct status (*from_json)(void *object, json_t *value, const struct json_place *place);
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

/** Copies a JSON string into size bytes. Longer names (size below 192) are an error, longer
 *  prose is cut between characters. */
CHECKED struct status text_from_json(char *out, size_t size, const json_t *value,
                                     const struct json_place *place);

/** INVALID: "FILE: points[3].dtype: found X, accepted Y". value may be NULL: missing. */
CHECKED struct status json_place_error(const struct json_place *place, const json_t *value,
                                       const char *accepted);

#endif
