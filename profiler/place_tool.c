#include "profiler/place_tool.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX ((double)UINT32_MAX)

#define X(name) extern const struct place_tool place_tool_##name;
#include "place_tool_registry.inc"
#undef X

const struct place_tool *const *place_tools(void)
{
    static const struct place_tool *const tools[] = {
#define X(name) &place_tool_##name,
#include "place_tool_registry.inc"
#undef X
        NULL};
    return tools;
}

struct status place_tool_find(const struct place_tool **out, const char *name)
{
    char accepted[128] = "";
    for (const struct place_tool *const *tool = place_tools(); *tool != NULL; tool++) {
        if (strcmp((*tool)->name, name) == 0) {
            *out = *tool;
            return status_ok();
        }
        size_t used = strlen(accepted);
        (void)snprintf(accepted + used, sizeof accepted - used, " %s", (*tool)->name);
    }
    return status_error(STATUS_INVALID, "--from '%.40s': accepted%s", name, accepted);
}

enum dtype_id place_dtype_of(const char *description)
{
    char word[24];
    for (const char *at = description; *at != '\0';) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        if (length > 0 && length < sizeof word) {
            for (size_t i = 0; i < length; i++) {
                word[i] = (char)tolower((unsigned char)at[i]);
            }
            word[length] = '\0';
            enum dtype_id found = dtype_find(word);
            if (found < DTYPE_COUNT && dtype_get(found)->use == DTYPE_WEIGHTS) {
                return found;
            }
        }
        at += length;
    }
    return DTYPE_NONE;
}

struct status place_row_count(uint64_t *out, const struct place_row *row, const char *const *keys)
{
    double value = 0;
    TRY(place_row_number(&value, row, keys, 0));
    if (isnan(value)) {
        return status_ok();
    }
    if (value > COUNT_MAX || fabs(value - nearbyint(value)) > 0) {
        return status_error(STATUS_INVALID,
                            "row %zu: '%s': found %.15g, accepted a whole number up to %.0f",
                            row->number, keys[0], value, COUNT_MAX);
    }
    *out = (uint64_t)value;
    return status_ok();
}
