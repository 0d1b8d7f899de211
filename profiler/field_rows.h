#ifndef PROFILER_FIELD_ROWS_H
#define PROFILER_FIELD_ROWS_H

/** Rows of tables of struct field, one a key. For the files of such tables alone: T is the struct
 *  that the rows are of, defined before a table and undefined behind it. */

#include "profiler/fields.h"

#include <stddef.h>

#define AT(m) .offset = offsetof(struct T, m)
#define TEXT(key, m)                                                                        \
    {                                                                                       \
        (key), FIELD_TEXT, AT(m), .size = sizeof((struct T *)0)->m, .flags = FIELD_REQUIRED \
    }
#define TEXT_OR(key, m, flag, reason)                                                \
    {                                                                                \
        (key), FIELD_TEXT, AT(m), .size = sizeof((struct T *)0)->m, .why = (reason), \
                                  .flags = (flag)                                    \
    }
#define COUNT(key, m)                                         \
    {                                                         \
        (key), FIELD_UNSIGNED, AT(m), .flags = FIELD_REQUIRED \
    }
#define BYTES(key, m)                                    \
    {                                                    \
        (key), FIELD_U64, AT(m), .flags = FIELD_REQUIRED \
    }
#define BYTES_OR(key, m, flag, reason)                            \
    {                                                             \
        (key), FIELD_U64, AT(m), .why = (reason), .flags = (flag) \
    }
#define NUMBER(key, m, reason)                      \
    {                                               \
        (key), FIELD_NUMBER, AT(m), .why = (reason) \
    }
#define YES_NO(key, m)                                    \
    {                                                     \
        (key), FIELD_BOOL, AT(m), .flags = FIELD_REQUIRED \
    }
#define MEASURED(key, m)             \
    {                                \
        (key), FIELD_MEASURED, AT(m) \
    }
#define DERIVED(key, m, parts)                       \
    {                                                \
        (key), FIELD_DERIVED, AT(m), .from = (parts) \
    }
#define DERIVED_BY(key, m, of)                       \
    {                                                \
        (key), FIELD_DERIVED, AT(m), .from_of = (of) \
    }
#define MODELLED(key, m)             \
    {                                \
        (key), FIELD_MODELLED, AT(m) \
    }
#define GROUP(key, table)                      \
    {                                          \
        (key), FIELD_OBJECT, .fields = (table) \
    }
#define MANY(key, of, m, m_count, type, limit, table)                             \
    {                                                                             \
        (key), (of), AT(m), .count_offset = offsetof(struct T, m_count),          \
                            .element_bytes = sizeof(struct type), .max = (limit), \
                            .fields = (table)                                     \
    }
#define WORD(key, get, find, all)                                                \
    {                                                                            \
        (key), FIELD_WORD, .word = (get), .find_word = (find), .accepted = (all) \
    }
#define CUSTOM(key, write, read)                                     \
    {                                                                \
        (key), FIELD_CUSTOM, .to_json = (write), .from_json = (read) \
    }

#endif
