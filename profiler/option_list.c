#include "profiler/option_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct status not_a_count(const char *option, const char *text, uint64_t low, uint64_t high)
{
    return status_error(STATUS_INVALID, "%s '%.40s': accepted an integer %" PRIu64 "..%" PRIu64,
                        option, text, low, high);
}

struct status option_count(uint64_t *out, const char *option, const char *text, uint64_t low,
                           uint64_t high)
{
    uint64_t value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value)) {
            return not_a_count(option, text, low, high);
        }
    }
    if (text[0] == '\0' || value < low || value > high) {
        return not_a_count(option, text, low, high);
    }
    *out = value;
    return status_ok();
}

struct list_target {
    struct option_counts *out;
    const char *option;
    uint64_t low;
    uint64_t high;
};

static struct status add_count(void *context, const char *word)
{
    struct list_target *target = context;
    return option_count(&target->out->values[target->out->count++], target->option, word,
                        target->low, target->high);
}

struct status option_count_list(struct option_counts *out, const char *option, const char *text,
                                uint64_t low, uint64_t high)
{
    struct list_target target = {.out = out, .option = option, .low = low, .high = high};
    memset(out, 0, sizeof *out);
    return option_words(option, text, add_count, &target);
}

bool option_decimal(double *out, const char *text, char end)
{
    char *after = NULL;
    *out = strtod(text, &after);
    return after != text && *after == end && isfinite(*out) &&
           strspn(text, "0123456789+-.eE") >= (size_t)(after - text);
}

struct status option_positive(double *out, const char *option, const char *text)
{
    if (!option_decimal(out, text, '\0') || !(*out > 0)) {
        return status_error(STATUS_INVALID, "%s '%.40s': accepted a number above 0", option, text);
    }
    return status_ok();
}

struct status option_words(const char *option, const char *text,
                           struct status (*one)(void *context, const char *word), void *context)
{
    size_t count = 0;
    for (const char *at = text;; count++) {
        char word[32];
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof word || count == OPTION_LIST_MAX) {
            return status_error(STATUS_INVALID,
                                "%s '%.40s': accepted a list of 1..%d words with single commas "
                                "between them",
                                option, text, OPTION_LIST_MAX);
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        TRY(one(context, word));
        if (at[length] == '\0') {
            return status_ok();
        }
        at += length + 1;
    }
}

struct status option_dtype(enum dtype_id *out, const char *option, const char *text)
{
    *out = dtype_find(text);
    if (*out < DTYPE_COUNT && dtype_get(*out)->use == DTYPE_WEIGHTS) {
        return status_ok();
    }
    char accepted[256] = "";
    for (int id = 0; id < DTYPE_COUNT; id++) {
        size_t used = strlen(accepted);
        if (dtype_get((enum dtype_id)id)->use == DTYPE_WEIGHTS) {
            (void)snprintf(accepted + used, sizeof accepted - used, " %s",
                           dtype_name((enum dtype_id)id));
        }
    }
    return status_error(STATUS_INVALID, "%s '%.20s': accepted%s", option, text, accepted);
}
