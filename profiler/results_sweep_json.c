#include "profiler/fields.h"
#include "profiler/results.h"

#define ROW(key_, kind_, m, flags_)                                                        \
    {                                                                                      \
        .key = (key_), .kind = (kind_), .flags = (flags_), .offset = offsetof(struct T, m) \
    }
#define WORDS(key_, m)                                                    \
    {                                                                     \
        .key = (key_), .kind = FIELD_TEXT, .flags = FIELD_REQUIRED,       \
        .offset = offsetof(struct T, m), .size = sizeof((struct T *)0)->m \
    }
#define RATE(key_, m)                                                          \
    {                                                                          \
        .key = (key_), .kind = FIELD_DERIVED, .offset = offsetof(struct T, m), \
        .from = FROM_SECONDS                                                   \
    }

#define T result_sweep_row
static const struct field row_fields[] = {ROW("threads", FIELD_UNSIGNED, threads, FIELD_REQUIRED),
                                          RATE("tokens_per_s", tokens_per_s),
                                          {.key = NULL}};
#undef T

#define T result_sweep
const struct field result_sweep_fields[] = {WORDS("phase", phase),
                                            ROW("batch", FIELD_UNSIGNED, batch, FIELD_REQUIRED),
                                            ROW("context", FIELD_U64, context, FIELD_REQUIRED),
                                            ROW("prompt", FIELD_U64, prompt, FIELD_EMPTY_OMIT),
                                            WORDS("dtype", dtype),
                                            WORDS("source", source),
                                            {.key = "rows",
                                             .kind = FIELD_ARRAY,
                                             .offset = offsetof(struct T, rows),
                                             .count_offset = offsetof(struct T, row_count),
                                             .element_bytes = sizeof(struct result_sweep_row),
                                             .max = RESULT_SWEEP_MAX,
                                             .fields = row_fields},
                                            RATE("knee_threads", knee_threads),
                                            {.key = NULL}};
#undef T
