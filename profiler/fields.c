#include "profiler/fields.h"

#include <math.h>
#include <stdint.h>

const void *field_of(const void *object, const struct field *field)
{
    return (const char *)object + field->offset;
}

bool field_is_empty(const void *object, const struct field *field)
{
    const void *value = field_of(object, field);
    switch (field->kind) {
    case FIELD_TEXT:
        return *(const char *)value == '\0';
    case FIELD_UNSIGNED:
        return *(const unsigned *)value == 0;
    case FIELD_U64:
        return *(const uint64_t *)value == 0;
    case FIELD_NUMBER:
        return !isfinite(*(const double *)value);
    case FIELD_MEASURED:
    case FIELD_DERIVED:
    case FIELD_MODELLED:
        return !reading_is_present(value) || !isfinite(((const struct reading *)value)->value);
    case FIELD_ARRAY:
    case FIELD_LIST:
        return *(const size_t *)(const void *)((const char *)object + field->count_offset) == 0;
    case FIELD_BOOL:
        return (field->flags & FIELD_EMPTY_OMIT) != 0 && !*(const bool *)value;
    case FIELD_OBJECT:
    case FIELD_WORD:
    case FIELD_CUSTOM:
        break;
    }
    return false;
}
