#ifndef PROFILER_FIELDS_H
#define PROFILER_FIELDS_H

/** What the structs of results.h hold, as const tables: one row a key. The JSON writer, its reader
 *  and the CSV exporter loop over the same rows, so none of them can forget a figure. */

#include "roofline/reading.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t;     // jansson's
struct json_place; // fields_json.h

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
    FIELD_WORD,     /**< one of a set of words: word and find_word */
    FIELD_CUSTOM    /**< to_json and from_json do it */
};

enum {
    FIELD_REQUIRED = 1,     /**< reading fails without the key */
    FIELD_EMPTY_ABSENT = 2, /**< "" or 0 means absent: null, with why as the reason */
    FIELD_EMPTY_OMIT = 4,   /**< "", 0, false or no element: the key is not written */
    FIELD_EMPTY_NULL = 8    /**< "" is null without a reason: there is nothing to say */
};

/** What a derived number comes from. The origin of its seconds is that of the reading. */
enum {
    FROM_FLOP = 1,          /**< analytic: modelled */
    FROM_BYTES = 2,         /**< analytic: modelled */
    FROM_BYTES_COUNTED = 4, /**< counted */
    FROM_SECONDS = 8,
    FROM_FLOP_COUNTED = 16 /**< counted */
};

/** One key. A table ends with a NULL key. */
struct field {
    const char *key;
    enum field_kind kind;
    unsigned flags;
    unsigned from;                           /**< of FIELD_DERIVED */
    unsigned (*from_of)(const void *object); /**< of FIELD_DERIVED, where it differs; else NULL */
    size_t offset;
    size_t size;         /**< of FIELD_TEXT: the array's, with its 0 */
    const char *why;     /**< of FIELD_EMPTY_ABSENT and of an absent FIELD_NUMBER */
    size_t count_offset; /**< of FIELD_ARRAY, FIELD_LIST: offset of a size_t */
    size_t element_bytes;
    size_t max;
    const struct field *fields; /**< of FIELD_OBJECT: same struct; FIELD_ARRAY, _LIST: elements */
    const char *(*word)(const void *object);           /**< of FIELD_WORD: static text */
    bool (*find_word)(void *object, const char *word); /**< false: not a word of the set */
    const char *accepted;                              /**< the set, for messages */
    void (*to_json)(struct json_t *out, const char *key, const void *object);
    struct status (*from_json)(void *object, struct json_t *value, const struct json_place *place);
};

extern const struct field result_machine_fields[];
extern const struct field result_point_fields[];
extern const struct field result_evidence_fields[];
extern const struct field result_counter_fields[]; /**< beside its metric and value */
extern const struct field result_certificate_fields[];
extern const struct field result_step_fields[];
extern const struct field result_crossover_fields[];
extern const struct field result_sweep_fields[];
extern const struct field result_warning_fields[];
extern const struct field result_claim_fields[];

/** The object's member is "", 0, NaN, absent or without elements, by the row's kind. */
bool field_is_empty(const void *object, const struct field *field);

/** The member that the row names. */
const void *field_of(const void *object, const struct field *field);

#endif
